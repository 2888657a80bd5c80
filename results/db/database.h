#pragma once
// The results database: SQLite in WAL mode with foreign keys. The schema is in the numbered .sql
// files in this directory.
//
// In one process, only one campaign at a time opens a database for writing. Several processes may
// write; each trial is one transaction. A database with an older schema version is migrated when it
// is opened for writing. A file is rejected and not changed if its version is newer, if it is
// damaged or if it is not a database.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "plugin/base/result.h"

struct sqlite3;

namespace headcrash::experiment {
struct ClaimAnswer;  // claim.h
}

namespace headcrash::db {

inline constexpr int kSchemaVersion = 11;

struct RunRecord {
  std::string kind, name, configuration, digest;
  std::int64_t seed = 0;
  std::int64_t trials_planned = 0;
  std::string host_json, versions_json, accelerator;
};

struct LatencySummary {  ///< in microseconds
  double mean_us = 0, p50_us = 0, p99_us = 0, max_us = 0;
};
struct LatencyBucket {
  double upper_us = 0;
  std::int64_t count = 0;
};

/// The activity of the first device during one interval of a phase.
struct LoadRecord {
  double begin_ms = 0, end_ms = 0;  ///< model time since the start of the phase
  std::int64_t bytes_read = 0, bytes_written = 0, flushes = 0;
  double inside = 0;  ///< mean number of requests at the device
};

/// Counters of a phase, for a device other than the first.
struct DevicePhaseRecord {
  std::string name;
  std::int64_t reads = 0, writes = 0, flushes = 0, bytes_read = 0, bytes_written = 0,
               media_bytes_written = 0;
  std::int64_t cache_hits = 0, seeks = 0;
  double busy_ms = 0;
};

/// Name of the metric that marks phases whose job has a fixed duration; the value is this duration
/// in seconds. Such phases are compared by the amount of work done.
inline constexpr const char* kFixedTimeMetric = "fixed_time";

// Verdicts of the trials of benchmarks, experiments and surveys. These trials only measure. All
// other verdicts come from the oracle.
inline constexpr const char* kMeasured = "measured";
inline constexpr const char* kFailed = "failed";

/// A number that exists only for some devices or workloads, such as "hd0.nvram.dirty_hits".
struct MetricRecord {
  std::string name, unit;
  double value = 0;
};

/// Counters of the guest's block layer (/proc/diskstats) for one phase.
struct GuestDiskRecord {
  std::int64_t reads = 0, writes = 0, flushes = 0, bytes_read = 0, bytes_written = 0, merges = 0;
  double busy_ms = 0;
};

/// A phase of a benchmark's workload.
struct MeasureRecord {
  std::string label;
  bool measured = true;  ///< false for a phase that prepares or verifies
  double elapsed_ms = 0;
  /// Time until the device was idle; nullopt if the trial did not wait for that.
  std::optional<double> quiescent_ms;
  double user_ms = 0, system_ms = 0;
  double device_busy_ms = 0;  ///< busy time of the busiest device during elapsed_ms
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
  std::vector<LoadRecord> load;  ///< stored only for measured phases of a benchmark
  std::vector<DevicePhaseRecord> devices;
  std::optional<MeasureRecord> measure;
  std::vector<MetricRecord> metrics;
};

struct IoRecord {
  double at_ms = 0;
  std::int64_t lba = 0, sectors = 0;
  std::string op;  ///< one of read, write, flush, media
  std::optional<double> response_us;
  std::int64_t device = 0;  ///< ordinal of the device
};

struct DeviceRecord {
  std::string name, profile;
  std::int64_t sectors = 0;
  std::optional<std::int64_t> parent;  ///< ordinal of the device above this one
};

struct IncidentRecord {
  std::int64_t at_ns = 0;
  std::int64_t device = 0;  ///< ordinal of the device
  std::string text;
};

struct FindingRecord {
  std::string kind, tier, path, expected, found;
};

struct ArtefactRecord {
  std::string kind;
  std::filesystem::path path;  ///< relative to the database's directory
  std::int64_t bytes = 0;
};

/// A strategy's coverage (plugin/states/state_enumerator.h).
struct CoverageRecord {
  std::string strategy;
  double space = 0;
  std::int64_t generated = 0, distinct_states = 0, checked = 0;
  std::string bound;  ///< describes the omitted states; empty if no states were omitted
};

/// The result of checking a failure again.
struct FailureRecord {
  bool confirmed = false;
  std::string disagreement, tier, operations, minimised_state, account, replay;
};

/// A checked crash state and its verdict.
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

/// The total time that a step took over all states of a trial.
struct StepTimeRecord {
  std::string step;
  std::int64_t count = 0;
  double total_ms = 0;
};

/// A cell of the io-errors campaign. For the meaning of the texts, see 0006.sql.
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
  /// The required outcome of a control: lose, damage, keep, keep-after-fsck.
  std::optional<std::string> control;
  std::string variant;
  /// Names of the known findings that explain all failures of the trial; see 0011.sql.
  std::string known;
  std::string cause;                     ///< cause of a failure on a stack, in words; see 0011.sql
  std::vector<CoverageRecord> coverage;  ///< empty unless the trial explored crash states
  std::vector<CrashStateRecord> states;
  std::vector<StepTimeRecord> steps;
  std::optional<IoErrorRecord> io_error;
  std::optional<std::int64_t> repetition;  ///< nullopt unless the trial is a benchmark
  /// The workload's parameters, such as "files=1000 users=4", and their scale: exact, scaled or
  /// custom.
  std::string parameters, scale;
  /// Fraction of the host's processor time that other processes used during the trial.
  std::optional<double> host_busy;
};

class Database {
 public:
  enum class Access { read_only, read_write };
  /// Opens a database. With read_write, creates the file and its directory if they are missing.
  /// With read_only, fails if the file is missing.
  static Result<Database> open(const std::filesystem::path& path, Access access);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();
  /// Closes the database after moving the write-ahead log into the database file, so that this file
  /// alone is the database. (The destructor also closes the database. If the log cannot be moved,
  /// the destructor leaves the log in place and reports no error.) REQUIRES: no open statements.
  /// Fails if the disk is full, or if another process is using the database.
  Result<void> close() &&;

  Result<std::int64_t> begin_run(const RunRecord& run);
  /// Returns the newest run that has this digest and has not finished. For --resume.
  Result<std::optional<std::int64_t>> unfinished_run(const std::string& digest);
  /// Returns the newest run that has this digest, whether or not it has finished.
  Result<std::optional<std::int64_t>> newest_run_of(const std::string& digest);
  /// Deletes the run's trials that have this verdict, and returns the number of deleted trials. If
  /// there were any, the run becomes unfinished.
  Result<std::int64_t> forget_trials(std::int64_t run, const std::string& verdict);
  Result<std::set<std::string>> finished_trials(std::int64_t run);
  /// Records a whole trial in one transaction.
  Result<std::int64_t> record_trial(std::int64_t run, const TrialRecord& trial);
  /// Records an experiment's results in one transaction. The lists keep their order.
  Result<void> record_claims(std::int64_t run, std::span<const experiment::ClaimAnswer> answers);
  Result<void> finish_run(std::int64_t run);
  /// Updates the number of planned trials of a run that is resumed. In a merged run, the old number
  /// counts only the trials of the merged shards.
  Result<void> resume_run(std::int64_t run, std::int64_t trials_planned);
  Result<std::optional<std::int64_t>> newest_run(const std::string& kind);

  const std::filesystem::path& path() const;
  sqlite3* handle();  ///< used by the report's named queries

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::db
