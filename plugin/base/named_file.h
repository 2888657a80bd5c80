#pragma once
// Configuration by name or by path: a name is built in, anything with a '/' or ending in .toml is a
// user's file.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::base {

/// As headcrash_embed (cmake) has it in the namespace of each folder.
struct BuiltInFile {
  std::string_view name;  ///< with its ending
  std::string_view text;
};

struct NamedFile {
  std::string name;              ///< without folder and ending
  std::string file;              ///< for messages
  std::filesystem::path folder;  ///< of a user's file; empty for what is built in
  std::string text;
};

/// `kind` stands in the message: "campaign". Errors: an unknown name (with a suggestion), an
/// unreadable file.
Result<NamedFile> find_named_file(std::string_view kind, const std::string& name_or_path,
                                  std::span<const BuiltInFile> built_in);

/// It has a '/' or ends in .toml; else it is a name.
bool is_path(std::string_view name_or_path);

/// "NAME+VARIANT" in two; the second is empty where there is none. A '+' in a folder or before an
/// ending is part of a path.
std::pair<std::string, std::string> split_variant(std::string_view name_or_path);

/// What a file in `folder` means by a name or path: a path is beside it.
std::string named_in(const std::filesystem::path& folder, const std::string& name_or_path);

/// The folder that a file is in: "." for a name alone, whose parent_path() is empty.
std::filesystem::path folder_of(const std::filesystem::path& file);

/// Without their endings, sorted.
std::vector<std::string> names_of(std::span<const BuiltInFile> built_in);

/// `embedded_files()` of any folder.
template <typename EmbeddedFile>
std::vector<BuiltInFile> built_in(std::span<const EmbeddedFile> embedded) {
  std::vector<BuiltInFile> files;
  for (const EmbeddedFile& file : embedded) files.push_back({file.name, file.text});
  return files;
}

}  // namespace headcrash::base
