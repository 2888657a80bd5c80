#pragma once
// The choice of subsets of n unflushed writes when not all subsets can be explored. Subsets likely
// to expose a bug come first, and the number of subsets is bounded.
//
//   lose all, keep all, lose all on one disk (of several),
//   keep only the newest (a write with FUA, or a write after a required flush, must never be the
//   only one that survives); then in turns:
//     lose one      ######.#    the cache stored all but one
//     keep one      .....#..    the cache stored one out of order
//     lose a run    ####..##    halves, quarters, eighths...: a prefix, a suffix, a hole
//     lose a kind   #.#.##.#    all writes of one kind, such as long ones or overwrites
//     random        ##.#.##.    from the seed; few or many writes are lost
//
// With several disks, most turns lose writes on one disk and keep all writes on the others, because
// a defective stack of disks usually loses data even in such states:
//     lose one      a: ####.##   b: ######
//     a disk stops  a: ####...   b: ######    the newest writes of one disk are lost
//     lose two      a: ##..###   b: ######    neighbours on one disk
//
// If 2^n is within the bound, all subsets are listed in a similar order: none, all, lose one, keep
// one, the others.

#include <cstdint>
#include <vector>

namespace headcrash::states {

struct SubsetRequest {
  std::size_t writes = 0;
  /// One list of flags for each kind of write. A write's flag is set if the write is of that kind.
  /// A kind to which all or none of the writes belong has no list.
  std::vector<std::vector<std::uint8_t>> kinds;
  std::uint64_t seed = 0;
  std::uint64_t count_max = 0;
  /// One list of flags for each disk. A write's flag is set if the write is on that disk. A disk
  /// that has all or none of the writes has no list.
  std::vector<std::vector<std::uint8_t>> disks = {};
};

/// Returns the subsets [from, from + count) of the list, or fewer at its end. A subset has one flag
/// per write: 1 if the write is kept, 0 if it is lost.
std::vector<std::vector<std::uint8_t>> subsets(const SubsetRequest& request, std::uint64_t from,
                                               std::uint64_t count);

}  // namespace headcrash::states
