#pragma once
// Ages a file system before a workload begins: "NAME+aged" in the catalogue.
//
// Files are created, overwritten, renamed between directories and removed. Several files grow in
// turns, so that they become fragmented. All of this happens twice, and a sync follows each time.
// About a third of the files remain. Free space is then scattered, and inodes and directory entries
// have been used before. The blocks allocated to the workload hold stamps of deleted files, so
// stale data can be recognised. Ageing consists of ordinary operations, so the oracle follows
// everything on the disk. It ends with a sync, so all remaining files are promised.

#include <cstdint>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::workload {

struct AgedImageOptions {
  std::uint64_t seed = 0;
  std::uint32_t rounds = 160;     ///< total number of changes
  std::uint32_t files_most = 48;  ///< maximum number of files that exist at the same time
  /// Maximum size of a write, in blocks of 512 bytes. A file grows to at most eight times this
  /// size.
  std::uint32_t largest_blocks = 40;
};

/// Returns the operations that age a file system. The same options always give the same list. To
/// avoid conflicts with the workload that follows, names begin with "aged", and file numbers and
/// versions start at kAgedFirst. Uses at most files_most * 8 * largest_blocks blocks.
std::vector<Operation> age(const AgedImageOptions& options);

inline constexpr std::uint32_t kAgedFirst = 1U << 24;

}  // namespace headcrash::workload
