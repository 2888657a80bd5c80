#pragma once
// The run that campaigns and benchmarks keep their trials under: found again for --resume, or
// begun.

#include <filesystem>
#include <set>
#include <string>

#include "harness/run/run_lock.h"
#include "harness/vm/guest.h"
#include "results/db/database.h"

namespace headcrash::run {

struct Shard {
  std::size_t index = 0;  ///< from 0
  std::size_t count = 1;
};

struct RunPlan {
  std::string kind;  ///< "campaign", "bench"
  std::string name, configuration;
  std::uint64_t seed = 0;
  std::string digest;  ///< of all that shapes the trials, the shard left out
  Shard shard;
  std::size_t trials = 0;
  std::string guest_kernel;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  bool resume = false;
  bool redo_errors =
      false;  ///< with a finished run, too: what ended as harness-error is to be done again
};

struct StoredRun {
  std::int64_t id = 0;
  std::set<std::string> finished;  ///< keys of the trials that are there
  bool finished_before = false;    ///< all of it was: there is nothing to do
  RunLock lock;                    ///< no other process executes the run meanwhile
  std::filesystem::path database_folder;
  std::filesystem::path
      folder;  ///< where this run keeps its artefacts; made with the first of them
};

/// With `resume` the newest unfinished run of the same digest, or the newest finished one if all
/// are; with `redo_errors` the newest one that has something to do (again). If there is none a new
/// one, but with `redo_errors` an error. It is an error, too, if another process executes the run.
Result<StoredRun> open_run(db::Database& database, const RunPlan& plan);

/// Where a trial's artefacts belong; nothing is made.
std::filesystem::path artefact_path(const StoredRun& run, const std::string& key);

/// A folder of its own for what a trial leaves, empty also after one of the same key that was cut
/// off.
Result<std::filesystem::path> artefact_folder(const StoredRun& run, const std::string& key);

}  // namespace headcrash::run
