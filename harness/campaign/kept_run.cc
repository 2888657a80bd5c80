// Finding or beginning a run (kept_run.h).
#include "harness/campaign/kept_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/campaign/environment.h"
#include "harness/crash/verdict.h"

namespace headcrash::campaign {
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
                             .accelerator = plan.accelerator == vm::Accelerator::kvm ? "kvm" : "tcg"});
}

Result<std::optional<std::int64_t>> run_with_errors(db::Database& database, const std::string& digest) {
  const auto newest = database.newest_run_of(digest);
  if (!newest) return pass_on(newest);
  if (!*newest)
    return fail(database.path().string(), "has no run of this campaign", "leave --redo-errors out");
  const auto forgotten =
      database.forget_trials(**newest, std::string(crash::name(crash::Verdict::harness_error)));
  if (!forgotten) return pass_on(forgotten);
  const auto unfinished = database.unfinished_run(digest);
  if (!unfinished || *unfinished == *newest) return unfinished;
  return fail(database.path().string(), "has no trial of this campaign's newest run to do again",
              "leave --redo-errors out");
}

}  // namespace

Result<KeptRun> open_run(db::Database& database, const RunPlan& plan) {
  KeptRun kept;
  const std::string digest = fmt::format("{}-{}/{}", plan.digest, plan.shard.index, plan.shard.count);
  std::optional<std::int64_t> id;
  if (plan.redo_errors) {
    const auto again = run_with_errors(database, digest);
    if (!again) return pass_on(again);
    id = *again;
  } else if (plan.resume) {
    const auto unfinished = database.unfinished_run(digest);
    if (!unfinished) return pass_on(unfinished);
    id = *unfinished;
  }
  if (id) {
    auto known = database.finished_trials(*id);
    if (!known) return pass_on(known);
    kept.finished = std::move(*known);
    // A merged run knows only of the shards that it was made of.
    const auto planned = database.resume_run(*id, static_cast<std::int64_t>(plan.trials));
    if (!planned) return pass_on(planned);
  } else {
    const auto begun = begin(database, plan, digest);
    if (!begun) return pass_on(begun);
    id = *begun;
  }
  kept.id = *id;
  kept.database_folder = fs::absolute(database.path()).parent_path();
  kept.folder =
      kept.database_folder / (database.path().stem().string() + ".artefacts") / fmt::format("run-{}", *id);
  return kept;
}

fs::path artefact_path(const KeptRun& run, const std::string& key) {
  std::string leaf = key;
  std::replace(leaf.begin(), leaf.end(), '/', '.');
  return run.folder / leaf;
}

Result<fs::path> artefact_folder(const KeptRun& run, const std::string& key) {
  fs::path folder = artefact_path(run, key);
  std::error_code error;
  fs::remove_all(folder, error);
  fs::create_directories(folder, error);
  if (error) return fail(folder.string(), error.message(), "make the database's folder writable");
  return folder;
}

}  // namespace headcrash::campaign
