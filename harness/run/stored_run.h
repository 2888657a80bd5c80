#pragma once
// Creates the stored run of a campaign or benchmark, or finds an existing one for --resume.

#include <filesystem>
#include <set>
#include <string>

#include "harness/run/run_lock.h"
#include "harness/vm/guest.h"
#include "results/db/database.h"

namespace headcrash::run {

struct Shard {
  std::size_t index = 0;  ///< counted from 0
  std::size_t count = 1;
};

struct RunPlan {
  std::string kind;  ///< "campaign" or "bench"
  std::string name, configuration;
  std::uint64_t seed = 0;
  std::string digest;  ///< digest of all settings that affect the trials, except the shard
  Shard shard;
  std::size_t trials = 0;
  std::string guest_kernel;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  bool resume = false;
  /// If true, trials that ended with harness-error are repeated, even in a run that is complete.
  bool redo_errors = false;
};

struct StoredRun {
  std::int64_t id = 0;
  std::set<std::string> finished;  ///< keys of the finished trials
  bool finished_before = false;    ///< the run was already complete, so no work is left
  RunLock lock;                    ///< prevents other processes from executing the run
  std::filesystem::path database_folder;
  std::filesystem::path folder;  ///< directory for artefacts; created on first use
};

/// Opens a run and locks it. With `resume`, opens the newest unfinished run that has the same
/// digest or, if there is no such run, the newest finished one. With `redo_errors`, opens the
/// newest run that has trials to execute or repeat, and fails if there is no such run. Otherwise,
/// creates a new run. Fails if another process is executing the run.
Result<StoredRun> open_run(db::Database& database, const RunPlan& plan);

/// Returns the path of the directory for a trial's artefacts. Does not create the directory.
std::filesystem::path artefact_path(const StoredRun& run, const std::string& key);

/// Creates an empty directory for a trial's artefacts. If an interrupted trial with the same key
/// has left files there, removes them.
Result<std::filesystem::path> artefact_folder(const StoredRun& run, const std::string& key);

}  // namespace headcrash::run
