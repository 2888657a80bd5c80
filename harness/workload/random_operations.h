#pragma once
// Random operations drawn from a seed with weights: the fuzzer among the workloads. They cover the
// operation language except whiteouts and subvolumes.
//
// With threads, the names are divided into one set per thread (names such as "s1file2", and one
// directory per set, such as "s1dir"). Each thread uses one set until the next join, after which
// the sets rotate. Files thus pass from thread to thread, but two threads never use the same file
// at once (operation.h). All sets share directories. The file system's locks, directory blocks and
// commits are thus shared, but the oracle can distinguish the threads.

#include <array>
#include <cstdint>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::workload {

struct RandomOptions {
  std::uint64_t seed = 0;
  std::uint32_t rounds = 60;  ///< number of operations, excluding the set-up and the last sync
  std::uint32_t directories = 3;
  std::uint32_t names = 4;            ///< number of names in each directory
  std::uint32_t largest_blocks = 32;  ///< maximum size of a write, in blocks of 512 bytes
  std::uint32_t persistence_percent = 30;
  std::uint8_t threads = 1;             ///< 1 to kThreadsMost
  std::uint32_t rounds_to_a_join = 16;  ///< mean number of operations per thread between two joins
  /// Maximum number of bytes appended to the target of every other symbolic link. Nothing else in a
  /// list depends on it.
  std::uint32_t longest_target = 0;
  /// Writes, allocate, punch and zero may use ranges that are not multiples of 512.
  bool any_byte = false;
  bool whole_blocks = false;  ///< uses multiples of 512 for writes and truncations as well
  /// Relative frequency of each kind, in the order of Operation::Kind. 0 excludes the kind.
  /// Whiteouts are excluded because many file systems do not support them; they are tested by a
  /// pattern instead. Kinds added later (with_later_words) are excluded, so that a given seed still
  /// produces the same list.
  std::array<std::uint32_t, kOperationKinds> weights = kEvenly;

  static constexpr std::array<std::uint32_t, kOperationKinds> kEvenly{
      2, 1, 6, 3, 6, 1, 1, 1, 1, 4, 3, 1, 1, 2, 1, 1, 3, 1, 5, 1, 1, 0, 2, 1, 6, 2, 4, 1, 1};
};

/// Includes the operations that were added later: modes, owners, flags and times, persistent direct
/// writes, ranges in bytes, moved, shared and mapped ranges, fifos, remounts (with a single
/// thread), freeze and evict.
RandomOptions with_later_words(RandomOptions options);

/// Inserts crashes into the list, each after a sync. The recovered tree is then known, so the list
/// can continue.
RandomOptions with_crashes(RandomOptions options);

/// Returns a list of random operations. Equal options give equal lists.
std::vector<Operation> random_operations(const RandomOptions& options);

}  // namespace headcrash::workload
