#pragma once
// Creates a campaign's or benchmark's stored run, or finds it again for --resume.

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
  /// Repeats trials that ended with harness-error, even if the run is finished.
  bool redo_errors = false;
};

struct StoredRun {
  std::int64_t id = 0;
  std::set<std::string> finished;  ///< keys of the finished trials
  bool finished_before = false;    ///< the run was already complete, so no work is left
  RunLock lock;                    ///< prevents other processes from executing the run
  std::filesystem::path database_folder;
  std::filesystem::path folder;  ///< folder for artefacts; created on first use
};

/// Opens a run and locks it. With `resume`, chooses the newest unfinished run with the same digest,
/// or else the newest finished run. With `redo_errors`, chooses the newest run that has trials to
/// execute or repeat, and fails if there is no such run. Otherwise, creates a new run. Fails if
/// another process is executing the run.
Result<StoredRun> open_run(db::Database& database, const RunPlan& plan);

/// Returns the path of a trial's artefacts folder. Does not create the folder.
std::filesystem::path artefact_path(const StoredRun& run, const std::string& key);

/// Creates an empty folder for a trial's artefacts. Removes files left by an interrupted trial with
/// the same key.
Result<std::filesystem::path> artefact_folder(const StoredRun& run, const std::string& key);

}  // namespace headcrash::run
