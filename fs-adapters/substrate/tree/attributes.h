#pragma once
// Inode attributes that all file systems share: type and permissions, links, size, times, owner.
//
// Modes follow POSIX st_mode: the type in the upper four bits, then twelve permission bits.

#include <cstdint>

namespace headcrash::tree {

using InodeNumber = std::uint32_t;  ///< 0 means no inode

inline constexpr std::uint32_t kLinksMax = 32767;  // LINK_MAX of 4.4BSD

inline constexpr std::uint16_t kTypeMask = 0170000;
inline constexpr std::uint16_t kTypeDirectory = 0040000;
inline constexpr std::uint16_t kTypeRegular = 0100000;
inline constexpr std::uint16_t kTypeSymlink = 0120000;
inline constexpr std::uint16_t kTypeFifo = 0010000;
inline constexpr std::uint16_t kTypeCharacter = 0020000;
inline constexpr std::uint16_t kTypeBlock = 0060000;
inline constexpr std::uint16_t kTypeSocket = 0140000;
inline constexpr std::uint32_t kPermissionMask = 07777;
/// Converts a mode to a directory entry's type: DT_DIR, DT_REG, ... (IFTODT).
constexpr std::uint8_t entry_type(std::uint16_t mode) {
  return static_cast<std::uint8_t>(mode >> 12U);
}

/// Time since the epoch.
struct Timestamp {
  std::int32_t seconds = 0;
  std::int32_t nanoseconds = 0;
  bool operator==(const Timestamp&) const = default;
};

/// The part of an inode that the tree reads and changes. Each file system derives its in-core inode
/// from it.
struct Attributes {
  std::uint16_t mode = 0;  ///< 0 if the inode is not allocated
  /// The number of links. A directory has one link for its name, one for its ".", and one for each
  /// subdirectory's "..".
  std::uint16_t links = 0;
  std::uint64_t size_bytes = 0;
  Timestamp accessed, modified, changed;
  std::uint32_t generation = 0;  ///< changes each time the inode number is reused
  std::uint32_t user = 0, group = 0;
  bool operator==(const Attributes&) const = default;

  /// Returns false if no file system can have written this size. A file is not longer than its
  /// pointers can address. A directory has no holes, so it is not larger than the device.
  bool has_possible_size(std::uint64_t file_bytes_max, std::uint64_t device_bytes) const {
    return size_bytes <= file_bytes_max && (!is_directory() || size_bytes <= device_bytes);
  }
  bool allocated() const { return mode != 0; }
  bool is_directory() const { return (mode & kTypeMask) == kTypeDirectory; }
  bool is_regular() const { return (mode & kTypeMask) == kTypeRegular; }
  bool is_symlink() const { return (mode & kTypeMask) == kTypeSymlink; }
  /// Returns true for directories and symbolic links, whose content counts as metadata and must be
  /// on the disk before a name refers to the inode.
  bool holds_metadata() const { return is_directory() || is_symlink(); }
};

}  // namespace headcrash::tree
