#pragma once
// Runs one workload on a fresh file system in virtual time, and records the driver's queue.
//
//   mount  mark "begin"  operation, mark "persisted N", a pause ...  mark "end", five minutes for
//                                                                    the daemons
//
// SUBMIT is the instant at which a write is issued to the driver, ACK the one at which it
// completes. A complete write is durable, because the paper's disk has no write cache: writes are
// recorded with FUA, and the writes unflushed at a cut are those in the queue or at the disk.
// order_rules.h holds the driver's knowledge about their order. Pauses of random length between
// operations let the syncer write back at every place of the workload; in virtual time they cost
// nothing.
//
// Threads of the list are users on separate fibers. As with the agent, points are reported in list
// order: after a point, a user waits until all earlier points have been reported (operation.h).
//
// The disk serves one request at a time. The driver selects it by an elevator, or at random among
// those that its rules permit (os/disk_schedule.h), so that requests without a waiter are delayed.
//
// After a sync has returned, if no user is active and no write is in flight, the file system has
// nothing pending: the run has settled. It has also settled after the daemons' five minutes. A
// check may then find only wrong totals, and the free space on the disk must equal the file
// system's count in memory. After the five minutes, the tree that the mounted file system shows
// must also be the one on the disk.
//
// For a system with snapshots, one is created before the first operation and dropped after three
// quarters of the list, and another is created in the middle (kept_snapshots.h).
//
// With faults (RunOptions::faults) requests of the mounted system fail, and the run continues:
//
//   mount  mark "begin"  operation, pause ...  mark "end"  the daemons  unmount  a while without
//                                                                                writes
//                        ^ faults from here on
//
// A failed fsync or sync promises nothing and may be retried. Any other operation that fails with
// EIO ends the run, since the oracle cannot follow its effects in memory. The recording ends with
// the unmount and contains the effects of failed writes (queue_recorder.h), so its states are
// judged like others: a cut leaves what the scheme permits, and everything covered by a successful
// fsync or sync. In addition:
//
//   honest unmount   a file system that claims to be clean has no findings of fsck, and one whose
//                    unmount succeeds makes this claim;
//   nothing later    no write follows an unmount.
//
// With RunOptions::schedule, fibers run in an order that a seed determines (os/fiber_schedule.h).
// Its change points are counted from the first join on, because only one user works before it.
//
// In a shared history (RunOptions::shared_names) users change the same names (shared_names.h). Any
// call may fail. The results and the final tree must agree with a serial order (serial_order.h).
// The run ends with an unmount, after which the image must have the same tree. No persistence point
// is reported, and only the structure of crash states is judged.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/faulty_disk.h"
#include "fs-adapters/system_under_test.h"
#include "harness/explorer/in_process/formatted_disk.h"
#include "harness/explorer/in_process/kept_snapshots.h"
#include "harness/explorer/in_process/order_rules.h"
#include "harness/explorer/in_process/state_disk.h"
#include "harness/workload/operation.h"

namespace headcrash::in_process {

struct RunOptions {
  std::uint64_t seed = 1;  ///< seed for the pauses
  /// Maximum pause between operations; most pauses are 0.
  std::int64_t pause_ns_max = 20'000'000'000;
  std::uint64_t cache_bytes = 4 << 20;
  /// Selects the order in which requests are served. 0: an elevator, with 10 ms per request.
  /// Otherwise, the seed for a random order. If it is odd and there are several users, system calls
  /// cost processor time, so that users interleave inside operations; otherwise, they cost none.
  /// With 3, 7, 11 ... there are no pauses, and pending requests accumulate. With 2, 6, 10 ...
  /// memory is short: clean blocks are evicted after every disk completion.
  std::uint64_t order = 0;
  std::vector<os::DiskFault> faults = {};
  bool unmount = false;  ///< unmounts at the end; always done if there are faults
  /// Seed for the order of fibers; 0 for FIFO.
  std::uint64_t schedule = 0;
  std::uint64_t omitted_changes = 0;  ///< os::FiberScheduleOptions::omitted
  /// Overrides `schedule` if not null. Must be unused, and outlive the run.
  os::FiberSchedule* own_schedule = nullptr;
  bool shared_names = false;  ///< a shared history
};

enum class Unmount : std::uint8_t { none, failed, succeeded };

/// How faults affected a run.
struct MetFaults {
  std::uint64_t failed_requests = 0;
  std::uint64_t failed_syncs = 0;  ///< number of fsync and sync calls that returned EIO
  /// the operation that failed with EIO and ended the run; empty if no operation did
  std::string ended_by;
  std::optional<std::uint64_t> first_failure;  ///< the cut directly after the first failure
  /// Cuts at which the medium's contents are most informative: after a failure, after a later
  /// successful sync, and before and after the unmount.
  std::vector<std::uint64_t> informative;
};

struct RecordedRun {
  std::filesystem::path recording;
  std::vector<workload::FailedOperation> failed_operations;
  std::uint64_t from_event = 0, to_event = 0;
  OrderRules rules;
  /// Cuts at which the file system had nothing pending, with its counts at each.
  std::map<std::uint64_t, adapters::Counters> settled;
  std::optional<std::string> failure;  ///< a promise that was broken before any cut
  std::size_t executed = 0;            ///< number of operations executed by all users
  Unmount unmount = Unmount::none;     ///< how the unmount at the end of the run ended
  MetFaults met;
  std::vector<KeptSnapshot> snapshots;
  bool shared_names = false;

  /// Returns the executed part of the list, for the oracle; nullopt for a shared history.
  std::optional<std::span<const workload::Operation>> judged(
      std::span<const workload::Operation> operations) const {
    if (shared_names) return std::nullopt;
    return operations.first(executed);
  }
  /// Returns the file system's counts at the cut of `state`, if nothing was pending at this cut and
  /// the state lacks no write.
  std::optional<adapters::Counters> settled_at(const states::CrashState& state) const {
    const auto found = settled.find(state.event);
    if (found == settled.end() || !state.listed.empty() || !state.torn.empty()) return std::nullopt;
    return found->second;
  }
  /// Returns how the unmount had ended at the cut of `state`.
  Unmount unmounted_at(const states::CrashState& state) const {
    return state.event == to_event ? unmount : Unmount::none;
  }
};

/// Returns the schedule for a run of these operations.
os::FiberScheduleOptions schedule_of(std::span<const workload::Operation> operations,
                                     const RunOptions& options);

/// Records a run. Replaces the recording and leaves `disk` changed. Equal arguments give equal
/// recordings. Fails if the system does not mount or the folder is unwritable.
Result<RecordedRun> record_run(const FormattedDisk& formatted, StateDisk& disk,
                               const adapters::SystemUnderTest& system,
                               std::span<const workload::Operation> operations,
                               const RunOptions& options, const std::filesystem::path& recording);

}  // namespace headcrash::in_process
