#pragma once
// Configuration files, given by name or by path. A name refers to a built-in file. An argument that
// contains '/' or ends in .toml is the path of a user's own file.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::base {

/// A built-in file, as embedded by headcrash_embed (cmake).
struct BuiltInFile {
  std::string_view name;  ///< including the extension
  std::string_view text;
};

struct NamedFile {
  std::string name;              ///< without the directory and the extension
  std::string file;              ///< for messages
  std::filesystem::path folder;  ///< directory of a user's file; empty if built in
  std::string text;
};

/// Reads a built-in file or a user's file. `kind` ("campaign") is used in messages. Fails if the
/// name is unknown (the hint then suggests a name) or if the file cannot be read.
Result<NamedFile> find_named_file(std::string_view kind, const std::string& name_or_path,
                                  std::span<const BuiltInFile> built_in);

/// Returns true if the argument is a path, that is, if it contains a '/' or ends in .toml. Any
/// other argument is a name.
bool is_path(std::string_view name_or_path);

/// Splits "NAME+VARIANT"; the variant may be empty. A '+' belongs to the path if it is in a
/// directory's name or if an extension follows it.
std::pair<std::string, std::string> split_variant(std::string_view name_or_path);

/// Resolves a name or path that occurs in a file in `folder`. Relative paths are relative to
/// `folder`.
std::string named_in(const std::filesystem::path& folder, const std::string& name_or_path);

/// Returns the directory of a file; "." for a bare name, whose parent_path() is empty.
std::filesystem::path folder_of(const std::filesystem::path& file);

/// Returns the names without their extensions, sorted.
std::vector<std::string> names_of(std::span<const BuiltInFile> built_in);

/// Converts the result of a directory's `embedded_files()` to BuiltInFiles.
template <typename EmbeddedFile>
std::vector<BuiltInFile> built_in(std::span<const EmbeddedFile> embedded) {
  std::vector<BuiltInFile> files;
  for (const EmbeddedFile& file : embedded) files.push_back({file.name, file.text});
  return files;
}

}  // namespace headcrash::base
