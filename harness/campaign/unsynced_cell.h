#pragma once
// Measures one cell of `unsynced-loss`: a fresh file system in a guest with the kernel's writeback settings of the cell,
// rounds of changes in real time without fsync, a cut, and what a fresh guest finds (unsynced_ages.h).
//
// The drive is hp-c2447 with its write cache on, whose model time is the host's while the rounds run. All times are the
// recording's. A guest whose processor is emulated needs some milliseconds for a round.

#include <atomic>
#include <filesystem>

#include "harness/campaign/survey.h"
#include "harness/campaign/unsynced_plan.h"

namespace headcrash::campaign {

struct UnsyncedContext {
  vm::GuestImage image;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::filesystem::path cache, scratch;  ///< scratch: an existing folder of the cell's own
  std::uint64_t seed = 0;
  const std::atomic<bool>* interrupted = nullptr;
};

/// The trial's phase `workload` has the metrics `loss.*` (results/db/SCHEMA.md). Errors: nothing could be started, or it
/// was interrupted.
Result<db::TrialRecord> measure_unsynced(const UnsyncedCell& cell, const adapters::LinuxAdapter& filesystem,
                                         const UnsyncedContext& context);

/// Errors: an unknown cell; no guest; a database or folder that cannot be written.
Result<CampaignOutcome> run_unsynced_campaign(const UnsyncedCampaign& campaign,
                                              const CampaignOptions& options);

}  // namespace headcrash::campaign
