#pragma once
// A bounded enumerator of short workloads, modelled on ACE (CrashMonkey and ACE, OSDI'18).
//
// A workload of length n has n steps. A step is one operation on names of a small fixed set:
//
//   foo  bar  A/  A/foo  A/bar  B/  B/foo  B/bar
//
// The operation may be followed by sync, or by fsync, fdatasync or a directory fsync of one of the
// objects involved. The last step always ends with a persistence point. The prerequisites of an
// operation (a directory, a file with contents, a free name) are created and synced before the
// first step. If an earlier step has already used the name, the prerequisites are created directly
// before the operation.
//
// Symmetry: the two directories are interchangeable; the same applies to the two names in each
// place. Only workloads that use A before B, and foo before bar, are generated. The number of
// possible next steps depends only on the number of names in use, so each workload has a number.
// Workload N can be generated without its predecessors. Shards and resumed campaigns use the
// numbers.
//
// Numbers never change. Operations that were added later (collapse, insert, clone, store, mknod,
// remount, freeze) form a second space. Its workloads may use the steps of both spaces, and their
// last step is always one of the new steps.

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::workload {

class Ace {
 public:
  static constexpr int kLongest = 3;

  enum class Vocabulary : std::uint8_t { first, more };

  /// `length` is the number of steps, 1 to kLongest.
  explicit Ace(int length, Vocabulary words = Vocabulary::first);
  ~Ace();
  Ace(const Ace&) = delete;
  Ace& operator=(const Ace&) = delete;

  std::uint64_t count() const;

  /// Returns the workload with this number. REQUIRES: number < count().
  std::vector<Operation> workload(std::uint64_t number) const;

 private:
  struct Space;
  int length_;
  std::unique_ptr<const Space> space_;
};

/// Selects `size` distinct numbers below `count` at random, and returns them in ascending order.
/// The same seed always gives the same result.
std::vector<std::uint64_t> sample_numbers(std::uint64_t count, std::uint64_t size,
                                          std::uint64_t seed);

}  // namespace headcrash::workload
