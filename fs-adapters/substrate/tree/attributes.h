#pragma once
// What every inode has, whichever file system keeps it: type and permissions, links, size, times,
// owner.
//
// Modes are POSIX's st_mode: the type in its upper four bits, twelve bits of permissions.

#include <cstdint>

namespace headcrash::tree {

using InodeNumber = std::uint32_t;  ///< 0: none

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
/// DT_DIR, DT_REG, ... of a directory entry (IFTODT).
constexpr std::uint8_t entry_type(std::uint16_t mode) {
  return static_cast<std::uint8_t>(mode >> 12U);
}

/// Since the epoch.
struct Timestamp {
  std::int32_t seconds = 0;
  std::int32_t nanoseconds = 0;
  bool operator==(const Timestamp&) const = default;
};

/// The part of an inode that the tree reads and changes. A file system's own inode derives from it.
struct Attributes {
  std::uint16_t mode = 0;   ///< 0: the inode is not allocated
  std::uint16_t links = 0;  ///< of a directory: its name, its "." and each subdirectory
  std::uint64_t size_bytes = 0;
  Timestamp accessed, modified, changed;
  std::uint32_t generation = 0;  ///< another one each time its number is used again
  std::uint32_t user = 0, group = 0;
  bool operator==(const Attributes&) const = default;

  /// False for a size that no file system leaves on a disk: a file longer than pointers reach, or a
  /// directory, which has no holes, longer than the device.
  bool has_possible_size(std::uint64_t file_bytes_max, std::uint64_t device_bytes) const {
    return size_bytes <= file_bytes_max && (!is_directory() || size_bytes <= device_bytes);
  }
  bool allocated() const { return mode != 0; }
  bool is_directory() const { return (mode & kTypeMask) == kTypeDirectory; }
  bool is_regular() const { return (mode & kTypeMask) == kTypeRegular; }
  bool is_symlink() const { return (mode & kTypeMask) == kTypeSymlink; }
  /// What its blocks hold is in order on the disk before a name leads there.
  bool holds_metadata() const { return is_directory() || is_symlink(); }
};

}  // namespace headcrash::tree
