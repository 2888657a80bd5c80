#pragma once
// The bmap cache: where the last blocks of a file are, beside its inode instead of in the indirect
// block (Peacock, Kamaraju and Agrawal 1998, section 3.3). A block that is appended changes the
// inode anyway; with its address in the same sector an append writes one block of metadata, not
// two.
//
//   file's blocks   ... 40 41 42 | 43 44 45 | ...        the indirect block says what 43 to 45 are when they were
//                                  cache               merged; until then the cache does
//
// What the cache covers it decides alone, holes included: what the indirect block says of it is
// older, or the same. Hence a cut may come anywhere between a merge (merge_bmap_cache(),
// file_blocks.h) and the write of an inode that has another cache. Only regular files have one, and
// only one indirect block's pointers are in it. That block may never have been written (`alone`):
// then the cache is all that it would hold. That is so for the inode's own single indirect block
// only: of one that another indirect block leads to, an older inode might be longer.
//
// In the inode's extension (inode_extension.h), from byte 64 on:
//
//   0 first block   4 how many   5 bit 0: alone   8 addresses, 0: a hole

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/ufs/format/geometry.h"

namespace headcrash::ufs {

class BmapCache {
 public:
  static constexpr std::uint32_t kAddressesMax = 14;

  /// Nothing is cached.
  BmapCache() = default;
  /// The first address is yet to be set.
  BmapCache(std::uint64_t first_block, bool alone)
      : first_(static_cast<std::uint32_t>(first_block)), alone_(alone) {}
  bool operator==(const BmapCache&) const = default;

  bool empty() const { return count_ == 0; }
  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return std::uint64_t{first_} + count_; }
  bool alone() const { return alone_; }
  bool covers(std::uint64_t block) const { return block >= first_ && block < end(); }
  /// Of a block that it covers, or that it has room for.
  FragmentAddress at(std::uint64_t block) const { return addresses_.at(block - first_); }
  void set(std::uint64_t block, FragmentAddress at);
  void merged() { alone_ = false; }
  bool has_room_for(const Geometry& geometry, std::uint64_t block) const;
  /// Its pointers would be in the lowest indirect block whose first pointer is that of `block`.
  bool is_of(const Geometry& geometry, std::uint64_t block) const;
  /// Puts its addresses where they belong in that indirect block's bytes; zeroes around them where
  /// it is alone.
  void lay_over(const Geometry& geometry, std::span<std::byte> indirect) const;
  /// False: no mounted file system has left it so. It is followed only after this question.
  bool is_sound(const Geometry& geometry) const;

  /// kBytes each.
  static constexpr std::size_t kBytes = 64;
  static BmapCache decode(std::span<const std::byte> bytes);
  void encode(std::span<std::byte> bytes) const;

 private:
  std::uint32_t first_ = 0;
  std::uint8_t count_ = 0;
  bool alone_ = false;
  std::array<FragmentAddress, kAddressesMax> addresses_ = {};
};

}  // namespace headcrash::ufs
