#pragma once
// The extension of an inode, in the odd slot after the inode's even slot. Both slots are in the
// same sector, which is written completely or not at all, so they are always consistent (Peacock,
// Kamaraju and Agrawal 1998, sections 3.3 and 5.3).
//
//   0 mode (0: no inode)   2 number of tags   8 generation of the tags   16 tags
//   64 bmap cache (bmap_cache.h)
//
// A tag records how many entries of one directory chunk are included in the inode's link count. If
// a check finds another number of entries in that chunk, it corrects the link count by the
// difference. Tags are valid while their generation is that of the superblock (busy_marks.h). The
// paper stores tags in the last eighth of an inode block; a write torn between an inode and its
// tags would then leave a wrong count that nothing corrects.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fs-adapters/ufs/core/bmap_cache.h"
#include "fs-adapters/ufs/format/format.h"

namespace headcrash::ufs {

struct LinkTag {
  /// Special values of `chunk`. kWholeDirectory: the entries may be in any chunk of the directory
  /// (the paper's DL_NOSLOT).
  static constexpr std::uint32_t kWholeDirectory = 0xffffffffU;
  /// The ".." entry of the child `directory`. The tag is valid as long as the tagged inode contains
  /// the child's name (DL_DOTDOT).
  static constexpr std::uint32_t kDotDot = 0xfffffffeU;

  InodeNumber directory = 0;
  std::uint32_t chunk = 0;    ///< number of the 512-byte chunk within the directory
  std::uint16_t entries = 0;  ///< number of entries included in the link count
  /// Number of links that each entry stands for: 2 if a directory is added or removed, because its
  /// "." also counts.
  std::uint16_t links = 1;
  bool operator==(const LinkTag&) const = default;
};
inline constexpr std::size_t kLinkTagsMax = 4;  ///< maximum number of tags of an inode

struct InodeExtension {
  std::uint64_t generation = 0;
  std::vector<LinkTag> tags = {};  ///< at most kLinkTagsMax
  BmapCache bmap = {};

  /// Returns the tags if their generation is `of_generation`, which is the generation in the
  /// superblock. Returns an empty span otherwise.
  std::span<const LinkTag> live_tags(std::uint64_t of_generation) const {
    return generation == of_generation ? std::span<const LinkTag>(tags)
                                       : std::span<const LinkTag>();
  }
};

/// Decodes an extension of kInodeBytes bytes. Drops invalid tags. Does not check the bmap cache;
/// see BmapCache::is_sound().
InodeExtension decode_extension(std::span<const std::byte> slot);
BmapCache decode_bmap_cache(std::span<const std::byte> slot);  ///< returns only the bmap cache
void encode_extension(const InodeExtension& extension, std::span<std::byte> slot);

}  // namespace headcrash::ufs
