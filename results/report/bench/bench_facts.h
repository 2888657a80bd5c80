#pragma once
// All data about one benchmark that the report needs, read by the named queries. ranking.cc adds
// the statistics.
//
//   run -> contest: device x workload x parameters x phase   unit of comparison
//            -> entrant: a file system (and variant) in it   compared with the others
//                 -> measurement: one repetition             equal repetitions are paired

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/report/campaign/facts.h"
#include "results/statistics/sample.h"

namespace headcrash::report {

/// Prefix of a trial's clock, followed by a factor. Such a trial ran in virtual time that includes
/// processor time.
inline constexpr std::string_view kChargedPrefix = "charged:";
/// A workload that kept the device busy for less than this fraction did not wait for the device.
inline constexpr double kDeviceBusy = 0.5;
/// A host is noted as busy if other processes used more than this fraction of its CPU.
inline constexpr double kBusyHost = 0.1;
/// If the ratio of standard deviation to mean is above this limit, it is noted.
inline constexpr double kWideSpread = 0.05;

/// A measured quantity; a column of the query bench_measures.
struct Measure {
  enum class Unit : std::uint8_t { milliseconds, microseconds, count, bytes, share, ratio, rate };
  std::string_view column, title;
  Unit unit = Unit::count;
};
std::span<const Measure> measures();
/// Formats a value, such as "12.3 ms", "4.1 MiB" or "31.0 %".
std::string figure(double value, Measure::Unit unit);

struct Measurement {
  std::int64_t trial = 0, repetition = 0;
  std::string key;
  /// The same quantities per operation, in a contest of jobs with a fixed time
  /// (Contest::by_operation).
  double elapsed_ms = 0;
  std::optional<double> quiescent_ms, host_busy;
  std::optional<double> rate;  ///< operations per second
  bool fixed_time = false;     ///< the job determines the duration
  /// Fraction of time that the busiest device was busy. busy_share covers the time until quiescence
  /// (or until the last call if the trial did not wait for quiescence), elapsed_busy_share the time
  /// until the last call.
  std::optional<double> busy_share, elapsed_busy_share;
  /// The guest's processor time divided by the time until quiescence; 1 means that one processor
  /// was always busy. Empty in virtual time.
  std::optional<double> processor_share;
  bool late = false;
  std::vector<std::optional<double>> values;  ///< in the same order as measures()
  bool host_was_busy() const { return host_busy.value_or(0) > kBusyHost; }
};

/// The result of an entrant's repeated measurements (ranking.h).
struct Standing {
  /// Kinds of results. `cpu_bound` and `idle` results have numbers but no rank. For `cpu_bound`, a
  /// processor was busy for most of the time that the device was idle. For `idle`, the processor
  /// was also idle: the time then measures a timer, or the delay of a cache's write-back.
  enum class Kind : std::uint8_t { ranked, cpu_bound, idle, unmeasured };
  static bool is_unranked_number(Kind kind) {
    return kind == Kind::cpu_bound || kind == Kind::idle;
  }
  Kind kind = Kind::unmeasured;
  int rank = 0;  ///< rank from 1; indistinguishable entrants share a rank
  /// In milliseconds: the time to quiescence, or the elapsed time if the contest uses it.
  statistics::Summary ranking;
  statistics::Summary elapsed;    ///< milliseconds
  double busy_share = 0;          ///< median busy share over the ranked time
  double elapsed_busy_share = 0;  ///< median busy share until the last call returned
  /// Median processor share, as in Measurement; empty in virtual time.
  std::optional<double> processor_share;
  /// Comparison with the best entrant; 1 for the best entrant itself. Uses equal repetitions if
  /// there are any, otherwise the means.
  statistics::Comparison to_best;
  std::size_t pairs = 0;
  bool by_operation = false;  ///< times are per operation (Contest::by_operation)
  double spread() const { return ranking.mean > 0 ? ranking.deviation / ranking.mean : 0; }
};

struct Entrant {
  std::string filesystem, variant;
  std::vector<Measurement> measurements;  ///< by repetition
  std::size_t failed = 0, late = 0, busy_host = 0;
  Standing standing;
  std::string name() const { return variant.empty() ? filesystem : filesystem + " " + variant; }
};

struct Contest {
  std::string device, workload, parameters, scale, phase, operation;
  std::string profile;            ///< the device's profile
  std::int64_t device_bytes = 0;  ///< size of the used part of the device; 0 if unknown
  /// The kind of clock: real, virtual (processor time is not counted) or charged:K.
  std::string clock = "real";
  bool in_virtual_time() const { return clock != "real"; }
  /// True if the ranked time is to quiescence; false if some measurement did not wait for
  /// quiescence.
  bool to_quiescence = true;
  bool by_operation = false;  ///< ranked by the time per operation, because the job's time is fixed
  const char* ranked_by() const {
    return by_operation ? "ms_per_operation" : to_quiescence ? "quiescent_ms" : "elapsed_ms";
  }
  std::vector<Entrant> entrants;  ///< ranked entrants in rank order, then the others
  std::size_t ranked = 0;

