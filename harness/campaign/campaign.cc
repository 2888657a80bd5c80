// Trials in parallel, results in order of completion (campaign.h).
#include "harness/campaign/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "harness/campaign/environment.h"
#include "harness/campaign/trial.h"
#include "harness/process/scratch_folder.h"

namespace headcrash::campaign {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

class Runner {
 public:
  Runner(const Campaign& campaign, const CampaignOptions& options, db::Database database)
      : campaign_(campaign), options_(options), database_(std::move(database)) {}

  Result<CampaignOutcome> run() {
    for (const adapters::LinuxAdapter& filesystem : campaign_.filesystems) {
      Result<vm::GuestImage> image = vm::guest_image(options_.cache, filesystem.guest);
      if (!image) return pass_on(image);
      images_[filesystem.name] = std::move(*image);
    }
    if (const auto prepared = prepare(); !prepared) return pass_on(prepared);
    if (!todo_.empty()) {
      process::sweep_scratch_folders();
      began_ = steady_clock::now();
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
    for (std::size_t i = 0; const TrialPlan& plan : plans_) {
      if (i++ % options_.shard.count == options_.shard.index) todo_.push_back(&plan);
    }
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
    } else {
      nlohmann::json versions = tool_versions();
      versions["guest kernel"] = images_.at(campaign_.filesystems[0].name).kernel_version;
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
    std::erase_if(todo_, [&](const TrialPlan* plan) { return finished.contains(plan->key); });
    outcome_.done_before = outcome_.planned - todo_.size();
    return {};
  }

  bool stopped() const { return error_ || (options_.interrupted != nullptr && *options_.interrupted); }

  void work() {
    while (true) {
      std::size_t index = 0;
      {
        const std::lock_guard lock(mutex_);
        if (stopped() || next_ == todo_.size()) return;
        index = next_++;
      }
      const Result<void> done = run_one(*todo_[index]);
      const std::lock_guard lock(mutex_);
      if (!done && !stopped()) error_ = done.error();
    }
  }

  Result<void> run_one(const TrialPlan& plan) {
    const Result<process::ScratchFolder> scratch = process::ScratchFolder::make();
    if (!scratch) return pass_on(scratch);
    const fs::path folder = fs::absolute(database_.path()).parent_path();
    std::string leaf = plan.key;
    std::replace(leaf.begin(), leaf.end(), '/', '.');
    const fs::path artefacts = folder / (database_.path().stem().string() + ".artefacts") /
                               fmt::format("run-{}", outcome_.run) / leaf;
    std::error_code error;
    fs::remove_all(artefacts, error);  // of a trial that was cut off
    fs::create_directories(artefacts, error);
    if (error) return fail(artefacts.string(), error.message(), "make the database's folder writable");

    TrialContext context{.campaign = &campaign_,
                         .image = images_.at(plan.filesystem->name),
                         .accelerator = accelerator_,
                         .cache = options_.cache,
                         .scratch = scratch->path(),
                         .artefacts = artefacts,
                         .database_folder = folder,
                         .interrupted = options_.interrupted,
                         .on_phase = [&](const std::string& phase) {
                           const std::lock_guard lock(mutex_);
                           report({.running = plan.key, .phase = phase});
                         }};
    const Result<db::TrialRecord> record = run_trial(plan, context);
    if (!record) return pass_on(record);
    const std::lock_guard lock(mutex_);
    const auto kept = database_.record_trial(outcome_.run, *record);
    if (!kept) return pass_on(kept);
    ++outcome_.done_now;
    report({.trial = &*record, .running = plan.key});
    return {};
  }

  /// With the mutex held.
  void report(CampaignProgress progress) const {
    if (!options_.on_progress) return;
    progress.done = outcome_.done_before + outcome_.done_now;
    progress.planned = outcome_.planned;
    if (outcome_.done_now > 0) {
      const std::chrono::duration<double> passed = steady_clock::now() - began_;
      progress.left_s = passed.count() / static_cast<double>(outcome_.done_now) *
                        static_cast<double>(progress.planned - progress.done);
    }
    options_.on_progress(progress);
  }

  const Campaign& campaign_;
  const CampaignOptions& options_;
  db::Database database_;
  std::vector<TrialPlan> plans_ = plan_trials(campaign_);
  std::vector<const TrialPlan*> todo_;
  std::map<std::string, vm::GuestImage> images_;  // by file system; most share one
  vm::Accelerator accelerator_ = vm::Accelerator::tcg;
  steady_clock::time_point began_;
  std::mutex mutex_;  ///< of all below, and of the database
  std::size_t next_ = 0;
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
