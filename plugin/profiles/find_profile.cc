// From a name or a path to the text of a profile.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "headcrash_profiles_embedded.h"
#include "plugin/base/named_file.h"
#include "plugin/base/nearest.h"
#include "plugin/base/text_file.h"
#include "plugin/profiles/profile_reader.h"

namespace headcrash::profiles {

namespace fs = std::filesystem;

std::vector<std::string> built_in_profiles() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files())
    names.emplace_back(file.name.substr(0, file.name.rfind('.')));
  return names;
}

Result<FoundProfile> find_profile(std::string_view name_or_path, const fs::path& folder) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name.substr(0, file.name.rfind('.')) == name_or_path) {
      return FoundProfile{std::string(file.name), std::string(name_or_path), {}, std::string(file.text)};
    }
  }
  if (!base::is_path(name_or_path)) {
    return fail(fmt::format("profile '{}'", name_or_path), "there is no such built-in profile",
                fmt::format("{}; or give the path of a .toml file",
                            base::suggest(name_or_path, built_in_profiles())));
  }
  const fs::path path = folder / fs::path(name_or_path);
  Result<std::string> text = base::read_text_file(path.string());
  if (!text) return pass_on(text);
  std::error_code unknown;
  const fs::path whole = fs::weakly_canonical(path, unknown);
  return FoundProfile{path.string(), (unknown ? path : whole).string(), path.parent_path(), *std::move(text)};
}

}  // namespace headcrash::profiles
