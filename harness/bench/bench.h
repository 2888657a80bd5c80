#pragma once
// Runs a benchmark's trials and keeps each in the database the moment it is finished: a benchmark
// killed at any moment resumes with --resume, repeats no finished trial and loses none.

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
  std::size_t jobs =
      1;  ///< trials at once, at least 1; above 1 with virtual time and no charge only
  std::function<void(const campaign::CampaignProgress&)> on_progress;
  const std::atomic<bool>* interrupted = nullptr;
};

/// What a cell has come to, by phase.
struct CellOutcome {
  std::string key;
  std::int64_t trials = 0, failed = 0;
  std::string failure;  ///< why the last one failed; empty: none did in this call
  struct Phase {
    std::string label;
    statistics::Summary time_ms;  ///< to quiescence, where that was waited for
  };
  std::vector<Phase> phases;
};

struct BenchOutcome {
  std::int64_t run = 0;
  std::size_t planned = 0, done_before = 0, done_now = 0;
  bool interrupted = false;
  bool finished_before = false;  ///< there was nothing to do
  std::vector<CellOutcome> cells;
};

/// Errors stop the benchmark; what was finished before is in the database.
Result<BenchOutcome> run_bench(const Bench& bench, const BenchOptions& options);

/// What a benchmark is going to do.
struct BenchForecast {
  std::size_t cells = 0, least = 0, most = 0;  ///< trials
  struct CellForecast {
    std::string key, parameters, scale;
    std::optional<double> trial_s;
    std::string
        origin;  ///< of the estimate: "3 trials of it", "2 like it", "the file", "the others"
  };
  std::vector<CellForecast> each;
  std::optional<double> least_s, most_s;  ///< none while nothing is known of any cell
};
/// With `jobs` trials at once (BenchOptions). Estimates come from earlier trials in the database,
/// if there is one, then from the file.
Result<BenchForecast> forecast(const Bench& bench, const run::Shard& shard, std::size_t jobs,
                               const std::filesystem::path& database);

}  // namespace headcrash::bench
