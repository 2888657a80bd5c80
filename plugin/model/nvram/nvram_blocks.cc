// Blocks, sectors and their order (nvram_blocks.h).
//
//   block   |<------------- block_sectors ------------->|
//   present  . . X X X X X X . . X X X X X X X X . . . .
//   dirty    . . X X . . X X . . . X . . . . . . . . . .
//   run          |<------->|  first_run(): includes the clean sectors in the middle
//
// Dirty blocks are in the order of their last write: a rewrite moves the block to the newest end,
// so frequently rewritten blocks are written back last. Clean blocks are in the order of their last
// use; new blocks take their memory from the oldest. A write-back moves sectors from dirty to
// leaving. A rewrite during the write-back makes the sectors dirty again. They are not sent a
// second time before the first write-back completes.
#include "plugin/model/nvram/nvram_blocks.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "plugin/base/invariant.h"

namespace headcrash::model {
namespace {

constexpr std::uint32_t kMaskBits = 64;

SectorMask low_bits(std::uint64_t count) {
  return count >= kMaskBits ? ~SectorMask{0} : (SectorMask{1} << count) - 1;
}
std::uint32_t count_bits(SectorMask mask) {
  return static_cast<std::uint32_t>(std::popcount(mask));
}
unsigned lowest(SectorMask mask) {
  return static_cast<unsigned>(std::countr_zero(mask));
}
unsigned highest(SectorMask mask) {
  return kMaskBits - 1 - static_cast<unsigned>(std::countl_zero(mask));
}
SectorRange part_of(const SectorRange& range, std::uint64_t from, std::uint64_t to) {
  const std::uint64_t begin = std::max(range.lba, from);
  const std::uint64_t end = std::min(range.end(), to);
  return {begin, end > begin ? end - begin : 0};
}

}  // namespace

NvramBlocks::NvramBlocks(std::uint64_t origin, std::uint32_t blocks, std::uint32_t block_sectors,
                         bool bytes)
    : origin_(origin),
      block_sectors_(block_sectors),
      has_bytes_(bytes),
      blocks_(blocks),
      filed_(blocks, Order::free),
      place_(blocks) {
  for (std::uint32_t slot = 0; slot < blocks; ++slot) {
    place_[slot] = list(Order::free).insert(list(Order::free).end(), slot);
  }
  slot_of_.reserve(blocks);
}

// ---- queries

SectorMask NvramBlocks::mask_of(const Block& block, const SectorRange& range) const {
  const std::uint64_t first = lba_of(block);
  const SectorRange part = part_of(range, first, first + block_sectors_);
  return low_bits(part.sectors) << (part.lba - first);
}

std::optional<std::uint32_t> NvramBlocks::find(std::uint64_t index) const {
  const auto it = slot_of_.find(index);
  if (it == slot_of_.end()) return std::nullopt;
  return it->second;
}

/// Calls visit(slot, mask) for each cached block of the range. The mask selects the block's sectors
/// that are in the range.
template <typename Visit>
void NvramBlocks::for_each(const SectorRange& range, Visit visit) const {
  if (range.sectors == 0) return;
  const std::uint64_t last = index_of(range.end() - 1);
  for (std::uint64_t index = index_of(range.lba); index <= last; ++index) {
    if (const auto slot = find(index)) visit(*slot, mask_of(blocks_[*slot], range));
  }
}

std::uint64_t NvramBlocks::span(const SectorRange& range) const {
  return range.sectors == 0 ? 0 : index_of(range.end() - 1) - index_of(range.lba) + 1;
}

bool NvramBlocks::has_room_for(const SectorRange& range) const {
  std::uint64_t here = 0;
  std::uint64_t clean_here = 0;
  for_each(range, [&](std::uint32_t slot, SectorMask) {
    ++here;
    clean_here += filed_[slot] == Order::clean ? 1 : 0;
  });
  return span(range) - here <= list(Order::free).size() + list(Order::clean).size() - clean_here;
}

bool NvramBlocks::covers(const SectorRange& range) const {
  return !absent_hull(range).has_value();
}

std::optional<SectorRange> NvramBlocks::absent_hull(const SectorRange& range) const {
  std::optional<SectorRange> hull;
  const auto add = [&hull](std::uint64_t from, std::uint64_t to) {
    if (!hull) hull = SectorRange{from, 0};
    hull->sectors = to - hull->lba;
  };
  for (std::uint64_t at = range.lba; at < range.end();) {
    const std::uint64_t index = index_of(at);
    const std::uint64_t first = origin_ + index * block_sectors_;
    const std::uint64_t end = std::min(range.end(), first + block_sectors_);
    const auto slot = find(index);
    if (!slot) {
      add(at, end);
    } else {
      const SectorMask absent = mask_of(blocks_[*slot], range) & ~blocks_[*slot].present;
      if (absent != 0) add(first + lowest(absent), first + highest(absent) + 1);
    }
    at = end;
  }
  return hull;
}

bool NvramBlocks::leaving(const SectorRange& range) const {
  bool any = false;
  for_each(range, [&](std::uint32_t slot, SectorMask mask) {
    any = any || (blocks_[slot].leaving & mask) != 0;
  });
  return any;
}

// ---- order

void NvramBlocks::file(std::uint32_t slot, Order order, bool newest) {
  List& to = list(order);
  if (filed_[slot] == order && !newest) return;
  to.splice(newest ? to.end() : to.begin(), list(filed_[slot]), place_[slot]);
  filed_[slot] = order;
}

void NvramBlocks::set_failed(Block& block, bool failed) {
  if (block.failed == failed) return;
  block.failed = failed;
  failed ? ++failed_blocks_ : --failed_blocks_;
}

/// Sets the masks of a block, updates the totals, and moves the block to the list where it belongs.
/// No other code may change a mask.
void NvramBlocks::set(std::uint32_t slot, SectorMask present, SectorMask dirty, SectorMask leaving,
                      SectorMask replay) {
  Block& block = blocks_[slot];
  invariant(((dirty | leaving) & ~present) == 0,
            "sectors that are dirty or being written back must be in the cache");
  dirty_sectors_ += count_bits(dirty);
  dirty_sectors_ -= count_bits(block.dirty);
  leaving_sectors_ += count_bits(leaving);
  leaving_sectors_ -= count_bits(block.leaving);
  replay_sectors_ += count_bits(replay);
  replay_sectors_ -= count_bits(block.replay);
  block.present = present;
  block.dirty = dirty;
  block.leaving = leaving;
  block.replay = replay;
  if (dirty == 0) set_failed(block, false);
  if (present == 0 && filed_[slot] != Order::free) {
    slot_of_.erase(block.index);
    file(slot, Order::free, false);
  } else if (present != 0) {
    // A block that becomes clean moves to the newest end of the list. The block was written later
    // than all clean blocks, so it counts as the most recently used block, even if a clean block
    // has been read since.
    const Order order = dirty != 0 ? Order::dirty : leaving != 0 ? Order::going : Order::clean;
    file(slot, order, order == Order::clean && filed_[slot] != Order::clean);
  }
}

std::uint32_t NvramBlocks::take_slot(std::uint64_t index) {
  const bool fresh = !list(Order::free).empty();
  invariant(fresh || !list(Order::clean).empty(), "the cache must have room for a write");
  const std::uint32_t slot = fresh ? list(Order::free).front() : list(Order::clean).front();
  if (!fresh) set(slot, 0, 0, 0, 0);
  Block& block = blocks_[slot];
  block.index = index;
  if (has_bytes_) block.bytes.resize(std::size_t{block_sectors_} * kSectorBytes);
  slot_of_[index] = slot;
  return slot;
}

// ---- changes

NvramBlocks::Hits NvramBlocks::write(const SectorRange& range, std::span<const std::byte> data,
                                     const Seen& seen) {
  Hits hits;
  renew(range);  // so that take_slot() does not reuse the range's blocks
  for (std::uint64_t at = range.lba; at < range.end();) {
    const std::uint64_t index = index_of(at);
    const std::uint64_t first = origin_ + index * block_sectors_;
    const std::uint64_t end = std::min(range.end(), first + block_sectors_);
    const auto found = find(index);
    const std::uint32_t slot = found ? *found : take_slot(index);
    Block& block = blocks_[slot];
    const SectorMask mask = mask_of(block, range);
    ++hits.blocks;
    if (found) ++hits.present;
    const bool was_dirty = (block.dirty & mask) != 0;
    if (was_dirty) ++hits.dirty;
    if (seen) seen({.lba = at, .block_dirty = block.dirty != 0, .sector_dirty = was_dirty});
    hits.absorbed_sectors += count_bits(block.dirty & mask);
    if (has_bytes_) {
      const auto target =
          std::span(block.bytes).subspan((at - first) * kSectorBytes, (end - at) * kSectorBytes);
      if (data.empty()) {
        std::fill(target.begin(), target.end(), std::byte{0});
      } else {
        std::memcpy(target.data(), data.data() + (at - range.lba) * kSectorBytes, target.size());
      }
    }
    set(slot, block.present | mask, block.dirty | mask, block.leaving, block.replay & ~mask);
    file(slot, Order::dirty, true);
    at = end;
  }
  return hits;
}

std::vector<SectorRange> NvramBlocks::present_runs(const SectorRange& range) const {
  std::vector<SectorRange> runs;
  for_each(range, [&](std::uint32_t slot, SectorMask mask) {
    const std::uint64_t first = lba_of(blocks_[slot]);
    for (SectorMask left = blocks_[slot].present & mask; left != 0;) {
      const unsigned from = lowest(left);
      const auto sectors = static_cast<unsigned>(std::countr_one(left >> from));
      runs.push_back({first + from, sectors});
      left &= ~(low_bits(sectors) << from);
    }
  });
  return runs;
}

void NvramBlocks::overlay(const SectorRange& range, std::span<std::byte> into) const {
  if (into.empty() || !has_bytes_) return;
  for (const SectorRange& run : present_runs(range)) {
    const std::uint64_t index = index_of(run.lba);
    const Block& block = blocks_[slot_of_.at(index)];
    std::memcpy(into.data() + (run.lba - range.lba) * kSectorBytes,
                block.bytes.data() + (run.lba - lba_of(block)) * kSectorBytes,
                run.sectors * kSectorBytes);
  }
}

void NvramBlocks::renew(const SectorRange& range) {
  for_each(range, [&](std::uint32_t slot, SectorMask) {
    if (filed_[slot] == Order::clean) file(slot, Order::clean, true);
  });
}

void NvramBlocks::drop_clean(const SectorRange& range) {
  for_each(range, [&](std::uint32_t slot, SectorMask mask) {
    const Block& b = blocks_[slot];
    set(slot, b.present & ~(mask & ~(b.dirty | b.leaving)), b.dirty, b.leaving, b.replay);
  });
}

void NvramBlocks::drop(const SectorRange& range) {
  for_each(range, [&](std::uint32_t slot, SectorMask mask) {
    const Block& b = blocks_[slot];
    invariant((b.leaving & mask) == 0, "dropped sectors must not be in flight");
    set(slot, b.present & ~mask, b.dirty & ~mask, b.leaving, b.replay & ~mask);
  });
}

// ---- write-back

SectorRange NvramBlocks::first_run(std::uint32_t slot) const {
  const Block& block = blocks_[slot];
  const unsigned from = lowest(block.dirty);
  const auto reach = static_cast<unsigned>(std::countr_one(block.present >> from));
  const unsigned last = highest(block.dirty & (low_bits(reach) << from));
  return {lba_of(block) + from, last - from + 1};
}

std::optional<SectorRange> NvramBlocks::run_from(std::uint64_t lba) const {
  if ((lba - origin_) % block_sectors_ != 0) return std::nullopt;
  const auto slot = find(index_of(lba));
  if (!slot || (blocks_[*slot].dirty & 1U) == 0 || !may_leave(*slot)) return std::nullopt;
  return first_run(*slot);
}

std::optional<SectorRange> NvramBlocks::run_up_to(std::uint64_t lba) const {
  if (lba <= origin_ || (lba - origin_) % block_sectors_ != 0) return std::nullopt;
  const auto slot = find(index_of(lba) - 1);
  if (!slot || !may_leave(*slot)) return std::nullopt;
  const Block& block = blocks_[*slot];
  if ((block.dirty >> (block_sectors_ - 1) & 1U) == 0) return std::nullopt;
  const SectorRange run = first_run(*slot);
  if (run.end() != lba) return std::nullopt;
  return run;
}

void NvramBlocks::leave(const SectorRange& range) {
  for_each(range, [&](std::uint32_t slot, SectorMask mask) {
    const Block& b = blocks_[slot];
    invariant((b.leaving & mask) == 0 && (b.present & mask) == mask,
              "a sector must have at most one write-back in progress");
    set(slot, b.present, b.dirty & ~mask, b.leaving | mask, b.replay);
  });
}

std::uint64_t NvramBlocks::write_completed(const SectorRange& range) {
  std::uint64_t replayed = 0;
  for_each(range, [&](std::uint32_t slot, SectorMask mask) {
    const Block& b = blocks_[slot];
    replayed += count_bits(b.replay & mask);
    set(slot, b.present, b.dirty, b.leaving & ~mask, b.replay & ~mask);
  });
  return replayed;
}

void NvramBlocks::came_back(const SectorRange& range, bool failed) {
  for_each(range, [&](std::uint32_t slot, SectorMask mask) {
    Block& b = blocks_[slot];
    set(slot, b.present, b.dirty | (b.leaving & mask), b.leaving & ~mask, b.replay);
    if (failed) set_failed(b, true);
  });
}

// ---- power

void NvramBlocks::cut() {
  for (std::uint32_t slot = 0; slot < blocks(); ++slot) {
    if (filed_[slot] == Order::free) continue;
    const SectorMask dirty = blocks_[slot].dirty | blocks_[slot].leaving;
    set(slot, dirty, dirty, 0, blocks_[slot].replay);
  }
}

void NvramBlocks::mark_replay() {
  for (const std::uint32_t slot : list(Order::dirty)) {
    Block& b = blocks_[slot];
    replay_sectors_ += count_bits(b.dirty & ~b.replay);
    b.replay = b.dirty;
    set_failed(b, false);
  }
}

void NvramBlocks::clear() {
  for (std::uint32_t slot = 0; slot < blocks(); ++slot) {
    if (filed_[slot] != Order::free) set(slot, 0, 0, 0, 0);
  }
}

}  // namespace headcrash::model
