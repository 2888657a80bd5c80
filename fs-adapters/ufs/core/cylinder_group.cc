// The maps of one cylinder group (cylinder_group.h). A block has at most eight fragments, so its
// part of the map is always within one byte. The bits of a block are treated as a small number.
// Each change updates the counts by the difference between the old number and the new one.

#include "fs-adapters/ufs/core/cylinder_group.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "fs-adapters/ufs/netra/busy_marks.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

constexpr std::size_t kCgMagic = 4, kCgTime = 8, kCgIndex = 12, kCgCylinders = 16, kCgInodes16 = 18,
                      kCgFragments = 20, kCgBlockRotor = 40, kCgFragmentRotor = 44,
                      kCgInodeRotor = 48, kCgRuns = 52, kCgBlockTotalsOffset = 84,
                      kCgBlockPositionsOffset = 88, kCgInodesOffset = 92, kCgFragmentsOffset = 96,
                      kCgEndOffset = 100, kCgClusters = 112, kCgInitialised = 120;
// Size of two obsolete tables of free blocks: by cylinder (one entry of 4 bytes) and by rotational
// position (one entry of 2 bytes).
constexpr std::uint32_t kOldTablesBytes = 4 + 2;

std::uint32_t map_bytes(std::uint32_t bits) {
  return (bits + 7) / 8;
}

bool bit(std::span<const std::byte> map, std::uint32_t index) {
  return (load8(map, index / 8) >> (index % 8) & 1U) != 0;
}

void set_bit(std::span<std::byte> map, std::uint32_t index, bool value) {
  const auto mask = static_cast<std::uint8_t>(1U << (index % 8));
  const std::uint8_t byte = load8(map, index / 8);
  store8(map, index / 8, static_cast<std::uint8_t>(value ? byte | mask : byte & ~mask));
}

std::uint32_t mask_of(std::uint32_t count) {
  return (1U << count) - 1U;
}

/// Calls run(first, length) for each run of set bits among the low `width` bits.
template <typename Run>
void each_run(std::uint32_t bits, std::uint32_t width, Run run) {
  for (std::uint32_t at = 0; at < width;) {
    const auto length = static_cast<std::uint32_t>(std::countr_one(bits >> at));
    if (length > 0) run(at, std::min(length, width - at));
    at += length + 1;
  }
}

}  // namespace

std::uint64_t CylinderGroup::maps_end(std::uint32_t inodes, std::uint32_t fragments) {
  return std::uint64_t{kGroupFixedBytes} + kOldTablesBytes + map_bytes(inodes) +
         map_bytes(fragments);
}

std::uint64_t CylinderGroup::header_bytes(std::uint32_t inodes, std::uint32_t fragments,
                                          const Features& features) {
  const std::uint64_t end = maps_end(inodes, fragments);
  return features.fast_check ? BusyMarks::header_bytes(end, inodes, fragments) : end;
}

std::string CylinderGroup::problem_of(const Geometry& geometry, std::span<const std::byte> header,
                                      std::uint32_t group) {
  if (header.size() < kGroupFixedBytes || header.size() < geometry.header_bytes())
    return "is truncated";
  if (load32(header, kCgMagic) != kGroupMagic)
    return fmt::format("has the wrong magic number ({:#x})", load32(header, kCgMagic));
  if (load32(header, kCgIndex) != group)
    return fmt::format("belongs to group {}", load32(header, kCgIndex));
  if (load32(header, kCgFragments) != geometry.group_fragments(group))
    return fmt::format("claims {} fragments, not {}", load32(header, kCgFragments),
                       geometry.group_fragments(group));
  // The position of the busy marks is computed from the standard position of the maps, so the maps
  // must be at that position.
  const std::uint64_t end_of_maps =
      geometry.features().fast_check
          ? maps_end(geometry.inodes_per_group(), geometry.fragments_per_group())
          : geometry.header_bytes();
  const auto inside = [&](std::size_t field, std::uint32_t bits) {
    const std::uint64_t offset = load32(header, field);
    return offset >= kGroupFixedBytes && offset + map_bytes(bits) <= end_of_maps;
  };
  if (!inside(kCgInodesOffset, geometry.inodes_per_group()) ||
      !inside(kCgFragmentsOffset, geometry.group_fragments(group)))
    return fmt::format("has maps at bytes {} and {}, outside of the header",
                       load32(header, kCgInodesOffset), load32(header, kCgFragmentsOffset));
  const std::uint64_t inodes_at = load32(header, kCgInodesOffset);
  const std::uint64_t fragments_at = load32(header, kCgFragmentsOffset);
  if (inodes_at + map_bytes(geometry.inodes_per_group()) > fragments_at &&
      fragments_at + map_bytes(geometry.group_fragments(group)) > inodes_at)
    return fmt::format("has overlapping maps at bytes {} and {}", inodes_at, fragments_at);
  return {};
}

