#pragma once
// Which subsets of n unflushed writes to look at, when not all can be: the highest-yield first,
// bounded.
//
//   lose all, keep all, lose what is on one disk (of several),
//   keep the newest alone: what a write with FUA, or one that a flush should have come before, must
//   not be; then in turns:
//     lose one      ######.#    the cache wrote all but one
//     keep one      .....#..    it wrote one out of order
//     lose a run    ####..##    halves, quarters, eighths...: a prefix, a suffix, a hole
//     lose a kind   #.#.##.#    all writes to one kind of place (what was there before or not, long or short)
//     draw          ##.#.##.    seeded, few or many lost
//
// When 2^n is within the bound all subsets come, in the same spirit: none, all, lose one, keep one,
// the others.

#include <cstdint>
#include <vector>

namespace headcrash::states {

struct SubsetRequest {
  std::size_t writes = 0;
  std::vector<std::vector<std::uint8_t>>
      kinds;  ///< each: which writes are of it; not none and not all
  std::uint64_t seed = 0;
  std::uint64_t count_max = 0;
  std::vector<std::vector<std::uint8_t>> disks =
      {};  ///< each: which writes are on it; not none and not all
};

/// Subsets [from, from + count) of the list: for each write whether it is kept. Fewer at the list's
/// end.
std::vector<std::vector<std::uint8_t>> subsets(const SubsetRequest& request, std::uint64_t from,
                                               std::uint64_t count);

}  // namespace headcrash::states
