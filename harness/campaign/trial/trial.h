#pragma once
// One trial, which crashes and recovers a file system, from an empty emulated disk to a verdict:
//
//   server + guest --> mkfs --> mount, workload --> cut --> guest killed, power on, fresh guest
//                  --> replay --> read-only check (and repair) --> mount, dump --> oracle
//                  --> verdict
//
// Each step is a phase with its wall time and device statistics. The plan's seed determines all
// random choices.

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

#include "harness/campaign/campaign_file.h"
#include "harness/vm/guest.h"
#include "results/db/database.h"

namespace headcrash::campaign {

struct TrialContext {
  const Campaign* campaign = nullptr;
  vm::GuestImage image;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::filesystem::path cache;      ///< saved guest states
  std::filesystem::path scratch;    ///< existing directory for this trial; the caller removes it
  std::filesystem::path artefacts;  ///< existing directory, which is kept after the trial
  /// Directory to which the stored paths of artefacts are relative.
  std::filesystem::path database_folder;
  const std::atomic<bool>* interrupted = nullptr;
  /// Called at the start of each phase; may be empty.
  std::function<void(const std::string& phase)> on_phase;
};

/// Runs a trial. Fails on errors that would affect every trial (no plugin, no guest, an invalid
/// profile), or if interrupted. Errors in the guest become verdicts.
Result<db::TrialRecord> run_trial(const TrialPlan& plan, const TrialContext& context);

}  // namespace headcrash::campaign
