#pragma once
// Counts, for each block, how many snapshots contain it (snapshot_table.h).

#include <cstdint>
#include <vector>

#include "fs-adapters/snapfs/format.h"

namespace headcrash::snapfs {

class KeptBlocks {
 public:
  explicit KeptBlocks(std::uint32_t blocks = 0) : blocks_(blocks) {}

  std::uint32_t holders(BlockAddress address) const {
    return holders_.empty() ? 0 : holders_[address];
  }
  bool held(BlockAddress address) const { return holders(address) != 0; }
  /// Adds a snapshot to the block's count; there are at most 255 (snapshots_max()).
  void hold(BlockAddress address) {
    if (holders_.empty()) holders_.resize(blocks_);
    ++holders_[address];
  }
  /// Removes a snapshot from the block's count.
  void release(BlockAddress address) {
    if (held(address)) --holders_[address];
  }
  std::size_t bytes_in_core() const { return holders_.size(); }

 private:
  std::uint32_t blocks_;
  std::vector<std::uint8_t> holders_;  ///< empty if there are no snapshots
};

}  // namespace headcrash::snapfs
