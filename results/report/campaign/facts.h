#pragma once
// All data about one run that the report needs, read from the database only through the named
// queries. The page, the answer and the JSON use the same facts, so they agree.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results/db/database.h"

namespace headcrash::report {

struct Run {
  std::int64_t id = 0;
  std::string kind, name, configuration, digest;
  std::int64_t seed = 0, planned = 0, recorded = 0, late = 0;
  std::string started_at;
  std::optional<std::string> finished_at;
  std::int64_t seconds = 0;                 ///< time from start to end; 0 if the run has not ended
  std::string host, versions, accelerator;  ///< `host` and `versions` are JSON text as recorded
  bool interrupted() const { return !finished_at.has_value(); }
};

/// The trials of one file system on one device under one workload. Trials with different expected
/// results are in different cells.
struct Cell {
  std::string filesystem, device, workload, expected;
  std::string variant;  ///< differences from the adapter's settings
  std::string must;     ///< the result that a control must show; empty if the cell is not a control
  std::int64_t trials = 0, clean = 0, replayed = 0, lost = 0, other = 0, repaired = 0, known = 0;
  std::int64_t lost_synced = 0, harness_errors = 0, uncut = 0, late = 0, losses_needed = 0;
  /// true if the expectation was met; nullopt if the file system promises nothing
  std::optional<bool> met;
  std::int64_t unexpected = 0;  ///< number of trials with unexpected results
  bool is_control() const { return !must.empty(); }
};

struct Finding {
  std::string kind, tier, path, expected, found;
};

/// A hardware event other than a request.
struct Incident {
  double at_ms = 0;
  std::string device, text;
};

struct Artefact {
  std::string kind, path;
  std::int64_t bytes = 0;
};

struct Trial {
  std::int64_t id = 0;
  std::string key, filesystem, device, workload, expected, variant, must;
  std::int64_t seed = 0;
  std::string clock, cut;
  std::optional<double> cut_at_ms, after_persistence_ms;
  std::optional<std::int64_t> persisted_operation;
  std::int64_t operations = 0;
  std::string verdict, outcome, summary;
  bool late = false;
  std::vector<Incident> incidents;
  std::vector<Finding> findings;
  std::vector<Artefact> artefacts;
};

/// A file system and variant whose crash states under a workload were explored.
struct ExploredCell {
  std::string filesystem, variant, workload, control;
  std::int64_t trials = 0, states = 0, clean = 0, replayed = 0, repaired = 0, lost = 0, other = 0;
  std::int64_t harness_errors = 0, in_guest = 0, confirmed = 0, unconfirmed = 0;
};

/// A row of the query `stacks`.
struct StackCell {
  std::string stack, filesystem, kernel, workload, variant, verdict;
  std::int64_t states = 0, failed = 0;
  double seconds = 0;
};

struct StrategyCoverage {
  std::string filesystem, variant, workload, control, strategy;
  std::int64_t trials = 0, whole = 0, generated = 0, distinct_states = 0, checked = 0;
  double space = 0, mean_share = 0;
  std::string bound;
};

/// A crash state that failed and was checked again.
struct Failure {
  std::int64_t trial = 0;  ///< ID of the trial that failed
  std::string key, filesystem, variant, workload, control, state, strategy, verdict, summary;
  bool confirmed = false;
  std::string disagreement, tier, operations, minimised_state, account, replay;
  std::int64_t findings = 0;
};

/// The crash states of a file system in all its workloads, counted separately for each position of
/// the cut (the number of events before it).
struct CutPlace {
  std::string filesystem, variant, control;
  std::int64_t cut = 0, kept = 0, lost = 0, other = 0;
};

struct StepTime {
  std::string filesystem, step;
  std::int64_t count = 0;
  double total_ms = 0, share = 0;
};

struct Spread {
  double median = 0, min = 0, max = 0;
};

struct Recovery {
  std::string filesystem, device, workload, phase;
  std::int64_t trials = 0, unclocked = 0;
  Spread model_ms, wall_ms;
  double bytes_read = 0, bytes_written = 0;  ///< means over the trials
};

struct LatencyCurve {
  std::string device, filesystem, kind;
  std::int64_t requests = 0;
  /// Pairs of a time in microseconds and the fraction of requests that took at most this time.
  std::vector<std::pair<double, double>> points;
};

/// Modelled response times of one kind of sampled requests.
struct Responses {
  std::string device, filesystem, op;  ///< `op` is read, write or flush
  std::int64_t requests = 0;
  double p50_us = 0, p90_us = 0, p99_us = 0, most_us = 0, mean_us = 0;
};

/// A sampled request, or a write to the medium if the operation is "media".
struct IoPoint {
  double at_ms = 0;
  std::int64_t lba = 0;
  std::string op;
  std::int64_t sectors = 0;
  /// Modelled response time; empty if the request never completed or its time is not modelled.
  std::optional<double> response_us = {};
};
struct IoPanel {
  std::string filesystem, key;
  std::optional<double> cut_ms;
  /// Total number of requests that the device counted; `points` is a sample of them.
  std::int64_t requests = 0;
  std::vector<IoPoint> points;
};

struct Lateness {
  std::string filesystem, device, workload, phase, clock;
  std::int64_t phases = 0, late_trials = 0;
  double target_mean_us = 0, achieved_mean_us = 0, p50_us = 0, p99_us = 0, max_us = 0, share = 0;
};

struct Unclocked {
  std::string phase, clock;
  std::int64_t phases = 0;
};

bool is_of(const Trial& trial, const Cell& cell);

struct Facts {
  std::string database;          ///< file name as given by the user
  std::filesystem::path folder;  ///< directory of the report and of the crash pages
  Run run;
  std::vector<std::string> filesystems;  ///< sorted
  std::vector<Cell> cells;
  std::vector<Trial> trials;  ///< in the order of the cells
  std::vector<Recovery> recovery;
  std::vector<LatencyCurve> latency;
  std::vector<Responses> responses;
  std::vector<IoPanel> io;
  std::vector<Lateness> lateness;
  std::vector<Unclocked> unclocked;
  std::vector<ExploredCell> explored;
  std::vector<StackCell> stacks;  ///< empty if no file system of the run is on a stack
  std::vector<StrategyCoverage> coverage;
  std::vector<Failure> failures;  ///< only the first failures of the run
  std::int64_t failures_in_all = 0;
  std::vector<CutPlace> cuts;  ///< ordered by file system, variant and control, then by place
  std::vector<StepTime> steps;

  std::int64_t unexpected() const;
};

/// Reads the facts about a run. All queries read the same snapshot, even while a campaign is
/// writing. Fails if the database is empty or there is no such run.
Result<Facts> gather(db::Database& database, std::optional<std::int64_t> run);

/// Reads the run, its file systems and the lateness of its requests, without verdicts. Uses the
/// caller's transaction.
Result<Facts> gather_outline(db::Database& database, std::int64_t run);

}  // namespace headcrash::report
