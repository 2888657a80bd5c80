// Runs rounds of trials (bench.h, plan.h).
//
// Trials normally run one at a time, because concurrent work would affect their times. Only guests
// whose processor time is not counted may run concurrently. Even such trials run concurrently only
// within a round, because each round depends on the results of earlier ones.
#include "harness/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "harness/bench/bench_trial.h"
#include "harness/bench/samples.h"
#include "harness/run/guest_kind.h"
#include "harness/run/side_by_side.h"
#include "harness/run/time_left.h"
#include "plugin/base/scratch_folder.h"

namespace headcrash::bench {
namespace {

namespace fs = std::filesystem;

class BenchRunner {
 public:
  BenchRunner(const Bench& bench, const BenchOptions& options, db::Database database)
      : bench_(bench),
        options_(options),
        database_(std::move(database)),
        cells_(cells_of(bench, options.shard)) {}

  Result<BenchOutcome> run() {
    if (cells_.empty())
      return fail(
          "--shard",
          fmt::format("shard {}/{} of {} contains no trial, because the trials of a group of file "
                      "systems are in the same shard",
                      options_.shard.index + 1, options_.shard.count, bench_.name),
          "use fewer shards");
    TRY(prepare());
    outcome_.finished_before = kept_.finished_before;
    if (outcome_.finished_before) {
      outcome_.planned = outcome_.done_before;
      conclude();
      return std::move(outcome_);
    }
    base::sweep_scratch_folders();
    for (std::int64_t round = 0; round < bench_.most && !interrupted(); ++round) {
      TRY(run_round(round));
    }
    outcome_.interrupted = interrupted();
    if (!outcome_.interrupted) {
      TRY(database_.finish_run(outcome_.run));
    }
    conclude();
    return std::move(outcome_);
  }

 private:
  Result<void> prepare() {
    std::set<std::string> programs;
    for (const Cell& cell : cells_) {
      if (!cell.workload->tool) continue;
      TRY(auto program, tool_program(*cell.workload->tool));
      programs.insert(std::move(program));
    }
    std::map<std::string, adapters::GuestParts> parts;
    for (const Cell& cell : cells_) {
      const auto [own, added] = parts.emplace(cell.filesystem->name, cell.filesystem->guest);
      if (added)
        own->second.tools.insert(own->second.tools.end(), programs.begin(), programs.end());
    }
    accelerator_ = run::accelerator_of(bench_.virtual_time, options_.cache);
    TRY(auto images, vm::guest_images(options_.cache, parts, accelerator_));
    images_ = std::move(images);
    TRY(auto kept,
        run::open_run(database_, {.kind = "bench",
                                  .name = bench_.name,
                                  .configuration = bench_.text,
                                  .seed = bench_.seed,
                                  .digest = bench_digest(bench_),
                                  .shard = options_.shard,
                                  .trials = cells_.size() * static_cast<std::size_t>(bench_.least),
                                  .guest_kernel = vm::kernels_of(images_),
                                  .accelerator = accelerator_,
                                  .resume = options_.resume}));
    kept_ = std::move(kept);
    outcome_.run = kept_.id;
    outcome_.done_before = kept_.finished.size();
    TRY(auto known, samples_of(database_, kept_.id));
    samples_ = std::move(known);
    if (kept_.finished_before) return {};
    return plan_anew();
  }

  /// Plans how many more trials to run, based on the results so far.
  Result<void> plan_anew() {
    std::size_t planned = 0;
    for (const Cell& cell : cells_) {
      const CellSamples& samples = samples_[cell.key];
      const auto wanted =
          static_cast<std::size_t>(std::max(repetitions_wanted(samples, bench_), samples.trials));
      planned += wanted;
      left_.plan(cell.key, wanted - static_cast<std::size_t>(samples.trials));
    }
    if (planned == outcome_.planned) return {};
    outcome_.planned = planned;
    return database_.resume_run(outcome_.run, static_cast<std::int64_t>(planned));
  }

  Result<void> run_round(std::int64_t round) {
    std::vector<BenchTrialPlan> wanted;
    for (const std::size_t index : round_order(cells_.size(), bench_.seed, round)) {
      const Cell& cell = cells_[index];
      if (round >= repetitions_wanted(samples_[cell.key], bench_)) continue;
      if (BenchTrialPlan plan = trial_of(bench_, cell, round); !kept_.finished.contains(plan.key))
        wanted.push_back(std::move(plan));
    }
    return run::side_by_side(options_.jobs, wanted.size(), options_.interrupted, [&] {
      return [&](std::size_t index) { return run_one(wanted[index]); };
    });
  }

