#pragma once
// The memory of a battery-backed cache: blocks of sectors, each sector absent, clean or dirty, and
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

/// One bit for each sector of a block, the first sector lowest.
using SectorMask = std::uint64_t;

class NvramBlocks {
 public:
  /// What a write found: whole blocks and sectors.
  struct Hits {
    std::uint32_t blocks = 0, present = 0, dirty = 0;
    std::uint32_t absorbed_sectors = 0;  ///< dirty ones that were written over
  };

  /// `origin` is the LBA at which the first block begins; `bytes` false: only times matter.
  NvramBlocks(std::uint64_t origin, std::uint32_t blocks, std::uint32_t block_sectors, bool bytes);

  // ---- what a request may do
  /// Blocks that the range touches.
  std::uint64_t span(const SectorRange& range) const;
  bool has_room_for(const SectorRange& range) const;
  bool covers(const SectorRange& range) const;
  /// The part of the range between its first and last absent sector.
  std::optional<SectorRange> absent_hull(const SectorRange& range) const;
  std::vector<SectorRange> present_runs(const SectorRange& range) const;
  bool leaving(const SectorRange& range) const;

  // ---- what happens to the bytes
  /// Of a block that is written, as it was before.
  struct Written {
    std::uint64_t lba = 0;      ///< the first sector of it that is written
    bool block_dirty = false;   ///< any sector of the block was dirty
    bool sector_dirty = false;  ///< ... any that is written
  };
  using Seen = std::function<void(const Written&)>;
  /// Makes the range dirty with `data` (empty: zeroes, or only times matter). There must be room.
  /// Calls `seen`, unless it is empty, for each block.
  Hits write(const SectorRange& range, std::span<const std::byte> data, const Seen& seen = {});
  /// Copies what is present of the range over `into`, which begins at range.lba.
  void overlay(const SectorRange& range, std::span<std::byte> into) const;
  void drop_clean(const SectorRange& range);  ///< forgets copies
  void drop(const SectorRange& range);        ///< forgets whatever is there, also what is dirty
  void renew(const SectorRange& range);       ///< its clean blocks have been read

  // ---- write-back
  /// Dirty blocks, least recently written first.
  const std::list<std::uint32_t>& dirty_order() const { return list(Order::dirty); }
  /// Not while part of it is on its way, nor again after it has failed.
  bool may_leave(std::uint32_t slot) const {
    return blocks_[slot].leaving == 0 && !blocks_[slot].failed;
  }
  /// From the first dirty sector of the block to the last that can be reached without leaving the
  /// cache, which is itself dirty. Clean sectors between dirty ones are part of it: one write
  /// instead of two.
  SectorRange first_run(std::uint32_t slot) const;
  /// The run of another block when it adjoins.
  std::optional<SectorRange> run_from(std::uint64_t lba) const;
  std::optional<SectorRange> run_up_to(std::uint64_t lba) const;
  void leave(const SectorRange& range);  ///< a write-back of all of it has been sent
  /// It has landed: what was not written over meanwhile is clean. Returns how many of the sectors
  /// had been dirty when the power came back.
  std::uint64_t landed(const SectorRange& range);
  void came_back(const SectorRange& range, bool failed);  ///< it has not: everything is dirty again

  // ---- power
  void cut();          ///< what was leaving is dirty again, and only what is dirty counts
  void mark_replay();  ///< all that is dirty, and what failed is tried again
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
    std::uint64_t index = 0;  ///< first sector is origin + index * block_sectors
    SectorMask present = 0;   ///< holds the newest version of these
    SectorMask dirty = 0;     ///< of `present`: newer than what is below
    SectorMask leaving = 0;   ///< of `present`: an older or equal version is on its way below
    SectorMask replay = 0;    ///< of `dirty` or `leaving`: were dirty when the power came back
    bool failed = false;      ///< could not be written back
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
  std::vector<Order> filed_;  ///< in which list each slot is
  std::vector<List::iterator> place_;
  /// Oldest first. Every slot is in one of them: free; clean (may be given to another block); going
  /// (nothing dirty, but on its way below); dirty.
  std::array<List, 4> lists_;
  struct Scattered {  ///< group headers are a power of two apart, and the map takes the low bits
    std::size_t operator()(std::uint64_t index) const {
      return (index * 0x9e3779b97f4a7c15U) >> 32;
    }
  };
  tsl::robin_map<std::uint64_t, std::uint32_t, Scattered> slot_of_;
  std::uint64_t dirty_sectors_ = 0, leaving_sectors_ = 0, replay_sectors_ = 0;
  std::uint32_t failed_blocks_ = 0;
};

}  // namespace headcrash::model
