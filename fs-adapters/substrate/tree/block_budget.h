#pragma once
// Limits the work of code that follows pointers on an untrusted disk.

#include <cstdint>

namespace headcrash::tree {

/// The number of blocks, or other units of space, that a walk may still visit. In a sound file
/// system each unit belongs to one object, so a walk along the pointers never visits more units
/// than the device has. If the pointers form a cycle, the budget runs out.
class BlockBudget {
 public:
  explicit BlockBudget(std::uint64_t units) : left_(units) {}
  /// Consumes `units` of the budget. Returns false if the budget does not suffice: the walk has
  /// then visited more units than the device has, so the pointers must be damaged.
  [[nodiscard]] bool take(std::uint64_t units = 1) {
    if (units > left_) return false;
    left_ -= units;
    return true;
  }

 private:
  std::uint64_t left_;
};

}  // namespace headcrash::tree
