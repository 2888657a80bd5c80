#pragma once
// What lies beside an inode, in the odd slot behind its even one: the same sector, which is written
// whole or not at all, so that inode and extension are always of one moment (Peacock, Kamaraju and
// Agrawal 1998, sections 3.3 and 5.3).
//
//   0 mode (0: no inode)   2 how many tags   8 their generation   16 tags   64 a bmap cache (bmap_cache.h)
//
// A tag says how many entries for the inode its count of links takes for granted in one chunk of a
// directory. Whoever finds another number there corrects the count by the difference. Tags count
// while their generation is the superblock's (busy_marks.h). The paper puts them into the last
// eighth of a block of inodes; a write that was torn between an inode and its tags would then leave
// a count that nothing corrects.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fs-adapters/ufs/core/bmap_cache.h"
#include "fs-adapters/ufs/format/format.h"

namespace headcrash::ufs {

struct LinkTag {
  /// Values of `chunk` that are none.
  static constexpr std::uint32_t kWholeDirectory =
      0xffffffffU;  ///< somewhere in it (the paper's DL_NOSLOT)
  /// The ".." of `directory`, a child: counts as long as the child has its name in the inode
  /// (DL_DOTDOT).
  static constexpr std::uint32_t kDotDot = 0xfffffffeU;

  InodeNumber directory = 0;
  std::uint32_t chunk = 0;    ///< from the directory's start, of 512 bytes
  std::uint16_t entries = 0;  ///< as many as the inode's count takes for granted
  std::uint16_t links = 1;    ///< that each of them is worth: 2 where a directory comes or goes
  bool operator==(const LinkTag&) const = default;
};
inline constexpr std::size_t kLinkTagsMax = 4;  ///< of one inode

struct InodeExtension {
  std::uint64_t generation = 0;
  std::vector<LinkTag> tags = {};  ///< at most kLinkTagsMax
  BmapCache bmap = {};

  /// Those that count in a file system of that generation.
  std::span<const LinkTag> live_tags(std::uint64_t of_generation) const {
    return generation == of_generation ? std::span<const LinkTag>(tags)
                                       : std::span<const LinkTag>();
  }
};

/// kInodeBytes each. Tags that make no sense are not there; a cache is as it is
/// (BmapCache::is_sound).
InodeExtension decode_extension(std::span<const std::byte> slot);
BmapCache decode_bmap_cache(std::span<const std::byte> slot);  ///< of it
void encode_extension(const InodeExtension& extension, std::span<std::byte> slot);

}  // namespace headcrash::ufs
