#pragma once
// One repetition of one cell: a fresh emulated disk, a restored guest, and the workload's phases.
//
//   server + guest -> mkfs, mount (setup clock)
//   each phase:  new statistics   | the agent runs it | statistics | sync, until idle | statistics
//                                 <--- elapsed --->             <-- to quiescence ->
//
// Phases that only prepare or verify use the setup clock. Their data is on the device before a
// measured phase begins.

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

#include "harness/bench/plan.h"
#include "harness/vm/guest.h"
#include "results/db/database.h"

namespace headcrash::bench {

struct BenchTrialContext {
  const Bench* bench = nullptr;
  vm::GuestImage image;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::filesystem::path cache;      ///< saved guest states
  std::filesystem::path scratch;    ///< existing directory for this trial; the caller removes it
  std::filesystem::path artefacts;  ///< directory for artefacts; created on first use
  /// Directory to which the stored paths of artefacts are relative.
  std::filesystem::path database_folder;
  const std::atomic<bool>* interrupted = nullptr;
  /// Called at the start of each phase; may be empty.
  std::function<void(const std::string& phase)> on_phase;
};

/// Runs a trial. Fails on errors that would affect every trial (no plugin, no guest, an invalid
/// profile), or if interrupted. An error inside the guest yields a failed trial: the verdict is
/// db::kFailed, the summary gives the reason, and there are no measurements.
Result<db::TrialRecord> run_bench_trial(const BenchTrialPlan& plan,
                                        const BenchTrialContext& context);

}  // namespace headcrash::bench
