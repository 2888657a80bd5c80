#pragma once
// The stored run of a campaign or benchmark. It is created, or found again for --resume.

#include <filesystem>
#include <set>
#include <string>

#include "harness/run/run_lock.h"
#include "harness/vm/guest.h"
#include "results/db/database.h"

namespace headcrash::run {

struct Shard {
  std::size_t index = 0;  ///< starts at 0
  std::size_t count = 1;
};

struct RunPlan {
  std::string kind;  ///< "campaign" or "bench"
  std::string name, configuration;
  std::uint64_t seed = 0;
  std::string digest;  ///< digest of all settings that shape the trials, without the shard
  Shard shard;
  std::size_t trials = 0;
  std::string guest_kernel;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  bool resume = false;
  bool redo_errors = false;  ///< repeat trials that ended as harness-error, also of a finished run
};

struct StoredRun {
  std::int64_t id = 0;
  std::set<std::string> finished;  ///< keys of the stored trials
  bool finished_before = false;    ///< the run was complete; nothing to do
  RunLock lock;                    ///< excludes other processes
  std::filesystem::path database_folder;
  std::filesystem::path folder;  ///< folder for artefacts; created on first use
};

/// Opens a run and locks it. With `resume`, chooses the newest unfinished run with the same digest,
/// or else the newest finished one. With `redo_errors`, chooses the newest one with trials left or
/// to be repeated, and fails without one. Otherwise creates a new run. Fails if another
/// process executes the run.
Result<StoredRun> open_run(db::Database& database, const RunPlan& plan);

/// Returns the folder of a trial's artefacts without creating it.
std::filesystem::path artefact_path(const StoredRun& run, const std::string& key);

/// Creates an empty folder for a trial's artefacts. Removes files of an interrupted trial with the
/// same key.
Result<std::filesystem::path> artefact_folder(const StoredRun& run, const std::string& key);

}  // namespace headcrash::run
