#pragma once
// Which blocks snapshots have, and how many of them each (snapshot_table.h).

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
  /// By one snapshot more; there are at most 255 (snapshots_max()).
  void hold(BlockAddress address) {
    if (holders_.empty()) holders_.resize(blocks_);
    ++holders_[address];
  }
  /// By one less.
  void let_go(BlockAddress address) {
    if (held(address)) --holders_[address];
  }
  std::size_t bytes_in_core() const { return holders_.size(); }

 private:
  std::uint32_t blocks_;
  std::vector<std::uint8_t> holders_;  ///< empty: there is no snapshot
};

}  // namespace headcrash::snapfs
