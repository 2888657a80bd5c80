#pragma once
// One crash-and-recover trial, from an empty emulated disk to a verdict:
//
//   server + guest --> mkfs --> mount, workload --> cut --> guest killed, power on, fresh guest
//                  --> replay --> read-only check (and repair) --> mount, dump --> oracle --> verdict
//
// Each step is a phase with its own wall time and device statistics. Everything random follows from
// the plan's seed.

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
  std::filesystem::path scratch;    ///< existing folder of this trial's own; the caller removes it
  std::filesystem::path artefacts;  ///< existing folder that is kept
  std::filesystem::path database_folder;  ///< artefact paths are stored relative to it
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const std::string& phase)> on_phase;  ///< for progress; may be empty
};

/// Errors: what would fail every trial alike (no plugin, no guest, bad profile), or an
/// interruption. What goes wrong in the guest is a verdict.
Result<db::TrialRecord> run_trial(const TrialPlan& plan, const TrialContext& context);

}  // namespace headcrash::campaign
