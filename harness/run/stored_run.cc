// Creates a stored run, or finds an existing one (stored_run.h).
#include "harness/run/stored_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/oracle/verdict.h"
#include "harness/run/environment.h"

namespace headcrash::run {
namespace {

namespace fs = std::filesystem;

Result<std::int64_t> begin(db::Database& database, const RunPlan& plan, const std::string& digest) {
  nlohmann::json versions = tool_versions();
  versions["guest kernel"] = plan.guest_kernel;
  return database.begin_run({.kind = plan.kind,
                             .name = plan.name,
                             .configuration = plan.configuration,
                             .digest = digest,
                             .seed = static_cast<std::int64_t>(plan.seed),
                             .trials_planned = static_cast<std::int64_t>(plan.trials),
                             .host_json = host_description().dump(),
                             .versions_json = versions.dump(),
                             .accelerator = vm::name(plan.accelerator)});
}

/// Deletes the trials that ended with harness-error. If there were any, marks the locked run as
/// unfinished. Fails if there were none and the run is already finished.
Result<void> forget_errors(db::Database& database, const std::string& digest, std::int64_t run) {
  TRY(database.forget_trials(run, std::string(oracle::name(oracle::Verdict::harness_error))));
  TRY(const auto unfinished, database.unfinished_run(digest));
  if (unfinished == run) return {};
  return fail(database.path().string(), "has no failed trial in the newest run of this campaign",
              "omit --redo-errors");
}

/// Finds the run that --resume or --redo-errors continues, and locks it. Returns false if no run
/// matches.
Result<bool> find(db::Database& database, const RunPlan& plan, const std::string& digest,
                  StoredRun& kept) {
  if (!plan.resume && !plan.redo_errors) return false;
  TRY(const auto unfinished, database.unfinished_run(digest));
  TRY(const auto newest, database.newest_run_of(digest));
  if (!newest && plan.redo_errors)
    return fail(database.path().string(), "has no run of this campaign", "omit --redo-errors");
  if (!newest) return false;
  kept.id = unfinished && !plan.redo_errors ? *unfinished : *newest;
  TRY(kept.lock.take(kept.id));
  if (plan.redo_errors) TRY(forget_errors(database, digest, kept.id));
  kept.finished_before = !plan.redo_errors && !unfinished;
  return true;
}

}  // namespace

Result<StoredRun> open_run(db::Database& database, const RunPlan& plan) {
  StoredRun kept;
  const std::string digest =
      fmt::format("{}-{}/{}", plan.digest, plan.shard.index, plan.shard.count);
  TRY(auto lock, RunLock::open(database.path()));
  kept.lock = std::move(lock);
  TRY(const auto found, find(database, plan, digest, kept));
  if (found) {
    TRY(auto known, database.finished_trials(kept.id));
    kept.finished = std::move(known);
  } else {
    TRY(const auto begun, begin(database, plan, digest));
    kept.id = begun;
    TRY(kept.lock.take(kept.id));
  }
  if (found && !kept.finished_before) {
    // Set the planned number of trials to that of the whole run. After a merge, the database has
    // only the number in the merged shards.
    TRY(database.resume_run(kept.id, static_cast<std::int64_t>(plan.trials)));
  }
  kept.lock.opened();
  kept.database_folder = fs::absolute(database.path()).parent_path();
  kept.folder = kept.database_folder / (database.path().stem().string() + ".artefacts") /
                fmt::format("run-{}", kept.id);
  return kept;
}

fs::path artefact_path(const StoredRun& run, const std::string& key) {
  std::string leaf = key;
  std::replace(leaf.begin(), leaf.end(), '/', '.');
  return run.folder / leaf;
}

Result<fs::path> artefact_folder(const StoredRun& run, const std::string& key) {
  fs::path folder = artefact_path(run, key);
  std::error_code error;
  fs::remove_all(folder, error);
  fs::create_directories(folder, error);
  if (error) return fail(folder.string(), error.message(), "make the database's folder writable");
  return folder;
}

}  // namespace headcrash::run