  /// Returns true if the parameters are a job file's checksum, which must not be displayed.
  bool is_of_a_tool() const { return parameters.starts_with("job="); }
  bool has_own_sizes() const { return scale == "custom" && !is_of_a_tool(); }
  /// Returns the mark for the contest's size: "scaled" or "custom"; empty for the size defined by
  /// the workload's source.
  std::string scale_mark() const {
    return scale == "scaled" || has_own_sizes() ? scale : std::string();
  }
  std::string setting() const;  ///< "copy files=535 users=4", "fio-mine"
  /// Returns the contest's identity, which is the same in other runs.
  std::string identity() const;
};

struct BenchTrial {
  std::int64_t id = 0, repetition = 0, seed = 0;
  std::string key, device, workload, parameters, scale, filesystem, variant, clock, verdict,
      summary, started_at, profile;
  std::int64_t device_bytes = 0;
  bool late = false;
  std::optional<double> host_busy;
  bool failed() const { return verdict != db::kMeasured; }
  bool in_virtual_time() const { return clock_kind() != "real"; }
  std::string clock_kind() const;  ///< as Contest::clock
};

/// The mean of a counter, or of a tool's value, for each entrant.
struct MetricRow {
  std::string name, unit;
  std::map<std::string, double> means;  ///< by the entrant's name
};

struct BenchCurve {
  std::string device, workload, parameters, filesystem, variant;
  std::int64_t requests = 0;
  /// Points (microseconds, fraction of requests within that time).
  std::vector<std::pair<double, double>> points;
  std::string name() const { return variant.empty() ? filesystem : filesystem + " " + variant; }
};

/// A device's activity in a phase of one repetition.
struct BenchLoad {
  std::string device, workload, parameters, phase, filesystem, variant;
  struct TimeSpan {
    double begin_ms = 0, end_ms = 0;
    double bytes = 0;  ///< read and written
    double inside = 0;
  };
  std::vector<TimeSpan> spans;
  std::string name() const { return variant.empty() ? filesystem : filesystem + " " + variant; }
};

struct BenchPanel {
  std::string device, setting;
  IoPanel io;
};

struct Benchmark {
  Facts facts;  ///< the run, its file systems and its lateness; no verdicts
  std::vector<Contest> contests;
  std::vector<BenchTrial> trials;
  std::map<std::string, std::vector<MetricRow>> metrics;  ///< keyed by the contest's identity
  std::vector<BenchCurve> latency, flushes;
  std::vector<BenchLoad> load;
  std::vector<BenchPanel> io;

  std::size_t failed() const;
  // The clock is taken from any trial: all trials have the same clock, because a benchmark's file
  // defines its guests once.
  bool in_virtual_time() const { return clock() != "real"; }
  std::string clock() const;  ///< as Contest::clock
};

/// Reads a benchmark in the caller's transaction, so that all queries see one state even while the
/// benchmark continues. `run` defaults to the newest benchmark. Fails if there is no benchmark or
/// no such run, or if the run is of another kind.
Result<Benchmark> gather_benchmark(db::Database& database, std::optional<std::int64_t> run);

/// Returns a run's kind (default: the newest run); empty if there is no run.
Result<std::string> kind_of_run(db::Database& database, std::optional<std::int64_t> run);

}  // namespace headcrash::report
