// Trials in parallel, results in order of completion (campaign.h).
#include "harness/campaign/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "harness/campaign/environment.h"
#include "harness/campaign/explored_trial.h"
#include "harness/campaign/trial.h"
#include "harness/process/scratch_folder.h"

namespace headcrash::campaign {
namespace {

namespace fs = std::filesystem;

class Runner {
 public:
  Runner(const Campaign& campaign, const CampaignOptions& options, db::Database database)
      : campaign_(campaign), options_(options), database_(std::move(database)) {}

  Result<CampaignOutcome> run() {
    for (const adapters::LinuxAdapter* filesystem : filesystems_of(campaign_)) {
      if (images_.contains(filesystem->name)) continue;
      Result<vm::GuestImage> image = vm::guest_image(options_.cache, filesystem->guest);
      if (!image) return pass_on(image);
      images_[filesystem->name] = std::move(*image);
    }
    if (const auto prepared = prepare(); !prepared) return pass_on(prepared);
    if (!todo_.empty()) {
      process::sweep_scratch_folders();
      std::vector<std::thread> workers;
      for (std::size_t i = 0; i < std::min(options_.jobs, todo_.size()); ++i)
        workers.emplace_back([this] { work(); });
      for (std::thread& worker : workers) worker.join();
    }
    if (error_) return tl::unexpected(*error_);
    outcome_.interrupted = outcome_.done_before + outcome_.done_now < outcome_.planned;
    if (!outcome_.interrupted) {
      if (const auto finished = database_.finish_run(outcome_.run); !finished) return pass_on(finished);
    }
    return outcome_;
  }

 private:
  /// Finds or makes the run, and the trials that it still lacks.
  Result<void> prepare() {
    std::set<std::string> finished;
    const std::string digest =
        fmt::format("{}-{}/{}", campaign_digest(campaign_), options_.shard.index, options_.shard.count);
    for (std::size_t i = options_.shard.index; i < plans_.size(); i += options_.shard.count)
      todo_.push_back(i);
    outcome_.planned = todo_.size();
    accelerator_ = vm::probe_accelerator(options_.cache).accelerator;
    std::optional<std::int64_t> run;
    if (options_.resume) {
      const auto unfinished = database_.unfinished_run(digest);
      if (!unfinished) return pass_on(unfinished);
      run = *unfinished;
    }
    if (run) {
      auto known = database_.finished_trials(*run);
      if (!known) return pass_on(known);
      finished = std::move(*known);
      // A merged run knows only of the shards that it was made of.
      const auto planned = database_.resume_run(*run, static_cast<std::int64_t>(todo_.size()));
      if (!planned) return planned;
    } else {
      nlohmann::json versions = tool_versions();
      versions["guest kernel"] = images_.at(plans_[0].filesystem->name).kernel_version;
      const auto begun =
          database_.begin_run({.kind = "campaign",
                               .name = campaign_.name,
                               .configuration = campaign_.text,
                               .digest = digest,
                               .seed = static_cast<std::int64_t>(campaign_.seed),
                               .trials_planned = static_cast<std::int64_t>(todo_.size()),
                               .host_json = host_description().dump(),
                               .versions_json = versions.dump(),
                               .accelerator = accelerator_ == vm::Accelerator::kvm ? "kvm" : "tcg"});
      if (!begun) return pass_on(begun);
      run = *begun;
    }
    outcome_.run = *run;
    folder_ = fs::absolute(database_.path()).parent_path();
    run_folder_ = folder_ / (database_.path().stem().string() + ".artefacts") / fmt::format("run-{}", *run);
    disks_.emplace(run_folder_ / "formatted");
    std::erase_if(todo_, [&](std::size_t index) {
      const TrialPlan plan = plans_[index];
      const bool done = finished.contains(plan.key);
      if (!done) ++left_[plan.cell];
      return done;
    });
    outcome_.done_before = outcome_.planned - todo_.size();
    return {};
  }

  bool stopped() const { return error_ || (options_.interrupted != nullptr && *options_.interrupted); }

  /// Each thread has its own guest for exploring, which lives as long as the thread.
  void work() {
    std::optional<ExplorationWorker> worker;
    if (campaign_.explore) {
      worker.emplace(ExplorationContext{.campaign = &campaign_,
                                        .disks = &*disks_,
                                        .images = &images_,
                                        .accelerator = accelerator_,
                                        .cache = options_.cache,
                                        .database_folder = folder_,
                                        .interrupted = options_.interrupted});
    }
    while (true) {
      std::size_t index = 0;
      {
        const std::lock_guard lock(mutex_);
        if (stopped() || next_ == todo_.size()) return;
        index = next_++;
      }
      const Result<void> done = run_one(plans_[todo_[index]], worker ? &*worker : nullptr);
      const std::lock_guard lock(mutex_);
      if (!done && !stopped()) error_ = done.error();
    }
  }

