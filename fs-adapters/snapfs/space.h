#pragma once
// A map of free blocks in memory; also used for inode numbers. A block is in use as long as it
// belongs to a generation that is on the disk or is being written, even if the newest generation
// does not contain it (store.h).

#include <cstdint>
#include <optional>
#include <vector>

#include "fs-adapters/snapfs/format.h"

namespace headcrash::snapfs {

class BlockSpace {
 public:
  explicit BlockSpace(std::uint32_t blocks = 0)
      : taken_((blocks + 63) / 64), blocks_(blocks), free_(blocks) {}

  bool taken(BlockAddress address) const {
    return (taken_[address / 64] >> (address % 64) & 1U) != 0;
  }
  std::uint32_t free() const { return free_; }
  void take(BlockAddress address);
  void give_back(BlockAddress address);
  /// Returns the first free block at or after `near`. If there is no such block, returns the first
  /// free block of the device. Returns nullopt if no block is free.
  std::optional<BlockAddress> next_free(BlockAddress near) const;
  /// Like next_free(), but also allocates the block.
  std::optional<BlockAddress> allocate(BlockAddress near);
  std::size_t bytes_in_core() const { return taken_.size() * sizeof(std::uint64_t); }

 private:
  std::vector<std::uint64_t> taken_;
  std::uint32_t blocks_;
  std::uint32_t free_;
};

}  // namespace headcrash::snapfs
