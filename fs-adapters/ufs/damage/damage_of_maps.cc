// Damages group headers, counts and superblocks (damage.h). A repair can rebuild all of these from
// the inodes or from a replica, so it must not lose anything.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/damage/damage.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs::damage {
namespace {

using model::kSectorBytes;
using ufs::kSuperblockByte;
using ufs::kSuperblockBytes;

constexpr std::size_t kFsFragmentsOfGroup = 188, kFsSize = 36, kFsInodesOfGroup = 184;  // struct fs
constexpr std::size_t kFsTotals = 192, kFsMagic = 1372, kFsBlockBytes = 48;

std::uint32_t some_group(Damaging& image) {
  const auto group = static_cast<std::uint32_t>(image.below(image.geometry().groups()));
  image.say(fmt::format("group {}", group));
  return group;
}

/// Selects a group, and calls change(CylinderGroup&) if earlier damage has left the group's header
/// valid.
template <typename ChangeGroup>
bool change_group(Damaging& image, ChangeGroup change) {
  const std::uint32_t group = some_group(image);
  const ufs::Geometry& geometry = image.geometry();
  bool changed = false;
  image.change(geometry.lba_of(geometry.header(group)), geometry.block_bytes() / kSectorBytes,
               [&](std::span<std::byte> header) {
                 if (!ufs::CylinderGroup::problem_of(geometry, header, group).empty()) return;
                 ufs::CylinderGroup view(geometry, header, group);
                 change(view);
                 changed = true;
               });
  return changed;
}

void flip(Damaging& image, std::span<std::byte> map, std::uint32_t bits) {
  for (std::uint64_t i = 1 + image.below(8); i > 0; --i) {
    // Sometimes selects the last bit of the map, which a comparison of whole words might miss.
    const auto bit = static_cast<std::uint32_t>(image.one_in(4) ? bits - 1 : image.below(bits));
    map[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
}

bool apply_bits_of_inodes(Damaging& image) {
  return change_group(image, [&](ufs::CylinderGroup& group) {
    flip(image, group.inode_map(), image.geometry().inodes_per_group());
  });
}
bool apply_bits_of_fragments(Damaging& image) {
  return change_group(image, [&](ufs::CylinderGroup& group) {
    flip(image, group.fragment_map(), group.fragments());
  });
}
bool apply_uniform_map(Damaging& image) {
  const bool inodes = image.one_in(2);
  const std::byte all = image.one_in(2) ? std::byte{0} : std::byte{0xff};
  return change_group(image, [&](ufs::CylinderGroup& group) {
    std::ranges::fill(inodes ? group.inode_map() : group.fragment_map(), all);
  });
}
bool apply_counts_of_group(Damaging& image) {
  return change_group(image, [&](ufs::CylinderGroup& group) {
    ufs::Summary totals = group.totals();
    std::uint32_t* const fields[] = {&totals.directories, &totals.free_blocks, &totals.free_inodes,
                                     &totals.free_fragments};
    *fields[image.below(4)] ^= 1U << image.below(20);
    group.set_totals(totals);
  });
}
bool apply_runs_of_group(Damaging& image) {
  constexpr std::size_t kGroupRuns = 52;
  const std::uint32_t group = some_group(image);
  const ufs::Geometry& geometry = image.geometry();
  if (geometry.fragments_per_block() < 2) return false;
  const std::size_t field = kGroupRuns + 4 * (1 + image.below(geometry.fragments_per_block() - 1));
  image.change(geometry.lba_of(geometry.header(group)), 1, [&](std::span<std::byte> header) {
    little_endian::store32(header, field,
                           little_endian::load32(header, field) ^ 1U << image.below(20));
  });
  return true;
}
bool apply_summaries(Damaging& image) {
  image.change(image.geometry().lba_of(image.survey().superblock().summary_address), 1,
               [&](std::span<std::byte> bytes) {
                 const std::uint64_t words = std::uint64_t{image.geometry().groups()} * 4;
                 bytes[image.below(words) * 4 + image.below(4)] ^= std::byte{0x21};
               });
  return true;
}
bool apply_totals(Damaging& image) {
  image.change(kSuperblockByte / kSectorBytes, 1, [&](std::span<std::byte> bytes) {
    bytes[kFsTotals + image.below(4) * 4 + image.below(4)] ^= std::byte{0x42};
  });
  return true;
}

bool spoil_header(Damaging& image, const Damaging::Change& change) {
  const ufs::Geometry& geometry = image.geometry();
  image.change(geometry.lba_of(geometry.header(some_group(image))),
               geometry.block_bytes() / kSectorBytes, change);
  return true;
}
bool apply_noise_for_header(Damaging& image) {
  return spoil_header(image, [&](std::span<std::byte> bytes) { image.fill_with_noise(bytes); });
}
bool apply_zeroes_for_header(Damaging& image) {
  return spoil_header(image,
                      [](std::span<std::byte> bytes) { std::ranges::fill(bytes, std::byte{0}); });
}
bool apply_header_of_another(Damaging& image) {
  const ufs::Geometry& geometry = image.geometry();
  if (geometry.groups() < 2) return false;
  const std::uint32_t group = some_group(image);
  const std::uint32_t other = (group + 1) % geometry.groups();
  const std::uint32_t sectors = geometry.block_bytes() / kSectorBytes;
  std::vector<std::byte> copy;
  image.change(geometry.lba_of(geometry.header(other)), sectors,
               [&](std::span<std::byte> bytes) { copy.assign(bytes.begin(), bytes.end()); });
  image.change(geometry.lba_of(geometry.header(group)), sectors,
               [&](std::span<std::byte> bytes) { std::ranges::copy(copy, bytes.begin()); });
  return true;
}

void spoil_superblock(Damaging& image, std::uint64_t byte) {
  const std::uint64_t how = image.below(4);
  image.change(byte / kSectorBytes, kSuperblockBytes / kSectorBytes,
               [&](std::span<std::byte> bytes) {
                 if (how == 0) little_endian::store32(bytes, kFsMagic, 0);
                 if (how == 1) little_endian::store32(bytes, kFsBlockBytes, 3000);
                 if (how == 2)
                   std::ranges::fill(bytes.first(ufs::kSuperblockUsedBytes), std::byte{0});
                 if (how == 3) image.fill_with_noise(bytes.first(ufs::kSuperblockUsedBytes));
               });
}

bool apply_no_superblock(Damaging& image) {
  spoil_superblock(image, kSuperblockByte);
  return true;
}

/// Destroys the first superblock and its first replica. Between them and the next replica, places a
/// copy of another file system's superblock, in a free block or in a file. A repair must not use
/// that copy.
bool apply_stray_superblock(Damaging& image) {
  constexpr std::uint64_t kStep = 4096;
  const ufs::Geometry& geometry = image.geometry();
  if (geometry.groups() < 2) return false;
  const std::uint64_t first = geometry.byte_of(geometry.replica(0));
  const std::uint64_t end = geometry.byte_of(geometry.replica(1));
  std::vector<std::uint64_t> places;
  for (std::uint64_t byte = first + kStep; byte + kSuperblockBytes <= end; byte += kStep) {
    bool suits = byte % kStep == 0;
    for (std::uint64_t at = byte; at < byte + kSuperblockBytes; at += geometry.fragment_bytes()) {
      const auto f = static_cast<ufs::FragmentAddress>(at / geometry.fragment_bytes());
      const auto run = image.survey().run_at(f);
      suits = suits && (image.survey().is_free(f) ||
                        (run && image.survey().runs()[*run].level == 0 &&
                         image.survey().inode(image.survey().runs()[*run].owner).is_regular()));
    }
    if (suits) places.push_back(byte);
  }
  if (places.empty()) return false;
  const std::uint64_t place = places[image.below(places.size())];
  std::vector<std::byte> copy(ufs::kSuperblockUsedBytes);
  image.change(
      kSuperblockByte / kSectorBytes, kSuperblockBytes / kSectorBytes,
      [&](std::span<std::byte> bytes) { std::copy_n(bytes.begin(), copy.size(), copy.begin()); });
  const std::uint64_t how = image.below(3);
  const std::uint32_t half = geometry.size_fragments() / 2 / geometry.fragments_per_block();
  if (how == 0) little_endian::store32(copy, kFsTotals, 77);
  if (how == 1)  // half as many inodes per group, so that the positions of inodes are different
    little_endian::store32(copy, kFsInodesOfGroup, geometry.inodes_per_group() / 2);
  if (how == 2) {
    little_endian::store32(copy, kFsSize, half * geometry.fragments_per_block());
    little_endian::store32(copy, kFsFragmentsOfGroup, half * geometry.fragments_per_block());
    little_endian::store32(copy, 44, 1);  // fs_ncg
  }
  spoil_superblock(image, kSuperblockByte);
  spoil_superblock(image, first);
  image.change(place / kSectorBytes, kSuperblockBytes / kSectorBytes,
               [&](std::span<std::byte> bytes) { std::ranges::copy(copy, bytes.begin()); });
  for (std::uint64_t s = place / kSectorBytes; s < (place + kSuperblockBytes) / kSectorBytes; ++s)
    image.may().other_bytes[s] = true;
  image.say(fmt::format("copy of the superblock at byte {}", place));
  return true;
}

bool apply_no_journal(Damaging& image) {
  const ufs::Extent journal = image.survey().superblock().journal_inside();
  if (journal.fragments == 0) return false;
  image.change(image.geometry().lba_of(journal.at), 1,
               [&](std::span<std::byte> bytes) { image.fill_with_noise(bytes); });
  return true;
}

}  // namespace

std::span<const DamageKind> damage_of_maps() {
  using enum ufs::FindingKind;
  static constexpr std::array kKinds = std::to_array<DamageKind>({
      {"bits-of-inode-map", {}, apply_bits_of_inodes},
      {"bits-of-fragment-map", {}, apply_bits_of_fragments},
      {"uniform-map", {}, apply_uniform_map},
      {"counts-of-group", group_totals, apply_counts_of_group},
      {"runs-of-group", group_totals, apply_runs_of_group},
      {"summaries", totals, apply_summaries},
      {"totals", totals, apply_totals},
      {"noise-for-group-header", bad_group, apply_noise_for_header},
      {"zeroes-for-group-header", bad_group, apply_zeroes_for_header},
      {"group-header-of-another", bad_group, apply_header_of_another},
      {"superblock-lost", bad_superblock, apply_no_superblock},
      {"stray-superblock", bad_superblock, apply_stray_superblock},
      {"journal-lost", bad_journal, apply_no_journal},
  });
  return kKinds;
}

}  // namespace headcrash::ufs::damage
