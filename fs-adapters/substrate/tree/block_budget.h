#pragma once
// A bound for everything that follows pointers on a disk.

#include <cstdint>

namespace headcrash::tree {

/// How many blocks, or other units of space, may still be met. A sound file system has each of them
/// in one place, so that no tree of pointers has more of them than the device: a block that leads
/// to itself uses the budget up.
class BlockBudget {
 public:
  explicit BlockBudget(std::uint64_t units) : left_(units) {}
  /// False if `units` more than the device has would be met: the pointers are damaged.
  [[nodiscard]] bool take(std::uint64_t units = 1) {
    if (units > left_) return false;
    left_ -= units;
    return true;
  }

 private:
  std::uint64_t left_;
};

}  // namespace headcrash::tree
