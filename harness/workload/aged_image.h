#pragma once
// A file system that has been lived in, before a workload begins: "NAME+aged" in the catalogue.
//
// Files are made, appended to in turns (so that they lie in pieces), overwritten, renamed between
// directories and removed, twice over with a sync after each half; about a third of them stay. Free
// space is then scattered, inodes and directory entries have been used before, and the blocks that
// the workload gets hold stamps of files that are gone: whatever comes to light of them is known
// for stale. All of it is operations, so that nothing is on the disk that the oracle has not
// followed, and it ends with sync, so that all of what stays is promised.

#include <cstdint>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::workload {

struct AgedImageOptions {
  std::uint64_t seed = 0;
  std::uint32_t rounds = 160;     ///< changes in all
  std::uint32_t files_most = 48;  ///< at a time
  std::uint32_t largest_blocks =
      40;  ///< of a write, 512 bytes each; a file grows to eight times that
};

/// Equal options give equal lists. Names begin with "aged", numbers of files and versions with
/// kAgedFirst: neither meets those of a workload that follows. At most files_most * 8 *
/// largest_blocks blocks are in use.
std::vector<Operation> age(const AgedImageOptions& options);

inline constexpr std::uint32_t kAgedFirst = 1U << 24;

}  // namespace headcrash::workload
