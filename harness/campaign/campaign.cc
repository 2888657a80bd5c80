// Runs trials concurrently, and stores each result as soon as the trial has ended (campaign.h).
#include "harness/campaign/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "harness/campaign/trial/explored_trial.h"
#include "harness/campaign/trial/trial.h"
#include "harness/run/guest_kind.h"
#include "harness/run/side_by_side.h"
#include "harness/run/time_left.h"
#include "plugin/base/scratch_folder.h"

namespace headcrash::campaign {
namespace {

namespace fs = std::filesystem;

class Runner {
 public:
  Runner(const Campaign& campaign, const CampaignOptions& options, db::Database database)
      : campaign_(campaign), options_(options), database_(std::move(database)) {}

  Result<CampaignOutcome> run() {
    accelerator_ = run::accelerator_of(campaign_.virtual_time, options_.cache);
    TRY(auto images, vm::guest_images(options_.cache, guests_of(campaign_), accelerator_));
    images_ = std::move(images);
    TRY(prepare());
    if (!todo_.empty()) base::sweep_scratch_folders();
    TRY(run::side_by_side(options_.jobs, todo_.size(), options_.interrupted, [this] {
      return [this, worker = make_explorer()](std::size_t index) {
        return run_one(plans_[todo_[index]], worker.get());
      };
    }));
    outcome_.interrupted = outcome_.done_before + outcome_.done_now < outcome_.planned;
    outcome_.finished_before = kept_.finished_before && todo_.empty();
    if (!outcome_.interrupted && !outcome_.finished_before) {
      TRY(database_.finish_run(outcome_.run));
    }
    return outcome_;
  }

 private:
  /// Finds or creates the run, and lists the trials that have not run yet.
  Result<void> prepare() {
    for (std::size_t i = options_.shard.index; i < plans_.size(); i += options_.shard.count)
      todo_.push_back(i);
    outcome_.planned = todo_.size();
    TRY(auto kept, run::open_run(database_, {.kind = "campaign",
                                             .name = campaign_.name,
                                             .configuration = campaign_.text,
                                             .seed = campaign_.seed,
                                             .digest = campaign_digest(campaign_),
                                             .shard = options_.shard,
                                             .trials = todo_.size(),
                                             .guest_kernel = vm::kernels_of(images_),
                                             .accelerator = accelerator_,
                                             .resume = options_.resume,
                                             .redo_errors = options_.redo_errors}));
    kept_ = std::move(kept);
    outcome_.run = kept_.id;
    disks_.emplace(kept_.folder / "formatted");
    std::erase_if(todo_, [&](std::size_t index) {
      const TrialPlan plan = plans_[index];
      const bool done = kept_.finished.contains(plan.key);
      if (!done) time_left_.add(plan.cell);
      return done;
    });
    outcome_.done_before = outcome_.planned - todo_.size();
    return {};
  }

  /// Creates the worker of one thread. Returns null if the trials have a single power cut each,
  /// which need no worker.
  std::unique_ptr<ExplorationWorker> make_explorer() {
    if (!campaign_.explore) return nullptr;
    return std::make_unique<ExplorationWorker>(
        ExplorationContext{.campaign = &campaign_,
                           .disks = &*disks_,
                           .images = &images_,
                           .accelerator = accelerator_,
                           .cache = options_.cache,
                           .database_folder = kept_.database_folder,
                           .interrupted = options_.interrupted});
  }

  Result<void> run_one(const TrialPlan& plan, ExplorationWorker* worker) {
    TRY(const auto artefacts, run::artefact_folder(kept_, plan.key));
    const auto on_phase = [&](const std::string& phase) {
      const std::lock_guard lock(mutex_);
      report({.running = plan.key, .phase = phase});
    };
    TRY(const auto record, worker != nullptr ? worker->run(plan, artefacts, on_phase)
                                             : run_cut(plan, artefacts, on_phase));
    const std::lock_guard lock(mutex_);
    TRY(database_.record_trial(outcome_.run, record));
    ++outcome_.done_now;
    time_left_.done(plan.cell, record.wall_ms);
    report({.trial = &record, .running = plan.key});
    return {};
  }

  Result<db::TrialRecord> run_cut(const TrialPlan& plan, const fs::path& artefacts,
                                  const std::function<void(const std::string&)>& on_phase) {
    TRY(const auto scratch, base::ScratchFolder::make());
    const TrialContext context{.campaign = &campaign_,
                               .image = images_.at(guest_of(*plan.filesystem)),
                               .accelerator = accelerator_,
                               .cache = options_.cache,
                               .scratch = scratch.path(),
                               .artefacts = artefacts,
                               .database_folder = kept_.database_folder,
                               .interrupted = options_.interrupted,
                               .on_phase = on_phase};
    return run_trial(plan, context);
  }

  /// Reports progress. The caller must hold the mutex.
  void report(CampaignProgress progress) const {
    if (!options_.on_progress) return;
    progress.done = outcome_.done_before + outcome_.done_now;
    progress.planned = outcome_.planned;
    if (const auto work_s = time_left_.seconds())
      progress.left_s = *work_s / static_cast<double>(std::min(options_.jobs, todo_.size()));
    options_.on_progress(progress);
  }

  const Campaign& campaign_;
  const CampaignOptions& options_;
  db::Database database_;
  TrialPlans plans_{campaign_};
  std::vector<std::size_t> todo_;  // indices into plans_
  vm::GuestImages images_;         // by guest_of(); most file systems share one image
  vm::Accelerator accelerator_ = vm::Accelerator::tcg;
  run::StoredRun kept_;
  std::optional<FormattedDisks> disks_;
  std::mutex mutex_;  ///< protects all members below, and the database
  /// Keyed by cell; trials with a single cut have the key null.
  run::TimeLeft<const ExploredCell*> time_left_;
  CampaignOutcome outcome_;
};

}  // namespace

Result<CampaignOutcome> run_campaign(const Campaign& campaign, const CampaignOptions& options) {
  TRY(auto database, db::Database::open(options.database, db::Database::Access::read_write));
  return Runner(campaign, options, std::move(database)).run();
}

fs::path default_cache() {
  if (const char* cache = std::getenv("HEADCRASH_CACHE"); cache != nullptr && *cache != '\0')
    return cache;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return fs::path(cache) / "headcrash";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache" / "headcrash";
  return fs::temp_directory_path() / "headcrash-cache";
}

}  // namespace headcrash::campaign
