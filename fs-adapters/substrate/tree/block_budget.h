#pragma once
// Bounds the work done by code that follows pointers on an untrusted disk.

#include <cstdint>

namespace headcrash::tree {

/// The number of blocks, or other units of space, that a walk may still visit. In a sound file
/// system each unit is in one place, so a tree of pointers never visits more units than the device
/// has. A block that points to itself exhausts the budget.
class BlockBudget {
 public:
  explicit BlockBudget(std::uint64_t units) : left_(units) {}
  /// Consumes units. Returns false if the walk has visited more units than the device has, which
  /// means that the pointers are damaged.
  [[nodiscard]] bool take(std::uint64_t units = 1) {
    if (units > left_) return false;
    left_ -= units;
    return true;
  }

 private:
  std::uint64_t left_;
};

}  // namespace headcrash::tree