  Result<void> run_one(const TrialPlan& plan, ExplorationWorker* worker) {
    std::string leaf = plan.key;
    std::replace(leaf.begin(), leaf.end(), '/', '.');
    const fs::path artefacts = run_folder_ / leaf;
    std::error_code error;
    fs::remove_all(artefacts, error);  // of a trial that was cut off
    fs::create_directories(artefacts, error);
    if (error) return fail(artefacts.string(), error.message(), "make the database's folder writable");
    const auto on_phase = [&](const std::string& phase) {
      const std::lock_guard lock(mutex_);
      report({.running = plan.key, .phase = phase});
    };
    const Result<db::TrialRecord> record =
        worker != nullptr ? worker->run(plan, artefacts, on_phase) : run_cut(plan, artefacts, on_phase);
    if (!record) return pass_on(record);
    const std::lock_guard lock(mutex_);
    const auto kept = database_.record_trial(outcome_.run, *record);
    if (!kept) return pass_on(kept);
    ++outcome_.done_now;
    Spent& spent = spent_[plan.cell];
    ++spent.trials;
    spent.wall_ms += record->wall_ms;
    --left_[plan.cell];
    report({.trial = &*record, .running = plan.key});
    return {};
  }

  Result<db::TrialRecord> run_cut(const TrialPlan& plan, const fs::path& artefacts,
                                  const std::function<void(const std::string&)>& on_phase) {
    const Result<process::ScratchFolder> scratch = process::ScratchFolder::make();
    if (!scratch) return pass_on(scratch);
    const TrialContext context{.campaign = &campaign_,
                               .image = images_.at(plan.filesystem->name),
                               .accelerator = accelerator_,
                               .cache = options_.cache,
                               .scratch = scratch->path(),
                               .artefacts = artefacts,
                               .database_folder = folder_,
                               .interrupted = options_.interrupted,
                               .on_phase = on_phase};
    return run_trial(plan, context);
  }

  /// With the mutex held.
  void report(CampaignProgress progress) const {
    if (!options_.on_progress) return;
    progress.done = outcome_.done_before + outcome_.done_now;
    progress.planned = outcome_.planned;
    progress.left_s = estimate_left_s();
    options_.on_progress(progress);
  }

  /// A trial takes as long as the others of its cell did, or, in a cell that is still to come, as all others
  /// did.
  std::optional<double> estimate_left_s() const {
    Spent all;
    for (const auto& [cell, spent] : spent_) {
      all.trials += spent.trials;
      all.wall_ms += spent.wall_ms;
    }
    if (all.trials == 0) return std::nullopt;
    double work_ms = 0;
    for (const auto& [cell, trials] : left_) {
      const auto known = spent_.find(cell);
      const Spent& like = known == spent_.end() ? all : known->second;
      work_ms += like.wall_ms / static_cast<double>(like.trials) * static_cast<double>(trials);
    }
    return work_ms / 1000 / static_cast<double>(std::min(options_.jobs, todo_.size()));
  }

  struct Spent {
    std::size_t trials = 0;
    double wall_ms = 0;
  };

  const Campaign& campaign_;
  const CampaignOptions& options_;
  db::Database database_;
  TrialPlans plans_{campaign_};
  std::vector<std::size_t> todo_;                 // of the plans
  std::map<std::string, vm::GuestImage> images_;  // by file system; most share one
  vm::Accelerator accelerator_ = vm::Accelerator::tcg;
  fs::path folder_, run_folder_;  ///< of the database, and where this run keeps its artefacts
  std::optional<FormattedDisks> disks_;
  std::mutex mutex_;  ///< of all below, and of the database
  std::size_t next_ = 0;
  std::map<const ExploredCell*, Spent> spent_;       ///< by cell; null for trials of one cut
  std::map<const ExploredCell*, std::size_t> left_;  ///< trials
  CampaignOutcome outcome_;
  std::optional<Error> error_;
};

}  // namespace

Result<CampaignOutcome> run_campaign(const Campaign& campaign, const CampaignOptions& options) {
  Result<db::Database> database = db::Database::open(options.database, db::Database::Access::read_write);
  if (!database) return pass_on(database);
  return Runner(campaign, options, std::move(*database)).run();
}

fs::path default_cache() {
  if (const char* cache = std::getenv("HEADCRASH_CACHE"); cache != nullptr && *cache != '\0') return cache;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return fs::path(cache) / "headcrash";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache" / "headcrash";
  return fs::temp_directory_path() / "headcrash-cache";
}

}  // namespace headcrash::campaign
