#pragma once
// All report data about one benchmark, read by the named queries. ranking.cc adds the statistics.
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

/// Prefix of a trial's clock that is followed by a factor: virtual time that includes processor
/// time.
inline constexpr std::string_view kChargedPrefix = "charged:";
/// Below this busy share the workload did not wait for the device.
inline constexpr double kDeviceBusy = 0.5;
/// Share of the host's CPU used by others.
inline constexpr double kBusyHost = 0.1;
/// A larger ratio of standard deviation to mean is noted.
inline constexpr double kWideSpread = 0.05;

/// Column of the query bench_measures.
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
  double elapsed_ms =
      0;  ///< per operation in a contest of jobs with a fixed time (Contest::by_operation)
  std::optional<double> quiescent_ms, host_busy;
  std::optional<double> rate;  ///< operations per second
  bool fixed_time = false;     ///< its job determines the duration
  /// Busy shares of the busiest device: until quiescence (or the last call, without waiting for
  /// it), and until the last call.
  std::optional<double> busy_share, elapsed_busy_share;
  /// Processor time of the guest divided by the time until quiescence; 1: one processor all the
  /// time. Empty in virtual time.
  std::optional<double> processor_share;
  bool late = false;
  std::vector<std::optional<double>> values;  ///< in the order of measures()
  bool host_was_busy() const { return host_busy.value_or(0) > kBusyHost; }
};

/// Result of an entrant's repeated measurements (ranking.h).
struct Standing {
  /// Kinds of results. Two kinds have numbers but no rank. For `cpu_bound`, a processor was busy
  /// for most of the device's idle time. For `idle` it was not: the time measures a timer, or a
  /// cache's delay before it writes back.
  enum class Kind : std::uint8_t { ranked, cpu_bound, idle, unmeasured };
  static bool is_unranked_number(Kind kind) {
    return kind == Kind::cpu_bound || kind == Kind::idle;
  }
  Kind kind = Kind::unmeasured;
  int rank = 0;  ///< from 1; indistinguishable entrants share one
  statistics::Summary
      ranking;  ///< milliseconds: to quiescence, or elapsed if the contest uses that
  statistics::Summary elapsed;            ///< milliseconds
  double busy_share = 0;                  ///< median, over the ranked time
  double elapsed_busy_share = 0;          ///< median, until the last call returned
  std::optional<double> processor_share;  ///< median, as in Measurement; empty in virtual time
  /// Comparison with the best entrant over equal repetitions if there are any, else of the means; 1
  /// for the best.
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
  std::string profile;            ///< of the device
  std::int64_t device_bytes = 0;  ///< used part of the device; 0: not known
  /// kind of clock: real, virtual (processor time is zero) or charged:K
  std::string clock = "real";
  bool in_virtual_time() const { return clock != "real"; }
  /// the ranked time; false: some measurement did not wait for quiescence
  bool to_quiescence = true;
  bool by_operation = false;  ///< ranked by the time per operation, as the job's time is fixed
  const char* ranked_by() const {
    return by_operation ? "ms_per_operation" : to_quiescence ? "quiescent_ms" : "elapsed_ms";
  }
  std::vector<Entrant> entrants;  ///< ranked ones in order, then the others
  std::size_t ranked = 0;

  /// Reports whether the parameters are the checksum of a job file, which must not be displayed.
  bool is_of_a_tool() const { return parameters.starts_with("job="); }
  bool has_own_sizes() const { return scale == "custom" && !is_of_a_tool(); }
  /// Returns the mark of its size: "scaled" or "custom"; empty: the size that its source defines.
  std::string scale_mark() const {
    return scale == "scaled" || has_own_sizes() ? scale : std::string();
  }
  std::string setting() const;  ///< "copy files=535 users=4", "fio-mine"
  /// Returns the identity, which is equal for the same contest in another run.
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

/// Mean of a counter or of a tool's value, per entrant.
struct MetricRow {
  std::string name, unit;
  std::map<std::string, double> means;  ///< by the entrant's name
};

struct BenchCurve {
  std::string device, workload, parameters, filesystem, variant;
  std::int64_t requests = 0;
  /// (microseconds, share of requests within that time)
  std::vector<std::pair<double, double>> points;
  std::string name() const { return variant.empty() ? filesystem : filesystem + " " + variant; }
};

/// Activity of a device in a phase of one repetition.
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
  Facts facts;  ///< of the run: run, file systems, lateness; without verdicts
  std::vector<Contest> contests;
  std::vector<BenchTrial> trials;
  std::map<std::string, std::vector<MetricRow>> metrics;  ///< by the contest's identity
  std::vector<BenchCurve> latency, flushes;
  std::vector<BenchLoad> load;
  std::vector<BenchPanel> io;

  std::size_t failed() const;
  // Clock of some trial. All trials have the same clock, as a benchmark's file defines its guests
  // once.
  bool in_virtual_time() const { return clock() != "real"; }
  std::string clock() const;  ///< as Contest::clock
};

/// Reads a benchmark in the caller's transaction, so that all queries read one state while the
/// benchmark continues. `run`: by default the newest benchmark. Errors: no benchmark, no such run,
/// a run of another kind.
Result<Benchmark> gather_benchmark(db::Database& database, std::optional<std::int64_t> run);

/// Returns the kind of a run, by default the newest; empty without a run.
Result<std::string> kind_of_run(db::Database& database, std::optional<std::int64_t> run);

}  // namespace headcrash::report
