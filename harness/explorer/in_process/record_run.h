#pragma once
// One workload on a fresh file system in virtual time, recorded as the driver's queue saw it.
//
//   mount  mark "begin"  operation, mark "persisted N", a pause ...  mark "end", five minutes for the daemons
//
// SUBMIT is the instant at which a write was issued to the driver, ACK the one at which it was
// complete, and a complete write is durable (the paper's disk has no write cache): writes are
// recorded with FUA, and what is unflushed at a cut is what was queued or at the disk. What the
// driver knew about their order lies beside it (order_rules.h). Pauses of random length between the
// operations let the syncer write behind at every place of the workload; the virtual clock gives
// them away.
//
// Threads of the list are users on fibers of their own. As with the agent, points are reported in
// the order of the list: who has passed one waits until all before it are reported (operation.h).
//
// The disk serves one request at a time. Which one is the driver's choice: an elevator's, or one
// drawn from a seed among those that its rules let go (os/disk_schedule.h), so that what nobody
// waits for stays behind.
//
// Where a sync has returned, no user does anything and no write is under way, the file system owes
// nothing: the run has settled there, and so it has after the daemons' five minutes. A check may
// then find nothing but totals, and what is free on the disk is what the file system counts as free
// in memory.
//
// Of a system that keeps snapshots one is made before the first operation and dropped when three
// quarters of the list have been done, and another one is made in the middle (kept_snapshots.h).
//
// With faults (RunOptions::faults) requests of the mounted system fail, and the run continues:
//
//   mount  mark "begin"  operation, pause ...  mark "end"  the daemons  unmount  a while without writes
//                        ^ faults from here on
//
// fsync and sync that fail promise nothing and may be tried again. Any other operation that fails
// with EIO ends the run, since what it left in memory is not what the oracle can follow. The
// recording ends with the unmount, and knows what failed writes have left (queue_recorder.h), so
// that its states are judged like
// others: whatever has failed, a cut leaves what the scheme may leave, and what a successful fsync
// or sync covers. Beside that
//
//   honest unmount   a file system that says "clean" has nothing for fsck to find, and one whose unmount
//                    succeeds says so;
//   nothing later    after an unmount nothing is written any more.

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
  std::uint64_t seed = 1;                      ///< of the pauses
  std::int64_t pause_ns_max = 20'000'000'000;  ///< between two operations; most pauses are none
  std::uint64_t cache_bytes = 4 << 20;
  /// 0: the elevator, 10 ms a request; else the seed of a shuffled order. With an odd one several
  /// users have a slow processor and meet in the middle of their operations; else it takes no time.
  /// With 3, 7, 11 ... there are no pauses: much is owed at once. With 2, 6, 10 ... memory is
  /// short: what is clean leaves the cache whenever the disk has answered.
  std::uint64_t order = 0;
  std::vector<os::DiskFault> faults = {};
  bool unmount = false;  ///< at the end; with faults it always is
};

enum class Unmount : std::uint8_t { none, failed, succeeded };

/// What faults have done to a run.
struct MetFaults {
  std::uint64_t failed_requests = 0;
  std::uint64_t failed_syncs = 0;              ///< fsync and its kind that said EIO
  std::string ended_by;                        ///< the operation that failed; empty: none
  std::optional<std::uint64_t> first_failure;  ///< a cut: right after it
  /// Cuts at which what the medium holds tells most: after a failure, after a later sync that
  /// succeeded, before the unmount and after it.
  std::vector<std::uint64_t> telling;
};

struct RecordedRun {
  std::filesystem::path recording;
  std::vector<workload::FailedOperation> failed_operations;
  std::uint64_t from_event = 0, to_event = 0;
  OrderRules rules;
  /// Cuts at which the file system owed nothing, and what it counted there itself.
  std::map<std::uint64_t, adapters::Counters> settled;
  std::optional<std::string> failure;  ///< the file system broke its word before any cut
  std::size_t executed = 0;            ///< operations; of several users all
  Unmount unmount = Unmount::none;     ///< at the end
  MetFaults met;
  std::vector<KeptSnapshot> snapshots;

  /// What the file system counted, for what the disk held at a cut at which it owed nothing.
  std::optional<adapters::Counters> settled_at(const states::CrashState& state) const {
    const auto found = settled.find(state.event);
    if (found == settled.end() || !state.listed.empty() || !state.torn.empty()) return std::nullopt;
    return found->second;
  }
  /// What had become of the unmount at a cut.
  Unmount unmounted_at(const states::CrashState& state) const {
    return state.event == to_event ? unmount : Unmount::none;
  }
};

/// Replaces the recording. `disk` is left changed. Errors: a system that does not mount, a folder
/// that cannot be written. Equal arguments give equal recordings.
Result<RecordedRun> record_run(const FormattedDisk& formatted, StateDisk& disk,
                               const adapters::SystemUnderTest& system,
                               std::span<const workload::Operation> operations,
                               const RunOptions& options, const std::filesystem::path& recording);

}  // namespace headcrash::in_process
