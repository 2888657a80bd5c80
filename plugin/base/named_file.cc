#include "plugin/base/named_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/base/nearest.h"
#include "plugin/base/text_file.h"

namespace headcrash::base {

bool is_path(std::string_view name_or_path) {
  return name_or_path.ends_with(".toml") || name_or_path.find('/') != std::string_view::npos;
}

std::pair<std::string, std::string> split_variant(std::string_view name_or_path) {
  const std::size_t plus = name_or_path.rfind('+');
  const bool is_variant = plus != std::string_view::npos &&
                          name_or_path.find_first_of("./", plus) == std::string_view::npos;
  if (!is_variant) return {std::string(name_or_path), ""};
  return {std::string(name_or_path.substr(0, plus)), std::string(name_or_path.substr(plus + 1))};
}

std::string named_in(const std::filesystem::path& folder, const std::string& name_or_path) {
  return is_path(name_or_path) ? (folder / name_or_path).string() : name_or_path;
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

std::vector<std::string> names_of(std::span<const BuiltInFile> built_in) {
  std::vector<std::string> names;
  for (const BuiltInFile& file : built_in)
    names.emplace_back(file.name.substr(0, file.name.rfind('.')));
  std::sort(names.begin(), names.end());
  return names;
}

Result<NamedFile> find_named_file(std::string_view kind, const std::string& name_or_path,
                                  std::span<const BuiltInFile> built_in) {
  for (const BuiltInFile& file : built_in) {
    if (file.name == name_or_path + ".toml")
      return NamedFile{name_or_path, std::string(file.name), {}, std::string(file.text)};
  }
  if (!is_path(name_or_path)) {
    return fail(fmt::format("{} \"{}\"", kind, name_or_path), "unknown",
                suggest(name_or_path, names_of(built_in)) + "; or give the path of a .toml file");
  }
  TRY(auto text, read_text_file(name_or_path));
  const std::filesystem::path path = name_or_path;
  return NamedFile{path.stem(), name_or_path, path.parent_path(), std::move(text)};
}

}  // namespace headcrash::base
