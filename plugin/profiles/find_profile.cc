// Finds the text of a profile by name or path.
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
  const auto [name, variant] = base::split_variant(name_or_path);
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name.substr(0, file.name.rfind('.')) == name) {
      return FoundProfile{std::string(file.name), name, {}, std::string(file.text), variant};
    }
  }
  if (!base::is_path(name)) {
    return fail(fmt::format("profile '{}'", name_or_path), "no such built-in profile",
                fmt::format("{}; or give the path of a .toml file",
                            base::suggest(name, built_in_profiles())));
  }
  const fs::path path = folder / fs::path(name);
  TRY(std::string text, base::read_text_file(path.string()));
  std::error_code unknown;
  const fs::path whole = fs::weakly_canonical(path, unknown);
  return FoundProfile{path.string(), (unknown ? path : whole).string(), path.parent_path(),
                      std::move(text), variant};
}

}  // namespace headcrash::profiles
