#pragma once
// The order of a benchmark's trials, and when a cell has been repeated often enough.
//
//   round 0: every cell once, in an order drawn from the seed    ] interleaved: drift (a warm machine,
//   round 1: every cell once, in another order                   ] a busy neighbour) meets all cells alike
//   ...
//   from round `least` on: only cells whose interval is still too wide, up to `most`
//
// What a round holds follows from the seed and from what the rounds before it measured, so that a
// run that was interrupted continues as it would have.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/bench_file.h"
#include "harness/run/stored_run.h"
#include "results/db/database.h"

namespace headcrash::bench {

// Verdicts of trials.
inline constexpr const char* kMeasured = "measured";
inline constexpr const char* kFailed = "failed";

struct Cell {
  std::string key;                                     ///< "ext4/hp-c2447/lfs-small-file.scaled"
  std::string group;                                   ///< the same without the file system
  const adapters::LinuxAdapter* filesystem = nullptr;  ///< these point into the benchmark
  const BenchDevice* device = nullptr;
  const BenchWorkload* workload = nullptr;
};

/// A shard has whole groups: file systems that are compared ran on one machine.
std::vector<Cell> cells_of(const Bench& bench, const run::Shard& shard = {});

/// The order of one round.
std::vector<std::size_t> round_order(std::size_t cells, std::uint64_t seed, std::int64_t round);

struct BenchTrialPlan {
  const Cell* cell = nullptr;
  std::int64_t repetition = 0;
  std::string key;  ///< "ext4/hp-c2447/lfs-small-file.scaled/0"
  /// The same for all cells of a group: equal repetitions differ in the file system only.
  std::uint64_t seed = 0;
};
BenchTrialPlan trial_of(const Bench& bench, const Cell& cell, std::int64_t repetition);

/// What a cell has shown so far: the time of each measured phase, to quiescence where that was
/// waited for.
struct CellSamples {
  std::int64_t trials = 0;  ///< failed ones included
  std::int64_t failed = 0;
  std::vector<std::string> labels;                      ///< in order
  std::map<std::string, std::vector<double>> times_ms;  ///< by label
  void count(bool measured);
  void add(const std::string& label, double time_ms);
  void add(const db::TrialRecord& trial);
};

/// Repetitions in all that the cell ought to get, at least `least` and at most `most`. A phase that
/// takes less than a tenth of the workload's time has no say, nor has a cell of which nothing could
/// be measured.
std::int64_t repetitions_wanted(const CellSamples& samples, const Bench& bench);

}  // namespace headcrash::bench
