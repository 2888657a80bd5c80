#pragma once
// A directory block: names in chunks of 512 bytes, over the bytes of a cache buffer.
//
//   | inode | length | type | name length | name, zeroes to a multiple of 4 | slack | ...
//     4       2        1      1
//
// The lengths of the entries of a chunk sum to 512: unused bytes belong to the preceding entry as
// slack. No entry crosses a chunk boundary, so a change touches one sector, which is written
// completely or not at all (BSD's DIRBLKSIZ: the atomic unit). Removing an entry gives its bytes to
// the preceding entry of the chunk. The first entry of a chunk is removed by setting its inode
// number to 0.
//
// All offsets are in bytes from the start of the block. A chunk with invalid bytes is read up to
// the damage and never modified. All lengths are checked before use.
//
// Numbers are little-endian. This is the directory format of UFS1. All our file systems use it, so
// that lookups cost the same in all of them.
//
// Source: McKusick, Bostic, Karels and Quarterman, "The Design and Implementation of the 4.4BSD
// Operating System", 1996, section 8.3, including the rules of ufs_lookup.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/substrate/tree/attributes.h"
#include "fs-adapters/substrate/tree/link_changes.h"

namespace headcrash::tree {

inline constexpr std::uint32_t kChunkBytes = 512;     // DIRBLKSIZ
inline constexpr std::uint32_t kEntryFixedBytes = 8;  // size of the fields before the name
inline constexpr std::uint32_t kNameBytesMax = 255;   // MAXNAMLEN
/// Offset of d_ino in an entry.
inline constexpr std::size_t kEntryInodeOffset = 0;
inline constexpr std::size_t kEntryTypeOffset = 6;  ///< offset of d_type in an entry

/// Returns the size of an entry with this name (DIRSIZ): the fixed part, the name and a zero,
/// rounded up to a multiple of 4.
constexpr std::uint32_t entry_bytes(std::size_t name_bytes) {
  return (kEntryFixedBytes + static_cast<std::uint32_t>(name_bytes) + 1 + 3) / 4 * 4;
}

/// A view of an entry. The name points into the block.
struct Entry {
  std::uint32_t offset = 0;
  InodeNumber inode = 0;     ///< 0 if the entry is free space
  std::uint32_t length = 0;  // d_reclen
  std::uint8_t type = 0;     // d_type
  std::string_view name;
  std::uint32_t chunk() const { return offset / kChunkBytes; }
  std::uint32_t needed() const { return inode == 0 ? 0 : entry_bytes(name.size()); }
  bool is_dot() const { return name == "."; }
  bool is_dot_dot() const { return name == ".."; }
};

/// Returns the entry at `offset`, or nullopt if it is malformed or extends past the end of its
/// chunk. If the inode is 0, the name is empty.
std::optional<Entry> entry_at(std::span<const std::byte> block, std::uint32_t offset);

/// Iterates over the entries, including free ones. In a chunk that is damaged, stops at the damage
/// and continues with the next chunk.
class DirectoryCursor {
 public:
  explicit DirectoryCursor(std::span<const std::byte> block, std::uint32_t from = 0)
      : block_(block), at_(from) {}
  std::optional<Entry> next();
  /// Returns the offset of the damage at which the iteration stopped first; nullopt if no damage
  /// has been found.
  std::optional<std::uint32_t> damage() const { return damage_; }

 private:
  std::span<const std::byte> block_;
  std::uint32_t at_;
  std::optional<std::uint32_t> damage_;
};

std::optional<Entry> find_entry(std::span<const std::byte> block, std::string_view name);

/// Result of searching one block for a name: the name's entry, and whether a chunk has room for the
/// name.
struct NameSearch {
  std::uint32_t entries = 0;  ///< number of entries visited, including free ones
  InodeNumber inode = 0;      ///< inode of the entry; 0 if the name was not found
  std::uint32_t offset = 0;   ///< offset of the entry
  /// True if a chunk that was searched completely has enough space for the name. See
  /// chunk_with_room().
  bool room = false;
};
/// Searches a block linearly. Returns the same result as a DirectoryCursor and chunk_with_room(),
/// but is faster, which matters for large directories.
NameSearch search_block(std::span<const std::byte> block, std::string_view name);
/// Returns the entry before the one at `offset`, in the same chunk: the entry that remove_entry()
/// would extend.
std::optional<Entry> previous_entry(std::span<const std::byte> block, std::uint32_t offset);

struct AddedEntry {
  std::uint32_t offset = 0;
  /// Other entries that were moved to make room, in order of position; usually none.
  std::vector<MovedEntry> moved;
  std::uint32_t chunk() const { return offset / kChunkBytes; }
};

/// Returns the number of the first chunk with enough free space for a name of `name_bytes`. The
/// free space need not be contiguous.
std::optional<std::uint32_t> chunk_with_room(std::span<const std::byte> block,
                                             std::size_t name_bytes);
/// Adds an entry to a chunk, in the slack of another entry or in place of a free one. If no single
/// gap is large enough but the chunk's total free space is, first moves all entries to the front of
/// the chunk. Returns nullopt if there is too little free space. The name must not be in the block
/// yet, and must have 1 to kNameBytesMax bytes.
std::optional<AddedEntry> add_entry(std::span<std::byte> block, std::uint32_t chunk,
                                    std::string_view name, InodeNumber inode, std::uint8_t type);
/// Adds the entry to the first chunk that has room for the name.
std::optional<AddedEntry> add_entry(std::span<std::byte> block, std::string_view name,
                                    InodeNumber inode, std::uint8_t type);

/// Removes the entry that begins at `offset`. The bytes of its name stay in the block, as in BSD.
void remove_entry(std::span<std::byte> block, std::uint32_t offset);
/// Makes the entry at `offset` refer to another inode.
void set_entry_inode(std::span<std::byte> block, std::uint32_t offset, InodeNumber inode);
void set_entry(std::span<std::byte> block, std::uint32_t offset, InodeNumber inode,
               std::uint8_t type);

/// Returns true if the block has no entries other than "." and "..", and no damage.
bool is_empty_directory_block(std::span<const std::byte> block);
/// Fills the block with empty chunks. Each chunk is one free range of 512 bytes.
void format_chunks(std::span<std::byte> block);
/// Writes a new directory's first chunk, with "." and "..".
void format_directory(std::span<std::byte> chunk, InodeNumber self, InodeNumber parent);

struct DirectoryDamage {
  std::uint32_t offset = 0;
  std::string text;
};
/// Returns the first damage in a chunk: an invalid length, or a name that contains '/' or a zero
/// byte.
std::optional<DirectoryDamage> damage_of_chunk(std::span<const std::byte> block,
                                               std::uint32_t chunk);

}  // namespace headcrash::tree
