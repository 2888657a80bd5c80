#pragma once
// The fuzzing workload: generates random operations from a seed and weights. It uses all operations
// of the language, except whiteouts and subvolumes.
//
// With threads, the names are divided into one set for each thread (names such as "s1file2", and
// one directory for each set, such as "s1dir"). Each thread uses one set until the next join; then
// the sets rotate. Files thus pass from thread to thread, but two threads never use the same file
// concurrently (operation.h). All sets share the other directories. The threads thus share the file
// system's locks, directory blocks and commits. However, only one thread uses a name between two
// joins, as the oracle requires.

#include <array>
#include <cstdint>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::workload {

struct RandomOptions {
  std::uint64_t seed = 0;
  std::uint32_t rounds = 60;  ///< number of operations, without the set-up and the last sync
  std::uint32_t directories = 3;
  std::uint32_t names = 4;            ///< number of names in each directory
  std::uint32_t largest_blocks = 32;  ///< maximum size of a write, in blocks of 512 bytes
  std::uint32_t persistence_percent = 30;
  std::uint8_t threads = 1;             ///< 1 to kThreadsMost
  std::uint32_t rounds_to_a_join = 16;  ///< mean number of operations of a thread between two joins
  /// Maximum number of bytes to append to the target of every second symbolic link. The rest of the
  /// list does not depend on this option.
  std::uint32_t longest_target = 0;
  /// If true, the ranges of writes, allocate, punch and zero need not be multiples of 512.
  bool any_byte = false;
  /// If true, the ends of writes and the new sizes of truncations are also multiples of 512.
  bool whole_blocks = false;
  /// Relative frequency of each kind, in the order of Operation::Kind; 0 excludes the kind. The
  /// default excludes whiteouts, because many file systems do not support them (a pattern tests
  /// them instead). It also excludes kinds that were added later (with_later_words), so that a
  /// given seed still produces the same list.
  std::array<std::uint32_t, kOperationKinds> weights = kEvenly;

  static constexpr std::array<std::uint32_t, kOperationKinds> kEvenly{
      2, 1, 6, 3, 6, 1, 1, 1, 1, 4, 3, 1, 1, 2, 1, 1, 3, 1, 5, 1, 1, 0, 2, 1, 6, 2, 4, 1, 1};
};

/// Returns a copy of `options` that also selects the operations that were added to the language
/// later: changes of modes, owners, flags and times; persistent direct writes; ranges that begin
/// and end at any byte; operations that move, share or map ranges; fifos; remounts (only with a
/// single thread); freeze; evict.
RandomOptions with_later_words(RandomOptions options);

/// Returns options that permit crashes in the list. A sync precedes each crash, so that the
/// recovered tree is known when the list is generated, and the list can continue after the crash.
RandomOptions with_crashes(RandomOptions options);

/// Returns a list of random operations. The same options always give the same list.
std::vector<Operation> random_operations(const RandomOptions& options);

}  // namespace headcrash::workload
