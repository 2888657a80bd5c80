#pragma once
// Patterns that expose errors of a journaling kernel between two commits. Each pattern has rounds
// of a few operations. A kernel error that shows in few crash states of other workloads shows in
// many states of these patterns.
//
//   fsync-after-names      an old file gets a link or a new name and is synced: does fsync include
//                          it?
//   truncate-in-block      shrinks and grows within a block: the gap must read as zeroes
//   freed-blocks-reused    blocks of a removed file get new data before the removal is committed
//   unsynced-neighbours    another file's fsync commits files: their data must reach the disk first
//   revoked-blocks         a freed metadata block holds synced data: replay must not overwrite it
//   wrap-journal           large commits wrap a small journal; later commits checkpoint earlier
//                          ones
//   allocated-extents      preallocated space is partly written, punched, zeroed and synced
//   dropped-links          names of one file come and go in several directories, partly while open

#include <optional>
#include <string_view>
#include <vector>

#include "harness/workload/patterns.h"

namespace headcrash::workload {

const std::vector<Pattern>& commit_patterns();

/// Returns a pattern by name; the same conditions apply as for pattern().
std::optional<std::vector<Operation>> commit_pattern(std::string_view name,
                                                     const PatternOptions& options);

}  // namespace headcrash::workload
