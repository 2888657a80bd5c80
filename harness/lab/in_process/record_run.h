#pragma once
// One workload on a fresh file system in virtual time, recorded as the driver's queue saw it.
//
//   mount  mark "begin"  operation, mark "persisted N", a pause ...  mark "end", a minute for the daemons
//
// SUBMIT is the instant at which a write was issued to the driver, ACK the one at which it was complete, and
// a complete write is durable (the paper's disk has no write cache): writes are recorded with FUA, and what
// is loose at a cut is what was queued or at the disk. What the driver had been told about their order lies
// beside it (order_rules.h). Pauses of random length between the operations let the syncer write behind at
// every place of the workload; the virtual clock gives them away.

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
};

struct RecordedRun {
  std::filesystem::path recording;
  std::vector<workload::Mishap> mishaps;
  std::uint64_t from_event = 0, to_event = 0;
  OrderRules rules;
  std::optional<std::string> failure;  ///< the file system failed an operation before any cut
};

/// Replaces the recording. `disk` is left changed. Errors: a scheme that does not mount, threads, a folder
/// that cannot be written.
Result<RecordedRun> record_run(const FormattedDisk& formatted, StateDisk& disk,
                               const ufs::SchemeVariant& scheme,
                               std::span<const workload::Operation> operations, const RunOptions& options,
                               const std::filesystem::path& recording);

}  // namespace headcrash::in_process