CylinderGroup::CylinderGroup(const Geometry& geometry, std::span<std::byte> header,
                             std::uint32_t group)
    : geometry_(geometry),
      header_(header),
      group_(group),
      fragments_(geometry.group_fragments(group)),
      inodes_at_(load32(header, kCgInodesOffset)),
      fragments_at_(load32(header, kCgFragmentsOffset)) {}

bool CylinderGroup::format(const Geometry& geometry, std::span<std::byte> header,
                           std::uint32_t group) {
  const std::uint32_t fragments = geometry.group_fragments(group);
  const std::uint32_t inodes = geometry.inodes_per_group();
  if (header_bytes(inodes, geometry.fragments_per_group(), geometry.features()) >
      geometry.header_bytes())
    return false;
  std::fill(header.begin(), header.end(), std::byte{0});
  store32(header, kCgMagic, kGroupMagic), store32(header, kCgIndex, group);
  store16(header, kCgCylinders, 1);
  store16(header, kCgInodes16, static_cast<std::uint16_t>(std::min<std::uint32_t>(inodes, 0x7fff)));
  store32(header, kCgFragments, fragments);
  store32(header, kCgBlockTotalsOffset, kGroupFixedBytes);
  store32(header, kCgBlockPositionsOffset, kGroupFixedBytes + 4);
  store32(header, kCgInodesOffset, kGroupFixedBytes + kOldTablesBytes);
  const std::uint32_t fragments_at = kGroupFixedBytes + kOldTablesBytes + map_bytes(inodes);
  store32(header, kCgFragmentsOffset, fragments_at);
  store32(header, kCgEndOffset, fragments_at + map_bytes(geometry.fragments_per_group()));
  store32(header, kCgClusters, 0);
  CylinderGroup made(geometry, header, group);
  const FragmentAddress base = geometry.group_base(group);
  const auto set_free = [&](FragmentAddress begin, FragmentAddress end) {
    for (FragmentAddress at = begin; at < end;) {
      const std::uint32_t f = at - base;
      if (f % 8 == 0 && at + 8 <= end) {
        store8(made.fragment_map(), f / 8, 0xff);
        at += 8;
      } else {
        made.set_fragment_free(f, true);
        ++at;
      }
    }
  };
  const FragmentAddress end = base + fragments;
  set_free(base, std::clamp(geometry.early_data_end(group), base, end));
  set_free(std::clamp(geometry.data_start(group), base, end), end);
  for (std::uint32_t i = 0; i < inodes; ++i)
    if (geometry.is_extension(group * inodes + i)) made.set_inode_used(i, true);
  made.recount();
  return true;
}

Summary CylinderGroup::totals() const {
  return decode_summary(header_.subspan(kGroupTotalsOffset));
}
void CylinderGroup::set_totals(const Summary& totals) {
  encode_summary(totals, header_.subspan(kGroupTotalsOffset));
}
std::uint32_t CylinderGroup::time() const {
  return load32(header_, kCgTime);
}
void CylinderGroup::set_time(std::uint32_t seconds) {
  store32(header_, kCgTime, seconds);
}

// A rotor is only a hint; an invalid one is replaced by 0.
std::uint32_t CylinderGroup::block_rotor() const {
  const std::uint32_t rotor = load32(header_, kCgBlockRotor);
  return rotor < fragments_ ? rotor : 0;
}
std::uint32_t CylinderGroup::fragment_rotor() const {
  const std::uint32_t rotor = load32(header_, kCgFragmentRotor);
  return rotor < fragments_ ? rotor : 0;
}
std::uint32_t CylinderGroup::inode_rotor() const {
  const std::uint32_t rotor = load32(header_, kCgInodeRotor);
  return rotor < geometry_.inodes_per_group() ? rotor : 0;
}
void CylinderGroup::set_block_rotor(std::uint32_t fragment) {
  store32(header_, kCgBlockRotor, fragment);
}
void CylinderGroup::set_fragment_rotor(std::uint32_t fragment) {
  store32(header_, kCgFragmentRotor, fragment);
}
void CylinderGroup::set_inode_rotor(std::uint32_t inode) {
  store32(header_, kCgInodeRotor, inode);
}

std::uint32_t CylinderGroup::initialised_inodes() const {
  const std::uint32_t all = geometry_.inodes_per_group();
  return geometry_.features().lazy_inodes ? std::min(load32(header_, kCgInitialised), all) : all;
}
void CylinderGroup::set_initialised_inodes(std::uint32_t inodes) {
  store32(header_, kCgInitialised, inodes);
}

