#pragma once
// A block of a directory: names in chunks of 512 bytes, over the bytes that a buffer cache holds.
//
//   | inode | length | type | name length | name, zeroes to a multiple of 4 | slack | next entry ...
//     4       2        1      1
//
// The lengths of a chunk's entries add up to 512: what is not needed belongs to the entry before it
// as slack. No entry crosses a chunk, so that the one sector that a change touches is written whole
// or not at all (BSD's DIRBLKSIZ: the atomic unit). An entry is removed by giving its room to the
// one before it in the chunk, or, if it is the first, by inode number 0.
//
// All offsets are in bytes from the block's start. A chunk whose bytes are invalid is read up to
// there and never written into; nothing here believes a length before it has looked.
//
// Numbers are little-endian. It is UFS1's form of a directory, which all file systems of ours have,
// so that none of them has other names to look through.
//
// Source: McKusick, Bostic, Karels and Quarterman, "The Design and Implementation of the 4.4BSD
// Operating System", 1996, section 8.3 and ufs_lookup's rules in its words.

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
inline constexpr std::uint32_t kEntryFixedBytes = 8;  // before the name
inline constexpr std::uint32_t kNameBytesMax = 255;   // MAXNAMLEN
inline constexpr std::size_t kEntryInodeOffset = 0;   ///< of d_ino in an entry's bytes, for undoing
inline constexpr std::size_t kEntryTypeOffset = 6;    ///< of d_type

/// What an entry with such a name needs (DIRSIZ): the name, a zero, up to a multiple of 4.
constexpr std::uint32_t entry_bytes(std::size_t name_bytes) {
  return (kEntryFixedBytes + static_cast<std::uint32_t>(name_bytes) + 1 + 3) / 4 * 4;
}

/// A view of an entry; the name lies in the block.
struct Entry {
  std::uint32_t offset = 0;
  InodeNumber inode = 0;     ///< 0: free room
  std::uint32_t length = 0;  // d_reclen
  std::uint8_t type = 0;     // d_type
  std::string_view name;
  std::uint32_t chunk() const { return offset / kChunkBytes; }
  std::uint32_t needed() const { return inode == 0 ? 0 : entry_bytes(name.size()); }
  bool is_dot() const { return name == "."; }
  bool is_dot_dot() const { return name == ".."; }
};

/// The entry at `offset`, if what is there is one: its length and its name stay in the chunk. With
/// inode 0 its name means nothing and is empty.
std::optional<Entry> entry_at(std::span<const std::byte> block, std::uint32_t offset);

/// Goes over the entries, free room included. A chunk that is invalid ends at its damage.
class DirectoryCursor {
 public:
  explicit DirectoryCursor(std::span<const std::byte> block, std::uint32_t from = 0)
      : block_(block), at_(from) {}
  std::optional<Entry> next();
  /// The offset of the first damage passed, if any.
  std::optional<std::uint32_t> damage() const { return damage_; }

 private:
  std::span<const std::byte> block_;
  std::uint32_t at_;
  std::optional<std::uint32_t> damage_;
};

std::optional<Entry> find_entry(std::span<const std::byte> block, std::string_view name);

/// What one pass over a block sees of a name: its entry, or a chunk with room for it.
struct NameSearch {
  std::uint32_t entries = 0;  ///< looked at, free room included
  InodeNumber inode = 0;      ///< of its entry; 0: it is not there
  std::uint32_t offset = 0;   ///< of its entry
  bool room = false;          ///< as chunk_with_room(), in what was looked at
};
/// The same answers as a cursor's and chunk_with_room()'s: large directories are searched here,
/// linearly.
NameSearch search_block(std::span<const std::byte> block, std::string_view name);
/// The entry before the one at `offset` in its chunk: what remove_entry() would give its room to.
std::optional<Entry> previous_entry(std::span<const std::byte> block, std::uint32_t offset);

struct AddedEntry {
  std::uint32_t offset = 0;
  std::vector<MovedEntry> moved;  ///< in order of their places; mostly empty
  std::uint32_t chunk() const { return offset / kChunkBytes; }
};

/// The first chunk with that much room in all, contiguous or not; its number.
std::optional<std::uint32_t> chunk_with_room(std::span<const std::byte> block,
                                             std::size_t name_bytes);
/// Adds an entry to that chunk: into an entry's slack or free room, or, when only all of it
/// together is enough, behind entries that are moved to the front. Nothing: no room there. The name
/// is not one in the block and has 1 to kNameBytesMax bytes.
std::optional<AddedEntry> add_entry(std::span<std::byte> block, std::uint32_t chunk,
                                    std::string_view name, InodeNumber inode, std::uint8_t type);
/// The same in the first chunk that has room.
std::optional<AddedEntry> add_entry(std::span<std::byte> block, std::string_view name,
                                    InodeNumber inode, std::uint8_t type);

/// Removes the entry at `offset`, which is one. The bytes of its name stay, as BSD leaves them.
void remove_entry(std::span<std::byte> block, std::uint32_t offset);
/// Lets the entry at `offset` name another inode.
void set_entry_inode(std::span<std::byte> block, std::uint32_t offset, InodeNumber inode);
void set_entry(std::span<std::byte> block, std::uint32_t offset, InodeNumber inode,
               std::uint8_t type);

/// No entries but "." and "..", and no damage.
bool is_empty_directory_block(std::span<const std::byte> block);
/// Chunks without entries: each one free room of 512 bytes.
void format_chunks(std::span<std::byte> block);
/// A new directory's first chunk: "." and "..".
void format_directory(std::span<std::byte> chunk, InodeNumber self, InodeNumber parent);

struct DirectoryDamage {
  std::uint32_t offset = 0;
  std::string text;
};
/// The first thing in a chunk that no file system would have written: lengths, names with '/' or
/// zeroes.
std::optional<DirectoryDamage> damage_of_chunk(std::span<const std::byte> block,
                                               std::uint32_t chunk);

}  // namespace headcrash::tree
