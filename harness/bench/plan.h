#pragma once
// The order of a benchmark's trials, and the number of repetitions of a cell.
//
//   round 0: every cell once, in an order drawn from the seed    ] interleaved: drift (a warm
//                                                                machine,
//   round 1: every cell once, in another order                   ] a busy neighbour) affects all
//                                                                cells equally
//   ...
//   from round `least` on: only cells whose interval is still too wide, up to `most`
//
// A round depends on the seed and on the results of earlier rounds, so an interrupted run continues
// in the same order.

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
  std::string group;                                   ///< key without the file system
  const adapters::LinuxAdapter* filesystem = nullptr;  ///< these point into the benchmark
  const BenchDevice* device = nullptr;
  const BenchWorkload* workload = nullptr;
};

/// Returns the cells of a shard. A shard has whole groups, so that compared file systems run on one
/// machine.
std::vector<Cell> cells_of(const Bench& bench, const run::Shard& shard = {});

/// Returns the order of the cells in a round.
std::vector<std::size_t> round_order(std::size_t cells, std::uint64_t seed, std::int64_t round);

struct BenchTrialPlan {
  const Cell* cell = nullptr;
  std::int64_t repetition = 0;
  std::string key;  ///< "ext4/hp-c2447/lfs-small-file.scaled/0"
  /// Equal for all cells of a group, so equal repetitions differ only in the file system.
  std::uint64_t seed = 0;
};
BenchTrialPlan trial_of(const Bench& bench, const Cell& cell, std::int64_t repetition);

/// The results of a cell so far: the time of each measured phase, to quiescence if awaited.
struct CellSamples {
  std::int64_t trials = 0;  ///< including failed ones
  std::int64_t failed = 0;
  std::vector<std::string> labels;                      ///< in the order of the phases
  std::map<std::string, std::vector<double>> times_ms;  ///< by label
  void count(bool measured);
  void add(const std::string& label, double time_ms);
  void add(const db::TrialRecord& trial);
};

/// Returns the total number of repetitions that the cell needs, from `least` to `most`. Ignores
/// phases shorter than a tenth of the workload's time, and cells without measurements.
std::int64_t repetitions_wanted(const CellSamples& samples, const Bench& bench);

}  // namespace headcrash::bench