  Result<void> run_one(const BenchTrialPlan& plan) {
    TRY(const auto scratch, base::ScratchFolder::make());
    const BenchTrialContext context{.bench = &bench_,
                                    .image = images_.at(plan.cell->filesystem->name),
                                    .accelerator = accelerator_,
                                    .cache = options_.cache,
                                    .scratch = scratch.path(),
                                    .artefacts = run::artefact_path(kept_, plan.key),
                                    .database_folder = kept_.database_folder,
                                    .interrupted = options_.interrupted,
                                    .on_phase = [&](const std::string& phase) {
                                      const std::lock_guard lock(mutex_);
                                      report({.running = plan.key, .phase = phase});
                                    }};
    TRY(const auto record, run_bench_trial(plan, context));
    const std::lock_guard lock(mutex_);
    TRY(database_.record_trial(outcome_.run, record));
    ++outcome_.done_now;
    samples_[plan.cell->key].add(record);
    if (record.verdict == db::kFailed) failures_[plan.cell->key] = record.summary;
    left_.done(plan.cell->key, record.wall_ms);
    TRY(plan_anew());
    report({.trial = &record, .running = plan.key});
    return {};
  }

  bool interrupted() const { return options_.interrupted != nullptr && *options_.interrupted; }

  /// Reports progress. The caller must hold the mutex.
  void report(campaign::CampaignProgress progress) const {
    if (!options_.on_progress) return;
    progress.done = outcome_.done_before + outcome_.done_now;
    progress.planned = outcome_.planned;
    if (const auto work_s = left_.seconds())
      progress.left_s = *work_s / static_cast<double>(options_.jobs);
    options_.on_progress(progress);
  }

  void conclude() {
    for (const Cell& cell : cells_) {
      const CellSamples& samples = samples_[cell.key];
      CellOutcome result{.key = cell.key,
                         .trials = samples.trials,
                         .failed = samples.failed,
                         .failure = failures_[cell.key]};
      for (const std::string& label : samples.labels)
        result.phases.push_back({label, statistics::summarise(samples.times_ms.at(label))});
      outcome_.cells.push_back(std::move(result));
    }
  }

  const Bench& bench_;
  const BenchOptions& options_;
  db::Database database_;
  std::vector<Cell> cells_;
  vm::GuestImages images_;  ///< by file system name; most names share one image
  vm::Accelerator accelerator_ = vm::Accelerator::tcg;
  run::StoredRun kept_;
  std::mutex mutex_;  ///< while trials run, protects the members below and the database
  std::map<std::string, CellSamples> samples_;   ///< by cell
  std::map<std::string, std::string> failures_;  ///< by cell
  run::TimeLeft<std::string> left_;
  BenchOutcome outcome_;
};

Result<void> check_jobs(const Bench& bench, std::size_t jobs) {
  if (jobs <= 1 || (bench.virtual_time && bench.charge == 0)) return {};
  return fail("--jobs", "trials must run one at a time if processor time is measured",
              "omit it, or use --guest virtual without --charge");
}

Result<BenchForecast::CellForecast> forecast_cell(const Cell& cell, db::Database* database) {
  BenchForecast::CellForecast result{.key = cell.key,
                                     .parameters = parameters_text(*cell.workload),
                                     .scale = cell.workload->scale};
  if (database != nullptr) {
    TRY(const auto same, earlier_trials(*database, cell));
    TRY(const auto like, similar_trials(*database, cell));
    if (const auto& known = same ? same : like) {
      result.trial_s = known->mean_s;
      result.origin =
          fmt::format("{} {}", known->trials, same ? "earlier trials" : "similar trials");
      return result;
    }
  }
  if (cell.workload->expected_s > 0) {
    result.trial_s = cell.workload->expected_s;
    result.origin = "the file";
  }
  return result;
}

}  // namespace

Result<BenchOutcome> run_bench(const Bench& bench, const BenchOptions& options) {
  TRY(check_jobs(bench, options.jobs));
  TRY(auto database, db::Database::open(options.database, db::Database::Access::read_write));
  return BenchRunner(bench, options, std::move(database)).run();
}

Result<BenchForecast> forecast(const Bench& bench, const run::Shard& shard, std::size_t jobs,
                               const fs::path& database) {
  TRY(check_jobs(bench, jobs));
  std::optional<db::Database> earlier;
  std::error_code error;
  if (fs::exists(database, error)) {
    TRY(auto opened, db::Database::open(database, db::Database::Access::read_only));
    earlier.emplace(std::move(opened));
  }
  BenchForecast result;
  double known_s = 0;
  std::size_t known = 0;
  for (const Cell& cell : cells_of(bench, shard)) {
    TRY(auto each, forecast_cell(cell, earlier ? &*earlier : nullptr));
    if (each.trial_s) {
      known_s += *each.trial_s;
      ++known;
    }
    result.each.push_back(std::move(each));
  }
  result.cells = result.each.size();
  result.least = result.cells * static_cast<std::size_t>(bench.least);
  result.most = result.cells * static_cast<std::size_t>(bench.most);
  if (known == 0) return result;
  for (auto& each : result.each) {
    if (each.trial_s) continue;
    each.trial_s = known_s / static_cast<double>(known);
    each.origin = "the other cells";
  }
  const double round_s = known_s / static_cast<double>(known) * static_cast<double>(result.cells) /
                         static_cast<double>(jobs);
  result.least_s = round_s * static_cast<double>(bench.least);
  result.most_s = round_s * static_cast<double>(bench.most);
  return result;
}

}  // namespace headcrash::bench