std::span<std::byte> CylinderGroup::inode_map() const {
  return header_.subspan(inodes_at_, map_bytes(geometry_.inodes_per_group()));
}
std::span<std::byte> CylinderGroup::fragment_map() const {
  return header_.subspan(fragments_at_, map_bytes(fragments_));
}

bool CylinderGroup::inode_used(std::uint32_t inode) const {
  return bit(inode_map(), inode);
}
void CylinderGroup::set_inode_used(std::uint32_t inode, bool used) {
  set_bit(inode_map(), inode, used);
}

std::optional<std::uint32_t> CylinderGroup::find_inode(std::uint32_t from) const {
  const std::uint32_t inodes = geometry_.inodes_per_group();
  const auto map = inode_map();
  const auto search = [&](std::uint32_t first, std::uint32_t end) -> std::optional<std::uint32_t> {
    for (std::uint32_t i = first; i < end;) {
      const std::uint32_t free = static_cast<std::uint8_t>(~load8(map, i / 8)) >> (i % 8);
      if (free != 0) {
        const std::uint32_t found = i + static_cast<std::uint32_t>(std::countr_zero(free));
        return found < end ? std::optional(found) : std::nullopt;
      }
      i = (i / 8 + 1) * 8;
    }
    return std::nullopt;
  };
  const std::uint32_t start = from < inodes ? from : 0;
  if (const auto found = search(start, inodes)) return found;
  return search(0, start);
}

void CylinderGroup::use_inode(std::uint32_t inode, bool directory) {
  invariant(!inode_used(inode), "ufs: an inode must be free before it is allocated");
  set_inode_used(inode, true);
  Summary now = totals();
  --now.free_inodes;
  if (directory) ++now.directories;
  set_totals(now);
}

void CylinderGroup::free_inode(std::uint32_t inode, bool directory) {
  invariant(inode_used(inode), "ufs: an inode must be in use before it is freed");
  set_inode_used(inode, false);
  Summary now = totals();
  ++now.free_inodes;
  if (directory) --now.directories;
  set_totals(now);
}

/// Returns the bits of the block that contains the fragment. Bits after the end of the group are 0.
std::uint32_t CylinderGroup::block_bits(std::uint32_t fragment) const {
  const std::uint32_t width = geometry_.fragments_per_block();
  const std::uint32_t first = fragment / width * width;
  const std::uint32_t inside = std::min(width, fragments_ - first);
  return load8(fragment_map(), first / 8) >> (first % 8) & mask_of(inside);
}

bool CylinderGroup::fragment_free(std::uint32_t fragment) const {
  return bit(fragment_map(), fragment);
}

bool CylinderGroup::block_free(std::uint32_t fragment) const {
  return block_bits(fragment) == mask_of(geometry_.fragments_per_block());
}

bool CylinderGroup::run_free(std::uint32_t fragment, std::uint32_t count) const {
  const std::uint32_t mask = mask_of(count) << (fragment % geometry_.fragments_per_block());
  return (block_bits(fragment) & mask) == mask;
}

bool CylinderGroup::run_used(std::uint32_t fragment, std::uint32_t count) const {
  const std::uint32_t mask = mask_of(count) << (fragment % geometry_.fragments_per_block());
  return (block_bits(fragment) & mask) == 0;
}

std::optional<std::uint32_t> CylinderGroup::find_block(std::uint32_t from) const {
  const std::uint32_t width = geometry_.fragments_per_block();
  const std::uint32_t blocks = fragments_ / width;
  const std::uint32_t start = from / width < blocks ? from / width : 0;
  for (std::uint32_t i = 0, block = start; i < blocks;
       ++i, block = block + 1 == blocks ? 0 : block + 1)
    if (block_free(block * width)) return block * width;
  return std::nullopt;
}

std::optional<std::uint32_t> CylinderGroup::find_fragments(std::uint32_t from,
                                                           std::uint32_t count) const {
  const std::uint32_t width = geometry_.fragments_per_block();
  const auto known = runs();
  std::uint32_t wanted = count;
  while (wanted < width && known[wanted] == 0) ++wanted;
  if (wanted >= width) return std::nullopt;
  const std::uint32_t blocks = (fragments_ + width - 1) / width;
  const std::uint32_t start = from < fragments_ ? from / width : 0;
  for (std::uint32_t i = 0, block = start; i < blocks;
       ++i, block = block + 1 == blocks ? 0 : block + 1) {
    const std::uint32_t bits = block_bits(block * width);
    if (bits == 0 || bits == mask_of(width)) continue;
    std::optional<std::uint32_t> found;
    each_run(bits, width, [&](std::uint32_t first, std::uint32_t length) {
      if (!found && length == wanted) found = block * width + first;
    });
    if (found) return found;
  }
  return std::nullopt;  // cg_frsum is wrong, so the file system is not clean
}

