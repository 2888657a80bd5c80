#pragma once
// The bmap cache: addresses of a file's last blocks, stored next to the file's inode instead of in
// the indirect block (Peacock, Kamaraju and Agrawal 1998, section 3.3). An append changes the inode
// anyway. With the address in the same sector, an append writes one metadata block instead of two.
//
//   file's blocks   ... 40 41 42 | 43 44 45 | ...    43 to 45 are valid in the cache; the
//                                  cache             indirect block gets them at the next merge
//
// For the blocks that it covers, including holes, the cache overrides the indirect block, whose
// pointers are equal or older. A cut may therefore come at any time between a merge
// (merge_bmap_cache(), file_blocks.h) and the write of an inode with another cache. Only regular
// files have a cache, and it covers pointers of a single indirect block. That block may never have
// been written (`alone`); in that case, the cache has all pointers of the block. `alone` is limited
// to the inode's single indirect block: for an indirect block below another one, an older inode on
// the disk might have a greater size.
//
// Layout in the inode's extension (inode_extension.h), from byte 64 on:
//
//   0 first block   4 number of blocks   5 bit 0: alone   8 addresses, 0 for a hole

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

  BmapCache() = default;
  /// Creates a cache that will begin at `first_block` but has no addresses yet.
  BmapCache(std::uint64_t first_block, bool alone)
      : first_(static_cast<std::uint32_t>(first_block)), alone_(alone) {}
  bool operator==(const BmapCache&) const = default;

  bool empty() const { return count_ == 0; }
  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return std::uint64_t{first_} + count_; }
  bool alone() const { return alone_; }
  bool covers(std::uint64_t block) const { return block >= first_ && block < end(); }
  /// Returns the address of `block`. The cache must cover the block or have space for it.
  FragmentAddress at(std::uint64_t block) const { return addresses_.at(block - first_); }
  void set(std::uint64_t block, FragmentAddress at);
  void merged() { alone_ = false; }
  bool has_room_for(const Geometry& geometry, std::uint64_t block) const;
  /// Returns true if the cached pointers are in the lowest-level indirect block whose first entry
  /// points to block `block`.
  bool is_of(const Geometry& geometry, std::uint64_t block) const;
  /// Copies the cached addresses to `indirect`, the contents of the indirect block to which they
  /// belong. If the cache is `alone`, also sets all other pointers there to zero.
  void lay_over(const Geometry& geometry, std::span<std::byte> indirect) const;
  /// Returns false if no mounted file system can have written this cache. Must be called before a
  /// cache that was read from the disk is used.
  bool is_sound(const Geometry& geometry) const;

  /// Size of an encoded cache, which is also the size of the buffer for decode() and encode().
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
