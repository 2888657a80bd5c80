#pragma once
// One repetition of one cell: a fresh emulated disk, a restored guest, and the phases of the
// workload.
//
//   server + guest -> mkfs, mount (setup clock)
//   each phase:  new statistics   | the agent runs it | statistics | sync, until all is quiet | statistics
//                                 <--- elapsed --->             <-- to quiescence ->
//
// Phases that only prepare or verify run by the setup clock, and nothing of theirs is left to write
// when a measured one begins.

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
  std::filesystem::path scratch;    ///< existing folder of this trial's own; the caller removes it
  std::filesystem::path artefacts;  ///< made only when there is something to keep
  std::filesystem::path database_folder;  ///< artefact paths are stored relative to it
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const std::string& phase)> on_phase;  ///< for progress; may be empty
};

/// Errors: what would fail every trial alike (no plugin, no guest, bad profile), or an
/// interruption. What goes wrong in the guest makes a failed trial: its verdict is kFailed, its
/// summary the reason, and it has no measure.
Result<db::TrialRecord> run_bench_trial(const BenchTrialPlan& plan,
                                        const BenchTrialContext& context);

}  // namespace headcrash::bench
