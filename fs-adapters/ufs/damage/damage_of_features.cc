// Damages structures of optional features: bmap caches, link tags, busy marks, the map of busy
// groups, the generation (damage.h). Of these, the full check depends only on the bmap caches. The
// fast check must terminate whatever the structures contain.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/damage/damage.h"
#include "fs-adapters/ufs/netra/busy_map.h"
#include "fs-adapters/ufs/netra/busy_marks.h"

namespace headcrash::ufs::damage {
namespace {

using model::kSectorBytes;
using ufs::BmapCache;
using ufs::InodeNumber;

/// Damages a bmap cache. A file that loses its cache uses the pointers in its indirect blocks
/// again; these may be outdated.
bool apply_wrong_bmap_cache(Damaging& image) {
  if (!image.geometry().features().bmap_cache) return false;
  const bool with = !image.one_in(3);
  const InodeNumber number = image.take_inode([&](InodeNumber n) {
    return image.survey().bmap(n).empty() != with && image.survey().inode(n).indirect[2] == 0;
  });
  if (number == 0) return false;
  const std::uint64_t how = image.below(3);
  const ufs::Geometry& geometry = image.geometry();
  image.change_extension(number, [&](ufs::InodeExtension& extension) {
    const auto noise = [&] {
      return static_cast<ufs::FragmentAddress>(image.below(geometry.size_fragments()));
    };
    // The cache overlaps the direct blocks, spans two indirect blocks, or belongs to an indirect
    // block that the file does not have.
    const std::uint64_t first = how == 0   ? ufs::kDirectPointers - 1
                                : how == 1 ? geometry.blocks_within(1) - 1
                                           : geometry.blocks_within(2);
    extension.bmap = BmapCache(first, how == 2 && image.one_in(2));
    extension.bmap.set(first, noise());
    extension.bmap.set(first + 1, noise());
  });
  for (const std::size_t run : image.survey().runs_of(number))
    if (image.survey().inode(number).is_regular() &&
        image.survey().runs()[run].block >= ufs::kDirectPointers && with)
      image.lose_run(run);
  image.contend(number);
  image.say(fmt::format("inode {}: {}", number, how));
  return true;
}

/// Damages link tags. If other damage has removed an inode's name, the inode may then look like one
/// whose name was never written.
bool apply_link_tags(Damaging& image) {
  if (!image.geometry().features().fast_check) return false;
  const InodeNumber number = image.take_inode([](InodeNumber n) { return n != ufs::kRootInode; });
  if (number == 0) return false;
  image.change_extension(number, [&](ufs::InodeExtension& extension) {
    extension.generation = image.survey().superblock().generation;
    extension.tags.clear();
    for (std::uint64_t i = 0; i <= image.below(ufs::kLinkTagsMax); ++i) {
      const std::array<std::uint32_t, 4> chunks{0, static_cast<std::uint32_t>(image.below(~0U)),
                                                ufs::LinkTag::kWholeDirectory,
                                                ufs::LinkTag::kDotDot};
      extension.tags.push_back(
          {.directory = static_cast<InodeNumber>(
               image.below(image.one_in(4) ? ~0U : image.geometry().inodes())),
           .chunk = chunks.at(image.below(chunks.size())),
           .entries = static_cast<std::uint16_t>(image.below(image.one_in(4) ? 65536 : 3)),
           .links = static_cast<std::uint16_t>(image.below(image.one_in(4) ? 65536 : 3))});
    }
  });
  image.may().no_links[number] = true;
  image.say(fmt::format("inode {}", number));
  return true;
}

/// Adds random marks with the current generation, so that the group appears to have been busy.
bool apply_busy_marks(Damaging& image) {
  const ufs::Geometry& geometry = image.geometry();
  if (!geometry.features().fast_check) return false;
  const auto group = static_cast<std::uint32_t>(image.below(geometry.groups()));
  bool done = false;
  image.change(geometry.lba_of(geometry.header(group)), geometry.block_bytes() / kSectorBytes,
               [&](std::span<std::byte> header) {
                 if (!ufs::CylinderGroup::problem_of(geometry, header, group).empty()) return;
                 const ufs::CylinderGroup map(geometry, header, group);
                 ufs::BusyMarks marks(geometry, header, group);
                 marks.clear(map.totals().directories + static_cast<std::uint32_t>(image.below(3)));
                 marks.set_generation(image.survey().superblock().generation);
                 if (!image.one_in(4)) marks.mark_free_fragments(map);
                 for (std::uint32_t i = 0; i < geometry.inodes_per_group(); ++i)
                   if (image.one_in(2)) marks.mark_inode(i, image.one_in(3));
                 for (std::uint64_t i = image.below(20); i > 0; --i)
                   marks.mark_fragments(static_cast<std::uint32_t>(image.below(map.fragments())),
                                        1);
                 for (std::uint64_t i = image.below(4); i > 0; --i)
                   marks.add_foreign_inode(static_cast<InodeNumber>(
                       2 * image.below(image.one_in(8) ? ~0U / 2 : geometry.inodes() / 2)));
                 done = true;
               });
  if (done && geometry.features().foreign_block && image.one_in(2))
    image.change(geometry.lba_of(geometry.foreign_block(group)),
                 geometry.block_bytes() / kSectorBytes, [&](std::span<std::byte> block) {
                   for (std::uint64_t i = image.below(40); i > 0; --i)
                     ufs::ForeignBlock(block).add(static_cast<InodeNumber>(
                         2 * image.below(image.one_in(16) ? ~0U / 2 : geometry.inodes() / 2)));
                 });
  if (done) image.say(fmt::format("group {}", group));
  return done;
}

/// In the map of busy groups, marks a quiet group as busy or a busy group as quiet. In half of the
/// cases, also changes the group's counts.
bool apply_busy_map(Damaging& image) {
  const ufs::Geometry& geometry = image.geometry();
  if (!geometry.features().busy_map) return false;
  const auto group = static_cast<std::uint32_t>(image.below(geometry.groups()));
  const std::uint64_t byte = geometry.byte_of(image.survey().superblock().summary_address) +
                             std::uint64_t{group} * ufs::kSummaryBytes;
  image.change(byte / kSectorBytes, 1, [&](std::span<std::byte> bytes) {
    const auto at = bytes.subspan(byte % kSectorBytes, ufs::kSummaryBytes);
    ufs::GroupRecord record = ufs::decode_group_record(at, geometry.features());
    record.busy = !record.busy;
    if (image.one_in(2)) record.counts.free_blocks ^= 1U << image.below(20);
    ufs::encode_group_record(record, at);
  });
  image.say(fmt::format("group {}", group));
  return true;
}

bool apply_other_generation(Damaging& image) {
  if (!image.geometry().features().fast_check) return false;
  constexpr std::size_t kGeneration = 224;  // offset of the generation in the superblock
  image.change(ufs::kSuperblockByte / kSectorBytes, 1, [&](std::span<std::byte> bytes) {
    bytes[kGeneration + image.below(8)] ^= std::byte{0x41};
  });
  image.say("superblock");
  return true;
}

}  // namespace

std::span<const DamageKind> damage_of_features() {
  static constexpr std::array kKinds = std::to_array<DamageKind>({
      {"bmap-cache-of-nothing", ufs::FindingKind::bad_bmap_cache, apply_wrong_bmap_cache},
      {"tags-of-nothing", {}, apply_link_tags},
      {"busy-marks", {}, apply_busy_marks},
      {"busy-map", {}, apply_busy_map},
      {"another-generation", {}, apply_other_generation},
  });
  return kKinds;
}

}  // namespace headcrash::ufs::damage
