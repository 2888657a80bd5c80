#pragma once
// One workload on a fresh file system in virtual time, recorded as the driver's queue saw it.
//
//   mount  mark "begin"  operation, mark "persisted N", a pause ...  mark "end", five minutes for the daemons
//
// SUBMIT is the instant at which a write was issued to the driver, ACK the one at which it was complete, and
// a complete write is durable (the paper's disk has no write cache): writes are recorded with FUA, and what
// is loose at a cut is what was queued or at the disk. What the driver had been told about their order lies
// beside it (order_rules.h). Pauses of random length between the operations let the syncer write behind at
// every place of the workload; the virtual clock gives them away.
//
// Threads of the list are users on fibers of their own. As with the agent, points are told in the order of
// the list: who has passed one waits until all before it are told (operation.h).
//
// The disk serves one request at a time. Which one is the driver's choice: an elevator's, or one drawn from
// a seed among those that its rules let go (os/disk_schedule.h), so that what nobody waits for stays behind.
//
// Where a sync has returned, no user does anything and no write is under way, the file system owes nothing:
// the run has settled there, and so it has after the daemons' five minutes. A check may then find nothing but
// totals.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/ufs/scheme_variants.h"
#include "harness/lab/in_process/formatted_disk.h"
#include "harness/lab/in_process/order_rules.h"
#include "harness/lab/in_process/state_disk.h"
#include "harness/workload/operation.h"

namespace headcrash::in_process {

struct RunOptions {
  std::uint64_t seed = 1;                      ///< of the pauses
  std::int64_t pause_ns_max = 20'000'000'000;  ///< between two operations; most pauses are none
  std::uint64_t cache_bytes = 4 << 20;
  /// 0: the elevator, 10 ms a request; else the seed of a shuffled order. With an odd one several users have
  /// a slow processor and meet in the middle of their operations; else it takes no time.
  std::uint64_t order = 0;
};

struct RecordedRun {
  std::filesystem::path recording;
  std::vector<workload::Mishap> mishaps;
  std::uint64_t from_event = 0, to_event = 0;
  OrderRules rules;
  std::vector<std::uint64_t> settled;  ///< cuts at which the file system owed nothing, rising
  std::optional<std::string> failure;  ///< the file system failed an operation before any cut

  /// True for what the disk held at a cut at which the file system owed nothing.
  bool is_settled(const states::CrashState& state) const {
    return state.listed.empty() && state.torn.empty() && std::ranges::binary_search(settled, state.event);
  }
};

/// Replaces the recording. `disk` is left changed. Errors: a scheme that does not mount, a folder that cannot
/// be written.
Result<RecordedRun> record_run(const FormattedDisk& formatted, StateDisk& disk,
                               const ufs::SchemeVariant& scheme,
                               std::span<const workload::Operation> operations, const RunOptions& options,
                               const std::filesystem::path& recording);

}  // namespace headcrash::in_process
