#pragma once
// The common parts of image readers: path lookup and tree walk, which the functions of
// system_under_test.h that use a reader share; the entries of a directory
// (substrate/tree/directory_block.h); and conversions to the types of system_under_test.h. The
// image is untrusted. All damage is reported as an Error, including a directory that a walk reaches
// twice.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fs-adapters/substrate/tree/attributes.h"
#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/system_under_test.h"
#include "plugin/base/result.h"

namespace headcrash::adapters {

/// Limit on the number of names that one walk visits.
inline constexpr std::size_t kImageNamesMax = 1U << 24U;

/// Returns the inode of a path with components separated by '/'; "" is the root. Symbolic links are
/// not followed. `list(inode)` reads a directory and returns a Result that contains a range of
/// names as {name, inode}.
template <typename List>
Result<std::uint64_t> look_up_in_image(std::uint64_t root, std::string_view path,
                                       const List& list) {
  std::uint64_t at = root;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view component = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (component.empty()) continue;
    TRY(const auto names, list(at));
    const auto match =
        std::ranges::find_if(names, [&](const auto& entry) { return entry.name == component; });
    if (match == names.end())
      return fail(std::string(component), "no such name", "use ls to list names");
    at = match->inode;
  }
  return at;
}

/// Visits everything below the root, each directory before its contents. An inode with several
/// names is visited once per name. `list` is the same as in look_up_in_image(), except that it
/// omits "." and "..". `visit(path, entry)` reads an entry's inode and returns a Result that is
/// true for a directory. `damaged(inode, problem)` creates the Error that is returned for damage.
template <typename List, typename Visit, typename Damaged>
Result<void> walk_image(std::uint64_t root, const List& list, const Visit& visit,
                        const Damaged& damaged) {
  struct Open {
    std::string path;
    std::uint64_t inode = 0;
  };
  std::unordered_set<std::uint64_t> directories{root};
  std::vector<Open> open{{.path = "", .inode = root}};
  std::size_t seen = 0;
  while (!open.empty()) {
    const Open directory = std::move(open.back());
    open.pop_back();
    TRY(const auto names, list(directory.inode));
    for (const auto& entry : names) {
      if (++seen > kImageNamesMax) return damaged(directory.inode, "the tree has too many names");
      std::string path = directory.path.empty() ? entry.name : directory.path + '/' + entry.name;
      TRY(const auto is_directory, visit(path, entry));
      if (!is_directory) continue;
      if (!directories.insert(entry.inode).second)
        return damaged(entry.inode, fmt::format("is a directory with a second name, '{}'", path));
      open.push_back({.path = std::move(path), .inode = entry.inode});
    }
  }
  return {};
}

struct NamedInode {
  std::string name;
  tree::InodeNumber inode = 0;
  /// Type of the named inode. The values are those of d_type in a directory entry.
  std::uint8_t type = 0;
};

/// Returns all entries of a directory in order, including "." and "..". `reader.read(inode, offset,
/// bytes)` reads the directory. `damaged` is the same as in walk_image().
template <typename Reader, typename Inode, typename Damaged>
Result<std::vector<NamedInode>> read_directory(const Reader& reader, const Inode& directory,
                                               std::uint64_t device_bytes,
                                               std::uint32_t block_bytes, const Damaged& damaged) {
  if (!directory.is_directory()) return damaged(directory.number, "is not a directory");
  if (directory.size_bytes > device_bytes || directory.size_bytes % tree::kChunkBytes != 0)
    return damaged(directory.number, "has an invalid directory size");
  std::vector<NamedInode> names;
  std::vector<std::byte> block(block_bytes);
  for (std::uint64_t at = 0; at < directory.size_bytes; at += block.size()) {
    TRY(const auto got, reader.read(directory, at, block));
    const std::span<const std::byte> bytes = std::span(block).first(got);
    for (std::uint32_t chunk = 0; chunk < bytes.size() / tree::kChunkBytes; ++chunk)
      if (const auto damage = tree::damage_of_chunk(bytes, chunk))
        return damaged(directory.number, fmt::format("block at {}: {}", at, damage->text));
    tree::DirectoryCursor cursor(bytes);
    while (const auto entry = cursor.next())
      if (entry->inode != 0) names.push_back({std::string(entry->name), entry->inode, entry->type});
    if (names.size() > kImageNamesMax) return damaged(directory.number, "has too many names");
  }
  return names;
}

/// Returns the target of a symbolic link that is stored like the content of a file. The arguments
/// are the same as those of read_directory().
template <typename Reader, typename Inode, typename Damaged>
Result<std::string> read_target(const Reader& reader, const Inode& inode, const Damaged& damaged) {
  constexpr std::uint64_t kTargetBytesMax = 4095;
  if (!inode.is_symlink() || inode.size_bytes > kTargetBytesMax)
    return damaged(inode.number, "is not a symbolic link");
  std::string target(inode.size_bytes, '\0');
  TRY(reader.read(inode, 0, std::as_writable_bytes(std::span(target.data(), target.size()))));
  return target;
}

/// Converts entries to the result of ImageReader::list(), without "." and "..".
inline std::vector<ImageName> image_names(std::vector<NamedInode> entries) {
  std::vector<ImageName> names;
  names.reserve(entries.size());
  for (NamedInode& entry : entries)
    if (entry.name != "." && entry.name != "..")
      names.push_back({std::move(entry.name), entry.inode});
  return names;
}

inline ImageInode image_inode(std::uint64_t number, const tree::Attributes& inode,
                              std::uint64_t allocated_bytes) {
  return {.number = number,
          .allocated = inode.allocated(),
          .type = inode.is_directory() ? FileType::directory
                  : inode.is_regular() ? FileType::regular
                  : inode.is_symlink() ? FileType::symlink
                                       : FileType::other,
          .mode = inode.mode & 0777U,
          .links = inode.links,
          .user = inode.user,
          .group = inode.group,
          .size_bytes = inode.size_bytes,
          .allocated_bytes = allocated_bytes,
          .modified_seconds = inode.modified.seconds};
}

/// Converts an inode number to 32 bits. A number that is too large becomes the maximum, which is
/// not a valid inode number.
inline tree::InodeNumber inode_number(std::uint64_t number) {
  return static_cast<tree::InodeNumber>(
      std::min<std::uint64_t>(number, std::numeric_limits<tree::InodeNumber>::max()));
}

/// Returns a digest of a format's parameters, for ImageReader::layout().
inline std::uint64_t layout_digest(std::uint64_t first,
                                   std::initializer_list<std::uint32_t> others) {
  std::uint64_t digest = first;
  for (const std::uint32_t each : others) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
    digest = (digest ^ each) * kOdd;
    digest ^= digest >> 31U;
  }
  return digest;
}

}  // namespace headcrash::adapters
