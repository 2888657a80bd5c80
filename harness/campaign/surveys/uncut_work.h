#pragma once
// A workload to its end without a power cut: what the file system shows must be exactly what the
// operations make of the oracle's reference.
//
//   operations ... rest   operations ... rest   ...
//                  |                     |
//                  dump the mounted tree
//
// At a rest threads have met, nothing is open, and a sync has ended: all is "persistent", so that
// the reference has no choice.
//
// A file system that does not hear of sync(2) (Promises::sync_waits) is not spared: nothing is cut,
// and everything is there for who looks through the kernel.

#include <span>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/oracle/verdict.h"
#include "harness/run/guest_session.h"

namespace headcrash::campaign {

/// A list that rests, so that its parts can be sent one by one.
struct RestedWorkload {
  std::vector<workload::Operation> operations;
  std::vector<std::size_t>
      rests;  ///< each the number of operations before it; the last: all of them
};
/// After `every` operations, or as soon afterwards as nothing is open.
RestedWorkload with_rests(const std::vector<workload::Operation>& operations, std::size_t every);

/// Between the tree and what the operations up to a rest have made.
Result<std::vector<oracle::Finding>> differences(
    std::span<const workload::Operation> operations,
    const std::vector<workload::FailedOperation>& failed_operations,
    const adapters::LinuxAdapter& filesystem, const std::vector<oracle::ObservedObject>& tree);

struct ComparedWork {
  std::size_t operations = 0;  ///< until the last comparison
  std::vector<oracle::Finding> findings;
  std::vector<workload::FailedOperation> failed_operations;
};
/// The file system is mounted. Ends with the first comparison that finds something.
run::Step<ComparedWork> work_and_compare(run::GuestSession& guest, const RestedWorkload& workload,
                                         const adapters::LinuxAdapter& filesystem);

}  // namespace headcrash::campaign
