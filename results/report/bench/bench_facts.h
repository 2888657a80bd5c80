#pragma once
// Everything the report says about one benchmark, read by the named queries; ranking.cc adds the
// statistics.
//
//   run -> contest: device x workload x parameters x phase     what can be compared
//            -> entrant: a file system (and variant) in it     what is compared
//                 -> measurement: one repetition               equal repetitions were interleaved, and pair

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

/// Of a trial's clock, with the factor behind it: virtual time in which the processor's counts.
inline constexpr std::string_view kChargedPrefix = "charged:";
/// Below this share of its time the device was not what the workload waited for.
inline constexpr double kDeviceBusy = 0.5;
/// Of the host's CPU, used by others.
inline constexpr double kBusyHost = 0.1;
/// Standard deviation by mean: more is noted.
inline constexpr double kWideSpread = 0.05;

/// A column of the query bench_measures.
struct Measure {
  enum class Unit : std::uint8_t { milliseconds, microseconds, count, bytes, share, ratio, rate };
  std::string_view column, title;
  Unit unit = Unit::count;
};
std::span<const Measure> measures();
/// "12.3 ms", "4.1 MiB", "31.0 %"
std::string figure(double value, Measure::Unit unit);

struct Measurement {
  std::int64_t trial = 0, repetition = 0;
  std::string key;
  double elapsed_ms =
      0;  ///< by operation in a contest of jobs whose time is fixed (Contest::by_operation)
  std::optional<double> quiescent_ms, host_busy;
  std::optional<double> rate;  ///< operations per second
  bool fixed_time = false;     ///< its job says how long it takes
  /// Of the busiest device: until quiescence (or the last call, where that was not waited for);
  /// until the last call.
  std::optional<double> busy_share, elapsed_busy_share;
  /// Processor time of the guest by the time until quiescence; 1: one processor all the time. None
  /// in virtual time.
  std::optional<double> processor_share;
  bool late = false;
  std::vector<std::optional<double>> values;  ///< in the order of measures()
  bool host_was_busy() const { return host_busy.value_or(0) > kBusyHost; }
};

/// What repeated measurements of an entrant say (ranking.h).
struct Standing {
  /// Of those that are not ranked though there are numbers, `cpu_bound` had a processor at work for
  /// most of the time that the device had nothing to do; `idle` had not: a cache's delay before it
  /// writes back, or a timer, was measured.
  enum class Kind : std::uint8_t { ranked, cpu_bound, idle, unmeasured };
  static bool is_unranked_number(Kind kind) {
    return kind == Kind::cpu_bound || kind == Kind::idle;
  }
  Kind kind = Kind::unmeasured;
  int rank = 0;  ///< from 1; entrants that cannot be distinguished share one
  statistics::Summary
      ranking;  ///< milliseconds: to quiescence, or elapsed where the contest is by that
  statistics::Summary elapsed;            ///< milliseconds
  double busy_share = 0;                  ///< median, over the time that is ranked by
  double elapsed_busy_share = 0;          ///< median, until the last call returned
  std::optional<double> processor_share;  ///< median, as in Measurement; none in virtual time
  /// To the best one, over equal repetitions where there are any (else of the means). Of the best:
  /// 1.
  statistics::Comparison to_best;
  std::size_t pairs = 0;
  bool by_operation = false;  ///< times are of one operation (Contest::by_operation)
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
  std::string profile;            ///< of the device
  std::int64_t device_bytes = 0;  ///< of it that are used; 0: not known
  std::string clock = "real";     ///< its kind: real, virtual (processor time is zero) or charged:K
  bool in_virtual_time() const { return clock != "real"; }
  bool to_quiescence = true;  ///< ranked by; false: some measurement did not wait for it
  bool by_operation = false;  ///< ranked by the time that one takes: the job's time is fixed
  const char* ranked_by() const {
    return by_operation ? "ms_per_operation" : to_quiescence ? "quiescent_ms" : "elapsed_ms";
  }
  std::vector<Entrant> entrants;  ///< ranked ones first, in order; then those that are not
  std::size_t ranked = 0;

  /// Its parameters are the sum of a job file, which tells a reader nothing.
  bool is_of_a_tool() const { return parameters.starts_with("job="); }
  bool has_own_sizes() const { return scale == "custom" && !is_of_a_tool(); }
  /// The mark of its size: "scaled", "custom"; empty: it is as its source defines it.
  std::string scale_mark() const {
    return scale == "scaled" || has_own_sizes() ? scale : std::string();
  }
  std::string setting() const;  ///< "copy files=535 users=4", "fio-mine"
  /// The same contest in another run.
  std::string identity() const;
};

struct BenchTrial {
  std::int64_t id = 0, repetition = 0, seed = 0;
  std::string key, device, workload, parameters, scale, filesystem, variant, clock, verdict,
      summary, started_at, profile;
  std::int64_t device_bytes = 0;
  bool late = false;
  std::optional<double> host_busy;
  bool failed() const { return verdict != "measured"; }
  bool in_virtual_time() const { return clock_kind() != "real"; }
  std::string clock_kind() const;  ///< as Contest::clock
};

/// Mean of a counter or of a tool's figure, per entrant.
struct MetricRow {
  std::string name, unit;
  std::map<std::string, double> means;  ///< by the entrant's name
};

struct BenchCurve {
  std::string device, workload, parameters, filesystem, variant;
  std::int64_t requests = 0;
  std::vector<std::pair<double, double>> points;  ///< (microseconds, share that took at most that)
  std::string name() const { return variant.empty() ? filesystem : filesystem + " " + variant; }
};

/// What a device did in a phase of one repetition.
struct BenchLoad {
  std::string device, workload, parameters, phase, filesystem, variant;
  struct Stretch {
    double begin_ms = 0, end_ms = 0;
    double bytes = 0;  ///< read and written
    double inside = 0;
  };
  std::vector<Stretch> stretches;
  std::string name() const { return variant.empty() ? filesystem : filesystem + " " + variant; }
};

struct BenchPanel {
  std::string device, setting;
  IoPanel io;
};

struct Benchmark {
  Facts facts;  ///< of the run as such: run, file systems, lateness; nothing of verdicts
  std::vector<Contest> contests;
  std::vector<BenchTrial> trials;
  std::map<std::string, std::vector<MetricRow>> metrics;  ///< by the contest's identity
  std::vector<BenchCurve> latency, flushes;
  std::vector<BenchLoad> load;
  std::vector<BenchPanel> io;

  std::size_t failed() const;
  // Of some trial. (All have the same: a benchmark's file says once what its guests are.)
  bool in_virtual_time() const { return clock() != "real"; }
  std::string clock() const;  ///< as Contest::clock
};

/// In the caller's transaction, so that all queries see one state even while the benchmark
/// continues. `run`: by default the newest of the benchmarks. Errors: no benchmark, no such run, a
/// run that is none.
Result<Benchmark> gather_benchmark(db::Database& database, std::optional<std::int64_t> run);

/// What kind of run that is, by default the newest; empty if there is none.
Result<std::string> kind_of_run(db::Database& database, std::optional<std::int64_t> run);

}  // namespace headcrash::report
