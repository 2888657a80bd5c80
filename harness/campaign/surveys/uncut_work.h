#pragma once
// Runs a workload to its end without a power cut. The file system must show exactly the result of
// the operations on the oracle's reference.
//
//   operations ... rest   operations ... rest   ...
//                  |                     |
//                  dump the mounted tree
//
// At a rest, threads have joined, no file is open, and a sync has ended. Everything is
// "persistent", so the reference permits a single tree.
//
// File systems that are not notified of sync(2) (Promises::sync_waits) are tested, too: without a
// cut, everything is visible through the kernel.

#include <span>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/oracle/verdict.h"
#include "harness/run/guest_session.h"

namespace headcrash::campaign {

/// A list with rests, whose parts can be sent one at a time.
struct RestedWorkload {
  std::vector<workload::Operation> operations;
  /// Number of operations before each rest; the last covers all of them.
  std::vector<std::size_t> rests;
};
/// Adds a rest after `every` operations, or as soon afterwards as no file is open.
RestedWorkload with_rests(const std::vector<workload::Operation>& operations, std::size_t every);

/// Returns how the tree differs from the result of the operations up to a rest.
Result<std::vector<oracle::Finding>> differences(
    std::span<const workload::Operation> operations,
    const std::vector<workload::FailedOperation>& failed_operations,
    const adapters::LinuxAdapter& filesystem, const std::vector<oracle::ObservedObject>& tree);

struct ComparedWork {
  std::size_t operations = 0;  ///< number up to the last comparison
  std::vector<oracle::Finding> findings;
  std::vector<workload::FailedOperation> failed_operations;
};
/// Runs the workload on a mounted file system. Ends with the first comparison that finds a
/// difference.
Result<ComparedWork> work_and_compare(run::GuestSession& guest, const RestedWorkload& workload,
                                      const adapters::LinuxAdapter& filesystem);

}  // namespace headcrash::campaign