std::array<std::uint32_t, 8> CylinderGroup::runs() const {
  std::array<std::uint32_t, 8> counts = {};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = load32(header_, kCgRuns + 4 * i);
  return counts;
}

void CylinderGroup::account_runs(std::uint32_t bits, std::uint32_t by) {
  const std::uint32_t width = geometry_.fragments_per_block();
  if (bits == 0 || bits == mask_of(width)) return;
  each_run(bits, width, [&](std::uint32_t, std::uint32_t length) {
    store32(header_, kCgRuns + 4 * length, load32(header_, kCgRuns + 4 * length) + by);
  });
}

template <typename Change>
void CylinderGroup::change_block(std::uint32_t fragment, Change change) {
  const std::uint32_t whole = mask_of(geometry_.fragments_per_block());
  const std::uint32_t before = block_bits(fragment);
  change();
  const std::uint32_t after = block_bits(fragment);
  account_runs(before, ~0U);
  account_runs(after, 1);
  Summary now = totals();
  const auto count = [&](std::uint32_t bits, std::uint32_t by) {
    if (bits == whole) {
      now.free_blocks += by;
    } else {
      now.free_fragments += by * static_cast<std::uint32_t>(std::popcount(bits));
    }
  };
  count(before, ~0U), count(after, 1);
  set_totals(now);
}

void CylinderGroup::set_fragment_free(std::uint32_t fragment, bool free) {
  set_bit(fragment_map(), fragment, free);
}

void CylinderGroup::use(std::uint32_t fragment, std::uint32_t count) {
  const std::uint32_t width = geometry_.fragments_per_block();
  invariant(count > 0 && fragment % width + count <= width && fragment + count <= fragments_,
            "ufs: a run of fragments must be within one block of its group");
  invariant(run_free(fragment, count), "ufs: fragments must be free before they are allocated");
  change_block(fragment, [&] {
    for (std::uint32_t f = fragment; f < fragment + count; ++f) set_fragment_free(f, false);
  });
}

void CylinderGroup::free(std::uint32_t fragment, std::uint32_t count) {
  const std::uint32_t width = geometry_.fragments_per_block();
  invariant(count > 0 && fragment % width + count <= width && fragment + count <= fragments_,
            "ufs: a run of fragments must be within one block of its group");
  change_block(fragment, [&] {
    for (std::uint32_t f = fragment; f < fragment + count; ++f) {
      invariant(!fragment_free(f), "ufs: fragments must be in use before they are freed");
      set_fragment_free(f, true);
    }
  });
}

bool CylinderGroup::extend(std::uint32_t fragment, std::uint32_t count, std::uint32_t new_count) {
  const std::uint32_t width = geometry_.fragments_per_block();
  if (new_count <= count || fragment % width + new_count > width) return false;
  if (!run_free(fragment + count, new_count - count)) return false;
  use(fragment + count, new_count - count);
  return true;
}

/// Handles whole words where possible, because most blocks, and therefore most words, are either
/// wholly free or wholly used.
void CylinderGroup::recount() {
  const std::uint32_t width = geometry_.fragments_per_block();
  Summary now{.directories = totals().directories};
  for (std::size_t i = 0; i < 8; ++i) store32(header_, kCgRuns + 4 * i, 0);
  const auto fragments = fragment_map();
  for (std::uint32_t f = 0; f < fragments_;) {
    if (f % 64 == 0 && f + 64 <= fragments_) {
      const std::uint64_t word = load64(fragments, f / 8);
      if (word == 0 || word == ~std::uint64_t{0}) {
        now.free_blocks += word == 0 ? 0 : 64 / width;
        f += 64;
        continue;
      }
    }
    const std::uint32_t bits = block_bits(f);
    account_runs(bits, 1);
    if (bits == mask_of(width)) {
      ++now.free_blocks;
    } else {
      now.free_fragments += static_cast<std::uint32_t>(std::popcount(bits));
    }
    f += width;
  }
  const auto inodes = inode_map();
  std::uint32_t used = 0, i = 0;
  for (; i + 64 <= geometry_.inodes_per_group(); i += 64)
    used += static_cast<std::uint32_t>(std::popcount(load64(inodes, i / 8)));
  for (; i < geometry_.inodes_per_group(); ++i) used += inode_used(i) ? 1 : 0;
  now.free_inodes = geometry_.inodes_per_group() - used;
  set_totals(now);
}

}  // namespace headcrash::ufs
