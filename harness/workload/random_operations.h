#pragma once
// Everything the operation language can say but whiteouts and subvolumes, drawn from a seed with
// weights: the fuzzer among the workloads.
//
// With threads, the names fall into as many sets ("s1file2", and a directory "s1dir" each), and
// every thread works on one set until the next join, after which the sets go round: files are
// handed from thread to thread, but never used by two at once (operation.h). All sets meet in the
// same directories, so that the file system's locks, directory blocks and commits are shared
// although the oracle can tell the threads apart.

#include <array>
#include <cstdint>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::workload {

struct RandomOptions {
  std::uint64_t seed = 0;
  std::uint32_t rounds = 60;  ///< operations, those of the set-up and the last sync not counted
  std::uint32_t directories = 3;
  std::uint32_t names = 4;            ///< in each directory
  std::uint32_t largest_blocks = 32;  ///< of a write, 512 bytes each
  std::uint32_t persistence_percent = 30;
  std::uint8_t threads = 1;             ///< 1 to kThreadsMost
  std::uint32_t rounds_to_a_join = 16;  ///< on average; with threads
  /// Bytes behind the first words of every other symbolic link, at most. Lists differ in nothing
  /// else.
  std::uint32_t longest_target = 0;
  bool any_byte =
      /// of writes, and ranges that are allocated, punched or zeroed: not multiples of 512 only
      false;
  bool whole_blocks = false;  ///< writes and truncations, too, are of multiples of 512
  /// How often each kind is drawn, against the others; 0 leaves it out. In the order of
  /// Operation::Kind. Whiteouts, which many file systems do not know, are left out: they have a
  /// pattern of their own. So are the words that came later (with_later_words): equal seeds keep
  /// their lists.
  std::array<std::uint32_t, kOperationKinds> weights = kEvenly;

  static constexpr std::array<std::uint32_t, kOperationKinds> kEvenly{
      2, 1, 6, 3, 6, 1, 1, 1, 1, 4, 3, 1, 1, 2, 1, 1, 3, 1, 5, 1, 1, 0, 2, 1, 6, 2, 4, 1, 1};
};

/// With those that came later as well: modes, owners, flags and times, direct writes that are kept,
/// ranges of any byte, ranges moved, shared and mapped, fifos, remounts (of one thread only),
/// freeze, evict.
RandomOptions with_later_words(RandomOptions options);

/// With power cuts inside of the list, each behind a sync: what is there after it is known, so that
/// the list can go on.
RandomOptions with_crashes(RandomOptions options);

/// Equal options give equal lists.
std::vector<Operation> random_operations(const RandomOptions& options);

}  // namespace headcrash::workload
