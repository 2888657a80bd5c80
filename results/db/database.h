#pragma once
// The results database: SQLite in WAL mode, foreign keys on, schema in the numbered .sql files
// beside this header.
//
// A database is opened for writing by one campaign at a time per process; several processes may
// write, each trial in one transaction. A database of an older schema version is migrated when it
// is opened for writing; one of a newer version, a damaged one, or a file that is not a database is
// refused and left as it was.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plugin/base/result.h"

struct sqlite3;

namespace headcrash::db {

inline constexpr int kSchemaVersion = 9;

struct RunRecord {
  std::string kind, name, configuration, digest;
  std::int64_t seed = 0;
  std::int64_t trials_planned = 0;
  std::string host_json, versions_json, accelerator;
};

struct LatencySummary {  ///< microseconds
  double mean_us = 0, p50_us = 0, p99_us = 0, max_us = 0;
};
struct LatencyBucket {
  double upper_us = 0;
  std::int64_t count = 0;
};

/// What the first device did in a stretch of a phase.
struct LoadRecord {
  double begin_ms = 0, end_ms = 0;  ///< model time since the phase began
  std::int64_t bytes_read = 0, bytes_written = 0, flushes = 0;
  double inside = 0;  ///< requests, on the average
};

/// What a device other than the first did in a phase.
struct DevicePhaseRecord {
  std::string name;
  std::int64_t reads = 0, writes = 0, flushes = 0, bytes_read = 0, bytes_written = 0,
               media_bytes_written = 0;
  std::int64_t cache_hits = 0, seeks = 0;
  double busy_ms = 0;
};

/// A metric of a phase whose job fixes how long it takes, in s: what differs is how much was done
/// in it.
inline constexpr const char* kFixedTimeMetric = "fixed_time";

/// A figure that not every device or workload has: "hd0.nvram.dirty_hits".
struct MetricRecord {
  std::string name, unit;
  double value = 0;
};

/// What the guest's block layer says of the same requests, from /proc/diskstats.
struct GuestDiskRecord {
  std::int64_t reads = 0, writes = 0, flushes = 0, bytes_read = 0, bytes_written = 0, merges = 0;
  double busy_ms = 0;
};

/// A phase of a benchmark's workload.
struct MeasureRecord {
  std::string label;
  bool measured = true;  ///< false: preparation or verification
  double elapsed_ms = 0;
  std::optional<double> quiescent_ms;  ///< none: not waited for
  double user_ms = 0, system_ms = 0;
  double device_busy_ms = 0;  ///< of the busiest device, during elapsed_ms
  std::string operation;
  std::int64_t operations = 0, app_bytes_read = 0, app_bytes_written = 0;
  GuestDiskRecord guest;
};

struct PhaseRecord {
  std::string name, clock;
  double wall_ms = 0, model_ms = 0;
  std::optional<int> exit_code;
  std::int64_t reads = 0, writes = 0, flushes = 0, bytes_read = 0, bytes_written = 0;
  std::int64_t media_writes = 0, media_bytes_written = 0, cache_hits = 0, seeks = 0;
  double busy_ms = 0;
  std::optional<LatencySummary> target, achieved, lateness;
  std::vector<LatencyBucket> target_buckets, achieved_buckets, flush_buckets;
  std::vector<LoadRecord> load;  ///< kept of a measured phase of a benchmark only
  std::vector<DevicePhaseRecord> devices;
  std::optional<MeasureRecord> measure;
  std::vector<MetricRecord> metrics;
};

struct IoRecord {
  double at_ms = 0;
  std::int64_t lba = 0, sectors = 0;
  std::string op;  ///< read, write, flush, media
  std::optional<double> response_us;
  std::int64_t device = 0;  ///< ordinal
};

struct DeviceRecord {
  std::string name, profile;
  std::int64_t sectors = 0;
  std::optional<std::int64_t> parent;  ///< ordinal
};

struct IncidentRecord {
  std::int64_t at_ns = 0;
  std::int64_t device = 0;  ///< ordinal
  std::string text;
};

struct FindingRecord {
  std::string kind, tier, path, expected, found;
};

struct ArtefactRecord {
  std::string kind;
  std::filesystem::path path;  ///< relative to the database's folder
  std::int64_t bytes = 0;
};

/// What a strategy covered (plugin/states/state_enumerator.h).
struct CoverageRecord {
  std::string strategy;
  double space = 0;
  std::int64_t generated = 0, distinct_states = 0, checked = 0;
  std::string bound;  ///< what was left out, in words; empty for nothing
};

/// A failure that was looked at again.
struct FailureRecord {
  bool confirmed = false;
  std::string disagreement, tier, operations, minimised_state, account, replay;
};

/// A crash state that was checked.
struct CrashStateRecord {
  std::string name, strategy;
  std::uint64_t digest = 0;
  std::optional<std::int64_t> persisted_operation;
  std::string verdict, summary;
  bool in_guest = false;
  double wall_ms = 0;
  std::vector<FindingRecord> findings;
  std::optional<FailureRecord> failure;
};

/// A step over all states of a trial.
struct StepTimeRecord {
  std::string step;
  std::int64_t count = 0;
  double total_ms = 0;
};

/// A cell of the campaign io-errors; the texts are those of 0006.sql.
struct IoErrorStepRecord {
  std::string step, result;
};
struct IoErrorRecord {
  std::string failed_request, ending;
  bool lasting = false;
  std::int64_t requests_failed = 0;
  std::string failed_block;
  std::string first_fsync, second_fsync, reopened_fsync, sync_fs, fsync_after_sync;
  std::string later_fsync, other_fsync, new_file_fsync, state;
  std::string cached, reread, recovered, rest, later, other, new_file;
  std::string after_recovery, surprise, documented, kernel_log;
  std::vector<IoErrorStepRecord> steps;  ///< in order
};

struct TrialRecord {
  std::string key, filesystem, device, workload;
  std::int64_t seed = 0;
  std::string clock, cut;
  std::optional<std::int64_t> cut_at_ns, after_persistence_ns, persisted_operation;
  std::int64_t operations = 0;
  std::string verdict, expected, summary, started_at;
  double wall_ms = 0;
  bool late = false;
  std::vector<DeviceRecord> devices;  ///< index is the ordinal
  std::vector<PhaseRecord> phases;    ///< in order
  std::vector<IoRecord> io;
  std::vector<IncidentRecord> incidents;
  std::vector<FindingRecord> findings;
  std::vector<ArtefactRecord> artefacts;
  std::optional<std::string> control;  ///< what it has to show: lose, damage, keep, keep-after-fsck
  std::string variant;
  std::vector<CoverageRecord> coverage;  ///< of an explored trial
  std::vector<CrashStateRecord> states;
  std::vector<StepTimeRecord> steps;
  std::optional<IoErrorRecord> io_error;
  std::optional<std::int64_t> repetition;  ///< of a benchmark; none: no benchmark
  std::string parameters, scale;           ///< "files=1000 users=4"; exact, scaled, custom
  std::optional<double> host_busy;         ///< share of the CPU that others used meanwhile
};

/// A number of an experiment: the paper's beside ours. `verdict` and the rest of a rule likewise.
struct ClaimNumberRecord {
  std::string claim, part, title, cell, quantity, unit;
  std::optional<double> paper, ours;
  std::string remark;
  std::optional<double> low = {},
                        high = {};  ///< ours is a mean over seeds, and that is its interval
};
struct ClaimRuleRecord {
  std::string claim, rule, verdict, detail;
};
/// A table whose name begins with this is drawn as a heat map by the report: a group of rows, the
/// row, then multiples of the row's best ("1.23"; with the mark where no other is better; "-":
/// none).
inline constexpr const char* kHeatMap = "heat map";
inline constexpr const char* kUnbeaten = "*";
/// A cell of a table that an experiment tells, row by row.
struct ClaimTableRecord {
  std::string claim, name, title;
  std::int64_t line = 0;
  std::string heading, value;
};
struct ClaimPointRecord {
  std::string claim, plot, title, x_axis, y_axis;
  bool logarithmic_x = false;
  std::string series;
  bool from_paper = false;
  double x = 0, y = 0;
};
/// All that an experiment answers, each in order.
struct ClaimRecords {
  std::vector<ClaimNumberRecord> numbers;
  std::vector<ClaimRuleRecord> rules;
  std::vector<ClaimTableRecord> tables = {};
  std::vector<ClaimPointRecord> points = {};
};

class Database {
 public:
  enum class Access { read_only, read_write };
  /// read_write makes the file (and its folder) if there is none; read_only refuses a missing file.
  static Result<Database> open(const std::filesystem::path& path, Access access);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();
  /// Moves the write-ahead log into the database file, so that the file alone is the database, and
  /// closes it. The destructor closes too, but leaves a log that could not be moved and reports
  /// nothing. Call without open statements. Errors: a full disk, another process that uses the
  /// database.
  Result<void> close() &&;

  Result<std::int64_t> begin_run(const RunRecord& run);
  /// The newest run with this digest that has no finished_at, for --resume.
  Result<std::optional<std::int64_t>> unfinished_run(const std::string& digest);
  /// The newest one, finished or not.
  Result<std::optional<std::int64_t>> newest_run_of(const std::string& digest);
  /// Forgets the run's trials that ended so, which makes it unfinished if there were any. How many.
  Result<std::int64_t> forget_trials(std::int64_t run, const std::string& verdict);
  Result<std::set<std::string>> finished_trials(std::int64_t run);
  /// All of a trial in one transaction: either everything is there or nothing.
  Result<std::int64_t> record_trial(std::int64_t run, const TrialRecord& trial);
  /// What an experiment answers, in one transaction.
  Result<void> record_claims(std::int64_t run, const ClaimRecords& records);
  Result<void> finish_run(std::int64_t run);
  /// A resumed run plans as many trials: a merged one knows only of the shards it was made of.
  Result<void> resume_run(std::int64_t run, std::int64_t trials_planned);
  Result<std::optional<std::int64_t>> newest_run(const std::string& kind);

  const std::filesystem::path& path() const;
  sqlite3* handle();  ///< for the report's named queries

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::db
