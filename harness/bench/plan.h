#pragma once
// The order of a benchmark's trials, and the number of repetitions of a cell.
//
//   round 0:  every cell once, in an order derived from the seed
//   round 1:  every cell once, in another order
//   ...
//   from round `least` on:  only cells whose interval is still too wide, up to round `most`
//
// Rounds are interleaved so that drift (a warm machine, a busy neighbour) affects all cells
// equally. A round depends only on the seed and on the results of earlier rounds, so a resumed run
// continues in the same order.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/bench_file.h"
#include "harness/run/stored_run.h"
#include "results/db/database.h"

namespace headcrash::bench {

struct Cell {
  std::string key;    ///< "ext4/hp-c2447/lfs-small-file.scaled"
  std::string group;  ///< the key without the file system
  /// The following pointers refer to members of the benchmark.
  const adapters::LinuxAdapter* filesystem = nullptr;
  const BenchDevice* device = nullptr;
  const BenchWorkload* workload = nullptr;
};

/// Returns a shard's cells. A group is never split: its file systems are compared, so they must run
/// on the same machine.
std::vector<Cell> cells_of(const Bench& bench, const run::Shard& shard = {});

std::vector<std::size_t> round_order(std::size_t cells, std::uint64_t seed, std::int64_t round);

struct BenchTrialPlan {
  const Cell* cell = nullptr;
  std::int64_t repetition = 0;
  std::string key;  ///< "ext4/hp-c2447/lfs-small-file.scaled/0"
  /// Seed of the trial. It depends only on the group and the repetition number, so that trials with
  /// the same number differ only in the file system.
  std::uint64_t seed = 0;
};
BenchTrialPlan trial_of(const Bench& bench, const Cell& cell, std::int64_t repetition);

/// The results of a cell so far: the times of each measured phase. If trials wait for the device to
/// become idle, a phase's times include this wait.
struct CellSamples {
  std::int64_t trials = 0;  ///< number of trials, including failed trials
  std::int64_t failed = 0;
  std::vector<std::string> labels;                      ///< the phases' labels, in order
  std::map<std::string, std::vector<double>> times_ms;  ///< by label
  void count(bool measured);
  void add(const std::string& label, double time_ms);
  void add(const db::TrialRecord& trial);
};

/// Returns the total number of repetitions that the cell needs, between the plan's `least` and
/// `most`. Phases that take less than a tenth of the workload's time do not count. Returns `least`
/// if no trial was measured.
std::int64_t repetitions_wanted(const CellSamples& samples, const Bench& bench);

}  // namespace headcrash::bench
