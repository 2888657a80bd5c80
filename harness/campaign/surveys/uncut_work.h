#pragma once
// Runs a workload to its end without a power cut. The file system must show exactly the tree that
// the operations create on the oracle's reference.
//
//   operations ... rest   operations ... rest   ...
//                  |                     |
//                  dump the mounted tree
//
// At a rest, threads have joined, no file is open, and a sync has returned. Everything counts as
// persistent, so the reference permits only one tree.
//
// This also tests file systems that are not notified of sync(2) (Promises::sync_waits), because
// without a cut everything is visible through the kernel.

#include <span>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/oracle/verdict.h"
#include "harness/run/guest_session.h"

namespace headcrash::campaign {

/// A list of operations with rests, which divide it into parts that can be sent separately. A rest
/// is a sync, preceded by a join if there are several threads.
struct RestedWorkload {
  std::vector<workload::Operation> operations;
  /// For each rest, the number of operations up to the end of its sync. The last rest ends the
  /// list.
  std::vector<std::size_t> rests;
};
/// Adds a rest after every `every` operations. If a file is open at that point, the rest follows
/// the operation that closes the file.
RestedWorkload with_rests(const std::vector<workload::Operation>& operations, std::size_t every);

/// Returns the differences between `tree` and the oracle's reference tree after these operations.
Result<std::vector<oracle::Finding>> differences(
    std::span<const workload::Operation> operations,
    const std::vector<workload::FailedOperation>& failed_operations,
    const adapters::LinuxAdapter& filesystem, const std::vector<oracle::ObservedObject>& tree);

struct ComparedWork {
  std::size_t operations = 0;  ///< number of operations before the last comparison
  std::vector<oracle::Finding> findings;
  std::vector<workload::FailedOperation> failed_operations;
};
/// Runs the workload on a mounted file system. Stops at the first comparison that finds a
/// difference.
Result<ComparedWork> work_and_compare(run::GuestSession& guest, const RestedWorkload& workload,
                                      const adapters::LinuxAdapter& filesystem);

}  // namespace headcrash::campaign
