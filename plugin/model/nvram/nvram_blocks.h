#pragma once
// The memory of a battery-backed cache: its blocks, whose sectors are absent, clean or dirty, and
// the order in which the blocks were last written.

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "plugin/model/core/sector_range.h"
#include "plugin/model/core/store.h"

namespace headcrash::model {

/// One bit for each sector of a block; the lowest bit is the first sector.
using SectorMask = std::uint64_t;

class NvramBlocks {
 public:
  /// Numbers of the blocks that a write touched, by the state of the blocks before the write.
  struct Hits {
    std::uint32_t blocks = 0, present = 0, dirty = 0;
    std::uint32_t absorbed_sectors = 0;  ///< number of dirty sectors that were overwritten
  };

  /// `origin` is the LBA of the first block. `bytes` is false if only timing matters.
  NvramBlocks(std::uint64_t origin, std::uint32_t blocks, std::uint32_t block_sectors, bool bytes);

  // ---- queries

  /// Returns the number of blocks that the range touches.
  std::uint64_t span(const SectorRange& range) const;
  bool has_room_for(const SectorRange& range) const;
  bool covers(const SectorRange& range) const;
  /// Returns the smallest part of the range that contains all its absent sectors; nullopt if no
  /// sector is absent.
  std::optional<SectorRange> absent_hull(const SectorRange& range) const;
  std::vector<SectorRange> present_runs(const SectorRange& range) const;
  bool leaving(const SectorRange& range) const;

  // ---- changes

  /// State of a block before a write.
  struct Written {
    std::uint64_t lba = 0;     ///< the first written sector of the block
    bool block_dirty = false;  ///< true if at least one sector of the block was dirty
    /// true if at least one of the sectors to be written was already dirty
    bool sector_dirty = false;
  };
  using Seen = std::function<void(const Written&)>;
  /// Marks the range as dirty and stores `data` (empty for zeroes, or if only timing matters).
  /// Calls `seen` for each block, unless `seen` is empty. REQUIRES: has_room_for(range).
  Hits write(const SectorRange& range, std::span<const std::byte> data, const Seen& seen = {});
  /// Copies the cached part of the range to `into`, which begins at range.lba.
  void overlay(const SectorRange& range, std::span<std::byte> into) const;
  void drop_clean(const SectorRange& range);
  void drop(const SectorRange& range);   ///< drops all sectors of the range, even dirty ones
  void renew(const SectorRange& range);  ///< marks the range's clean blocks as recently read

  // ---- write-back

  /// Returns dirty blocks, least recently written first.
  const std::list<std::uint32_t>& dirty_order() const { return list(Order::dirty); }
  /// Returns true if the block may be written back, that is, if no part of it is in flight, and its
  /// previous write-back did not fail.
  bool may_leave(std::uint32_t slot) const {
    return blocks_[slot].leaving == 0 && !blocks_[slot].failed;
  }
  /// Returns a range that begins with the block's first dirty sector. It ends with the last dirty
  /// sector that can be reached without crossing absent sectors. Clean sectors in between are
  /// included, because this saves a second write.
  SectorRange first_run(std::uint32_t slot) const;
  /// Return the dirty run that begins (run_from) or ends (run_up_to) at `lba`; nullopt if no dirty
  /// run does. REQUIRES: `lba` is a block boundary.
  std::optional<SectorRange> run_from(std::uint64_t lba) const;
  std::optional<SectorRange> run_up_to(std::uint64_t lba) const;
  /// Marks the whole range as in flight after its write-back has been sent.
  void leave(const SectorRange& range);
  /// Completes a write-back. Sectors that have not been rewritten since the write-back was sent
  /// become clean. Returns how many of the written sectors had been dirty at power-on.
  std::uint64_t write_completed(const SectorRange& range);
  /// After a failed or lost write-back, marks its sectors as dirty again.
  void came_back(const SectorRange& range, bool failed);

  // ---- power
  void cut();  ///< sectors in flight become dirty again; clean sectors are dropped
  /// sets `replay` for all dirty sectors, and clears the failed flag of all dirty blocks
  void mark_replay();
  void clear();

  std::uint32_t blocks() const { return static_cast<std::uint32_t>(blocks_.size()); }
  std::uint32_t dirty_blocks() const {
    return static_cast<std::uint32_t>(list(Order::dirty).size());
  }
  std::uint32_t failed_blocks() const { return failed_blocks_; }
  std::uint64_t replay_sectors() const { return replay_sectors_; }
  std::uint64_t dirty_sectors() const { return dirty_sectors_; }
  std::uint64_t leaving_sectors() const { return leaving_sectors_; }

 private:
  struct Block {
    std::uint64_t index = 0;  ///< the block begins at LBA origin + index * block_sectors
    SectorMask present = 0;   ///< sectors whose newest version is in this block
    /// Subset of `present`: sectors that are newer than those of the device below.
    SectorMask dirty = 0;
    /// Subset of `present`: sectors that are being written back, in their newest version or an
    /// older one.
    SectorMask leaving = 0;
    /// Subset of `dirty` or `leaving`: sectors that were dirty at the last power-on.
    SectorMask replay = 0;
    bool failed = false;  ///< the last write-back of the block failed
    std::vector<std::byte> bytes;
  };
  enum class Order : std::uint8_t { free, clean, going, dirty };
  using List = std::list<std::uint32_t>;

  std::uint64_t index_of(std::uint64_t lba) const { return (lba - origin_) / block_sectors_; }
  std::uint64_t lba_of(const Block& block) const { return origin_ + block.index * block_sectors_; }
  SectorMask mask_of(const Block& block, const SectorRange& range) const;
  std::optional<std::uint32_t> find(std::uint64_t index) const;
  template <typename Visit>
  void for_each(const SectorRange& range, Visit visit) const;
  std::uint32_t take_slot(std::uint64_t index);
  void set(std::uint32_t slot, SectorMask present, SectorMask dirty, SectorMask leaving,
           SectorMask replay);
  void file(std::uint32_t slot, Order order, bool newest);
  List& list(Order order) { return lists_[static_cast<std::size_t>(order)]; }
  const List& list(Order order) const { return lists_[static_cast<std::size_t>(order)]; }
  void set_failed(Block& block, bool failed);

  std::uint64_t origin_;
  std::uint32_t block_sectors_;
  bool has_bytes_;
  std::vector<Block> blocks_;
  std::vector<Order> filed_;  ///< for each slot, the list that contains it
  std::vector<List::iterator> place_;
  /// Slots by state, oldest first. Each slot is in exactly one list: free; clean (can be reused);
  /// going (not dirty, but in flight to the device below); dirty.
  std::array<List, 4> lists_;
  /// A hash that mixes the bits of an index. The map uses only the low bits of a hash, and many
  /// indices have equal low bits, because they differ by multiples of a power of two.
  struct Scattered {
    std::size_t operator()(std::uint64_t index) const {
      return (index * 0x9e3779b97f4a7c15U) >> 32;
    }
  };
  tsl::robin_map<std::uint64_t, std::uint32_t, Scattered> slot_of_;
  std::uint64_t dirty_sectors_ = 0, leaving_sectors_ = 0, replay_sectors_ = 0;
  std::uint32_t failed_blocks_ = 0;
};

}  // namespace headcrash::model
