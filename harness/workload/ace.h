#pragma once
// Every short workload: a bounded enumerator in the spirit of ACE (CrashMonkey and ACE, OSDI'18).
//
// A workload of length n is n steps. A step is one operation on names out of a small fixed set,
//
//   foo  bar  A/  A/foo  A/bar  B/  B/foo  B/bar
//
// and what makes it persistent: nothing, sync, or fsync, fdatasync, fsync of a directory on one of
// the objects that the operation concerned. The last step always ends persistent. What an operation
// needs (a directory, a file with content, a name that must be free) is set up first: before the
// first step and synced, or in place when an earlier step has touched the name already.
//
// Symmetry: the two directories, and the two names in each place, are interchangeable. Only
// workloads that use A before B and foo before bar are written. The number of steps that may follow
// depends only on how many names are in use already, so all workloads have numbers, and workload N
// is found without making the ones before it: shards and resumed campaigns work by number.
//
// Numbers stay what they are. Words that came later (collapse, insert, clone, store, mknod,
// remount, freeze) are in a second space: its steps are the first one's and theirs, and the last
// step is always one of theirs.

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::workload {

class Ace {
 public:
  static constexpr int kLongest = 3;

  enum class Words : std::uint8_t { first, more };

  /// `length`: 1 to kLongest.
  explicit Ace(int length, Words words = Words::first);
  ~Ace();
  Ace(const Ace&) = delete;
  Ace& operator=(const Ace&) = delete;

  /// How many there are.
  std::uint64_t count() const;

  /// Workload `number`, below count().
  std::vector<Operation> workload(std::uint64_t number) const;

 private:
  struct Space;
  int length_;
  std::unique_ptr<const Space> space_;
};

/// The numbers of a sample: `size` of `count`, drawn by `seed`, rising, without repetition.
std::vector<std::uint64_t> sample_numbers(std::uint64_t count, std::uint64_t size,
                                          std::uint64_t seed);

}  // namespace headcrash::workload
