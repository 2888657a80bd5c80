#pragma once
// Runs one workload on a fresh file system in virtual time, and records the driver's queue.
//
//   mount  mark "begin"  operation, mark "persisted N", a pause ...  mark "end"  5 minutes of rest
//
// The rest at the end lets the daemons finish their work.
//
// A SUBMIT event is recorded when a write is issued to the driver, an ACK event when the write
// completes. A completed write is durable, because the modelled disk has no write cache. Writes are
// therefore recorded with FUA, and the unflushed writes at a cut are those that are queued or at
// the disk. order_rules.h defines the orders in which the driver may issue these writes. Random
// pauses between operations let the syncer write back at any point of the workload. The pauses cost
// nothing, because they take only virtual time.
//
// Each thread of the list is a user on a separate fiber. As with the agent, persistence points are
// reported in list order: after a persistence point, a user waits until all earlier ones have been
// reported (operation.h).
//
// The disk serves one request at a time. The driver selects the next request with an elevator, or
// at random among the requests that its rules permit (os/disk_schedule.h). With a random order, a
// request for which no fiber waits may be delayed for a long time.
//
// A run has settled at an event if the file system has nothing pending. This is the case after a
// sync has returned, if no other user was active and no write was in flight, and also after the
// five minutes at the end. At such a cut, a check may find only wrong totals, and the free space on
// the disk must equal the file system's count in memory. After the five minutes, the tree of the
// mounted file system must also equal the tree on the disk. When the recording has ended, the file
// system is unmounted and mounted again, and the new mount must have the same free space.
//
// If the system has snapshots, one is created before the first operation and dropped after three
// quarters of the list. Another is created in the middle of the list (kept_snapshots.h).
//
// With faults (RunOptions::faults), requests of the mounted system fail, and the run continues:
//
//   mount  mark "begin"  operation, pause ...  mark "end"  rest  unmount  a time without writes
//                        ^ requests fail from here on
//
// A failed fsync or sync promises nothing and may be retried. Any other operation that fails with
// EIO ends the run, because the oracle cannot follow its effects in memory. The recording ends with
// the unmount and contains the effects of failed writes (queue_recorder.h). Its states are judged
// like those of other runs: a cut leaves only damage that the scheme permits, and all data that a
// successful fsync or sync covered. Two more rules apply:
//
//   honest unmount   if the file system claims to be clean, fsck finds nothing; if the unmount
//                    succeeds, the file system makes this claim
//   nothing later    no write follows an unmount
//
// With RunOptions::schedule, a seed determines the order of fibers (os/fiber_schedule.h). Change
// points of the schedule are counted from the first join on, because only one user is active before
// it.
//
// In a shared history (RunOptions::shared_names), users change the same names (shared_names.h). Any
// call may fail. The results and the final tree must agree with a serial order (serial_order.h).
// The run ends with an unmount, and the image must then have the same tree. No persistence point is
// reported, and only the structure of crash states is judged.

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

inline constexpr std::uint64_t kFirstBusyOrder = 6;

struct RunOptions {
  std::uint64_t seed = 1;  ///< seed for the pauses
  /// Maximum pause between operations. Most pauses are 0.
  std::int64_t pause_ns_max = 20'000'000'000;
  std::uint64_t cache_bytes = 4 << 20;
  /// Selects the order in which the driver serves requests. 0: an elevator, with 10 ms per request.
  /// Other values are the seed of a random order, and also select conditions of the run:
  ///
  /// * odd numbers: if there are several users, system calls cost processor time, so that users
  ///   interleave inside operations. An operation that fails with ENOSPC must not have changed the
  ///   file's size or bytes outside of its range; it is repeated after a sync, and must fail again.
  /// * even numbers: system calls cost no processor time. Memory is short, so unused inodes are
  ///   evicted after every disk completion.
  /// * 3, 7, 11, ...: there are no pauses, so pending requests accumulate.
  /// * 2, 6, 10, ...: clean blocks are also evicted after every disk completion.
  /// * from kFirstBusyOrder on: pauses end while the disk is busy, so that operations meet commits
  ///   and write-back.
  std::uint64_t order = 0;
  std::vector<os::DiskFault> faults = {};
  bool unmount = false;  ///< unmount at the end; a run with faults always unmounts
  /// Seed for the order of fibers; 0 for FIFO.
  std::uint64_t schedule = 0;
  std::uint64_t omitted_changes = 0;  ///< os::FiberScheduleOptions::omitted
  /// If not null, replaces `schedule`. The object must outlive the run and must not have been used
  /// by another run.
  os::FiberSchedule* own_schedule = nullptr;
  bool shared_names = false;  ///< the operations are a shared history (see above)
};

enum class Unmount : std::uint8_t { none, failed, succeeded };

/// Describes how the injected faults affected a run.
struct MetFaults {
  std::uint64_t failed_requests = 0;
  std::uint64_t failed_syncs = 0;  ///< number of fsync and sync calls that returned EIO
  /// The operation that failed with EIO and thereby ended the run; empty if no operation did.
  std::string ended_by;
  std::optional<std::uint64_t> first_failure;  ///< the cut directly after the first failure
  /// Cuts at which the medium is most likely to have wrong contents: after a failure, after the
  /// next successful syncs, and before and after the unmount.
  std::vector<std::uint64_t> informative;
};

struct RecordedRun {
  std::filesystem::path recording;
  std::vector<workload::FailedOperation> failed_operations;
  std::uint64_t from_event = 0, to_event = 0;
  OrderRules rules;
  /// The file system's space counts at each cut at which nothing was pending, keyed by cut.
  std::map<std::uint64_t, adapters::Counters> settled;
  /// A violated promise that was detected during the run itself.
  std::optional<std::string> failure;
  std::size_t executed = 0;         ///< number of operations executed by all users
  Unmount unmount = Unmount::none;  ///< how the unmount at the end of the run ended
  MetFaults met;
  std::vector<KeptSnapshot> snapshots;
  bool shared_names = false;

  /// Returns, for the oracle, the part of the list that was executed. Returns nullopt for a shared
  /// history.
  std::optional<std::span<const workload::Operation>> judged(
      std::span<const workload::Operation> operations) const {
    if (shared_names) return std::nullopt;
    return operations.first(executed);
  }
  /// Returns the file system's counts at the cut of `state`. Returns nullopt if something was
  /// pending at this cut, or if the state lacks a write.
  std::optional<adapters::Counters> settled_at(const states::CrashState& state) const {
    const auto found = settled.find(state.event);
    if (found == settled.end() || !state.listed.empty() || !state.torn.empty()) return std::nullopt;
    return found->second;
  }
  /// Returns the result of the unmount if the cut of `state` is after the unmount; otherwise,
  /// returns Unmount::none.
  Unmount unmounted_at(const states::CrashState& state) const {
    return state.event == to_event ? unmount : Unmount::none;
  }
};

os::FiberScheduleOptions schedule_of(std::span<const workload::Operation> operations,
                                     const RunOptions& options);

/// Records a run. Replaces `recording` and modifies `disk`. The same arguments always give the same
/// recording. Fails if the system cannot be mounted or the directory is not writable.
Result<RecordedRun> record_run(const FormattedDisk& formatted, StateDisk& disk,
                               const adapters::SystemUnderTest& system,
                               std::span<const workload::Operation> operations,
                               const RunOptions& options, const std::filesystem::path& recording);

}  // namespace headcrash::in_process
