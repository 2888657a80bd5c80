#pragma once
// All data about one benchmark that the report needs, read by the named queries. ranking.cc adds
// the statistics.
//
//   run -> contest: device x workload x parameters x phase   unit of comparison
//            -> entrant: a file system (and variant)         compared with the others
//                 -> measurement: one repetition             paired with the same repetition
//                                                           of the others

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

/// Prefix of a trial's clock in virtual time if processor time is charged: "charged:FACTOR".
inline constexpr std::string_view kChargedPrefix = "charged:";
/// Minimum fraction of the time during which the device must be busy. A device with a smaller
/// fraction did not limit the workload.
inline constexpr double kDeviceBusy = 0.5;
/// If other processes used more than this fraction of the host's CPU, a note says that the host was
/// busy.
inline constexpr double kBusyHost = 0.1;
/// If the standard deviation exceeds this fraction of the mean, a note reports the spread.
inline constexpr double kWideSpread = 0.05;

/// A measured quantity. `column` is a column of the query bench_measures.
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
  /// These times are per operation if the contest ranks jobs with a fixed duration
  /// (Contest::by_operation).
  double elapsed_ms = 0;
  std::optional<double> quiescent_ms, host_busy;
  std::optional<double> rate;  ///< operations per second
  bool fixed_time = false;
  /// Fraction of the time during which the busiest device was busy. For busy_share, the time ends
  /// at quiescence, or at the last call's return if the trial did not wait for quiescence. For
  /// elapsed_busy_share, it ends at the last call's return.
  std::optional<double> busy_share, elapsed_busy_share;
  /// The guest's processor time divided by the time until quiescence. 1 means that one processor
  /// was always busy. Empty in virtual time.
  std::optional<double> processor_share;
  bool late = false;
  std::vector<std::optional<double>> values;  ///< in the same order as measures()
  bool host_was_busy() const { return host_busy.value_or(0) > kBusyHost; }
};

/// The result of an entrant's repeated measurements (ranking.h).
struct Standing {
  /// Kinds of results. `cpu_bound` and `idle` entrants have numbers but no rank, because the device
  /// was idle for most of the time. For `cpu_bound`, a processor was busy for most of that idle
  /// time. For `idle`, the processor was also idle, so the time measures a timer, or the delay
  /// after which a cache writes back.
  enum class Kind : std::uint8_t { ranked, cpu_bound, idle, unmeasured };
  static bool is_unranked_number(Kind kind) {
    return kind == Kind::cpu_bound || kind == Kind::idle;
  }
  Kind kind = Kind::unmeasured;
  int rank = 0;  ///< from 1; entrants that cannot be distinguished share a rank
  /// The times by which entrants are ranked, in milliseconds: times to quiescence or elapsed times,
  /// depending on the contest.
  statistics::Summary ranking;
  statistics::Summary elapsed;  ///< milliseconds
  /// Median fraction of the ranked time during which the device was busy.
  double busy_share = 0;
  /// Median fraction of the elapsed time during which the device was busy.
  double elapsed_busy_share = 0;
  /// Median of Measurement::processor_share; empty in virtual time.
  std::optional<double> processor_share;
  /// The comparison with the best entrant; its ratio is 1 for the best entrant itself. Compares
  /// equal repetitions in pairs if both entrants have them; otherwise, compares the means.
  statistics::Comparison to_best;
  std::size_t pairs = 0;
  bool by_operation = false;  ///< the ranked times are per operation (Contest::by_operation)
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
  std::string profile;
  std::int64_t device_bytes = 0;  ///< size of the used part of the device; 0 if unknown
  /// The clock: real, virtual (processor time is not counted) or charged:K.
  std::string clock = "real";
  bool in_virtual_time() const { return clock != "real"; }
  /// True if the contest ranks times to quiescence; false if some measurement did not wait for
  /// quiescence.
  bool to_quiescence = true;
  /// ranks the time per operation, because all jobs have the same fixed duration
  bool by_operation = false;
  const char* ranked_by() const {
    return by_operation ? "ms_per_operation" : to_quiescence ? "quiescent_ms" : "elapsed_ms";
  }
  std::vector<Entrant> entrants;  ///< ranked entrants in rank order, then the others
  std::size_t ranked = 0;

  /// Returns true if the workload is a benchmark program. Its parameters are the checksum of a job
  /// file, which must not be displayed.
  bool is_of_a_tool() const { return parameters.starts_with("job="); }
  bool has_own_sizes() const { return scale == "custom" && !is_of_a_tool(); }
  /// Returns "scaled" or "custom" if the workload's size differs from that in its source (a paper
  /// or program). Otherwise, returns an empty string.
  std::string scale_mark() const {
    return scale == "scaled" || has_own_sizes() ? scale : std::string();
  }
  std::string setting() const;  ///< returns text such as "copy files=535 users=4" or "fio-mine"
  /// Returns a key that identifies the contest in every run.
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

/// A counter, or a value that a tool printed, with its mean for each entrant.
struct MetricRow {
  std::string name, unit;
  std::map<std::string, double> means;  ///< the key is the entrant's name
};

struct BenchCurve {
  std::string device, workload, parameters, filesystem, variant;
  std::int64_t requests = 0;
  /// Pairs of a time in microseconds and the fraction of requests that took at most this time.
  std::vector<std::pair<double, double>> points;
  std::string name() const { return variant.empty() ? filesystem : filesystem + " " + variant; }
};

/// The activity of a device during a phase, in one repetition.
struct BenchLoad {
  std::string device, workload, parameters, phase, filesystem, variant;
  struct TimeSpan {
    double begin_ms = 0, end_ms = 0;
    double bytes = 0;  ///< bytes read and written
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
  std::map<std::string, std::vector<MetricRow>> metrics;  ///< the key is the contest's identity
  std::vector<BenchCurve> latency, flushes;
  std::vector<BenchLoad> load;
  std::vector<BenchPanel> io;

  std::size_t failed() const;
  // A benchmark has only one definition of its guests, so all trials use the same clock.
  bool in_virtual_time() const { return clock() != "real"; }
  std::string clock() const;  ///< as Contest::clock
};

/// Reads a benchmark in the caller's transaction, so that all queries see the same state even while
/// the benchmark is running. `run` defaults to the newest benchmark. Fails if there is no benchmark
/// or no such run, or if the run is of another kind.
Result<Benchmark> gather_benchmark(db::Database& database, std::optional<std::int64_t> run);

/// Returns the kind of a run, or of the newest run if `run` is nullopt. Returns an empty string if
/// the run does not exist.
Result<std::string> kind_of_run(db::Database& database, std::optional<std::int64_t> run);

}  // namespace headcrash::report
