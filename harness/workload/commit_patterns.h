#pragma once
// Patterns that expose errors of a journaling kernel between two commits. Each pattern has rounds
// of a few operations. With other workloads, such an error affects few crash states; with these
// patterns, it affects many.
//
//   fsync-after-names      an old file gets a link or a new name and is synced: does the fsync
//                          include it?
//   truncate-in-block      a file shrinks and grows within a block: the gap must read as zeroes
//   freed-blocks-reused    blocks of a removed file get new data before the removal is committed
//   unsynced-neighbours    fsync of one file commits other files, whose data must reach the disk
//                          first
//   revoked-blocks         a freed metadata block holds synced data: a replay must not overwrite it
//   wrap-journal           large commits make a small journal wrap around; later commits checkpoint
//                          earlier ones
//   allocated-extents      preallocated space is partly written, punched, zeroed and synced
//   dropped-links          names of one file appear in several directories and disappear, sometimes
//                          while the file is open

#include <span>

#include "harness/workload/script.h"

namespace headcrash::workload {

/// Returns the patterns in the order in which `headcrash list workloads` shows them. patterns()
/// includes them.
std::span<const Scenario> commit_scenarios();

}  // namespace headcrash::workload
