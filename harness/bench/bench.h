#pragma once
// Runs a benchmark's trials and stores each trial in the database as soon as it ends. If a
// benchmark is killed, --resume runs the remaining trials; finished trials are kept.

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "harness/bench/plan.h"
#include "harness/campaign/campaign.h"
#include "results/statistics/sample.h"

namespace headcrash::bench {

struct BenchOptions {
  std::filesystem::path database;
  std::filesystem::path cache;
  bool resume = false;
  run::Shard shard;
  /// Maximum number of concurrent trials, at least 1. A number above 1 is permitted only in virtual
  /// time, and only if processor time is not charged.
  std::size_t jobs = 1;
  std::function<void(const campaign::CampaignProgress&)> on_progress;
  const std::atomic<bool>* interrupted = nullptr;
};

struct CellOutcome {
  std::string key;
  std::int64_t trials = 0, failed = 0;
  /// Reason for the latest failure of a trial in this call of run_bench(); empty if no trial
  /// failed.
  std::string failure;
  struct Phase {
    std::string label;
    statistics::Summary time_ms;  ///< time until the device was idle, if the trial waited for that
  };
  std::vector<Phase> phases;
};

struct BenchOutcome {
  std::int64_t run = 0;
  std::size_t planned = 0, done_before = 0, done_now = 0;
  bool interrupted = false;
  bool finished_before = false;  ///< all trials were in the database before this call
  std::vector<CellOutcome> cells;
};

/// Runs the trials. An error stops the benchmark; trials that finished earlier are in the database.
Result<BenchOutcome> run_bench(const Bench& bench, const BenchOptions& options);

struct BenchForecast {
  std::size_t cells = 0, least = 0, most = 0;  ///< `least` and `most` are numbers of trials
  struct CellForecast {
    std::string key, parameters, scale;
    std::optional<double> trial_s;
    /// Where the estimate comes from, such as "3 earlier trials" or "the file".
    std::string origin;
  };
  std::vector<CellForecast> each;
  std::optional<double> least_s, most_s;  ///< nullopt if no cell has an estimate
};
/// Estimates how long the trials take if `jobs` of them run concurrently (see BenchOptions). Uses
/// earlier trials if the database exists, and otherwise the durations in the benchmark's file.
Result<BenchForecast> forecast(const Bench& bench, const run::Shard& shard, std::size_t jobs,
                               const std::filesystem::path& database);

}  // namespace headcrash::bench
