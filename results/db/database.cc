// Opens and writes a results database.
//
// Before the first pragma that could write, the file's owner, version and integrity are checked.
// The database then uses WAL, so that readers never wait for a campaign. It uses synchronous=FULL,
// which costs one fsync per trial, so that a recorded trial is on the disk. If the file system does
// not support WAL, SQLite keeps its rollback journal, which is as safe but slower.
#include "results/db/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include "results/db/claim.h"
#include "results/db/migrations.h"
#include "results/db/opening_turn.h"
#include "results/db/sqlite_error.h"
#include "results/db/statement.h"

namespace headcrash::db {

struct CloseHandle {
  void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
};
using Handle = std::unique_ptr<sqlite3, CloseHandle>;

namespace {

constexpr int kBusyTimeoutMs = 30'000;

Result<Handle> open_handle(const std::string& name, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &raw, flags | SQLITE_OPEN_EXRESCODE, nullptr);
  Handle handle(raw);
  if (code != SQLITE_OK) return tl::unexpected(sqlite_error(raw));
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  return handle;
}

/// Returns a file name in the form of a SQLite URI.
std::string immutable_uri(const std::filesystem::path& path) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

/// Returns true if the file must be opened as immutable. Normally, reading a WAL database requires
/// a -shm file next to it. In a read-only directory, that file cannot be created, but there are no
/// writers either. A database without a log can therefore be read directly.
bool must_read_as_it_stands(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto folder = std::filesystem::absolute(path).parent_path();
  return faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) != 0 &&
         !std::filesystem::exists(path.string() + "-wal", ignored);
}

Result<Handle> open_for_reading(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return fail(path.string(), "no such file",
                "run a campaign first, or specify its database with --db");
  }
  TRY(auto handle, must_read_as_it_stands(path)
                       ? open_handle(immutable_uri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
                       : open_handle(path.string(), SQLITE_OPEN_READONLY));
  TRY(const auto state, inspect(handle.get(), path, kSchemaVersion));
  if (state == FileState::fresh) {
    return fail(path.string(), "is an empty file",
                "run a campaign first, or specify its database with --db");
  }
  if (state == FileState::older) {
    return fail(path.string(), "has the schema of an older version of headcrash",
                "run a command that writes to the database, which migrates it");
  }
  return handle;
}

/// Fails if a new file's directory is not writable. SQLite would report this as a missing file.
Result<void> check_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (std::filesystem::exists(path, ignored) ||
      faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0)
    return {};
  return fail(folder.string(), "cannot be written: " + std::generic_category().message(errno),
              "choose another folder for the database");
}

Result<Handle> open_for_writing(const std::filesystem::path& path) {
  std::error_code problem;
  const auto folder = path.parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, problem);
  if (problem)
    return fail(folder.string(), "cannot be created: " + problem.message(),
                "choose another folder");
  TRY(check_folder(path));
  TRY(const auto turn, OpeningTurn::take(path, std::chrono::milliseconds(kBusyTimeoutMs)));
  TRY(auto handle, open_handle(path.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  TRY(inspect(handle.get(), path, kSchemaVersion));
  if (sqlite3_db_readonly(handle.get(), "main") == 1) {
    return fail(path.string(), "is not writable",
                "check the permissions of the file and of its folder");
  }
  TRY(execute(handle.get(), "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"));
  TRY(migrate(handle.get(), path, known_migrations()));
  return handle;
}

std::optional<double> field(const std::optional<LatencySummary>& summary,
                            double LatencySummary::* member) {
  return summary ? std::optional(*summary.*member) : std::nullopt;
}

Result<std::int64_t> insert_trial(sqlite3* handle, std::int64_t run, const TrialRecord& t) {
  TRY(auto insert,
      Statement::prepare(
          handle,
          "INSERT INTO trial (run_id, key, filesystem, device, workload, seed, clock, cut, "
          "cut_at_ns, after_persistence_ns, persisted_operation, operations, verdict, expected, "
          "summary, started_at, wall_ms, late, control, variant, repetition, parameters, scale, "
          "host_busy, known, cause) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  TRY(insert
          .bind(run, t.key, t.filesystem, t.device, t.workload, t.seed, t.clock, t.cut, t.cut_at_ns,
                t.after_persistence_ns, t.persisted_operation, t.operations, t.verdict, t.expected,
                t.summary, t.started_at, t.wall_ms, t.late, t.control, t.variant, t.repetition,
                t.parameters, t.scale, t.host_busy, t.known, t.cause)
          .run());
  return sqlite3_last_insert_rowid(handle);
}

/// Inserts each of `rows`. `bind` binds the values of one row.
template <typename Rows, typename Bind>
Result<void> insert_each(sqlite3* handle, std::string_view sql, const Rows& rows,
                         const Bind& bind) {
  if (rows.empty()) return {};
  TRY(auto insert, Statement::prepare(handle, sql));
  for (const auto& row : rows) {
    bind(insert, row);
    TRY(insert.run());
  }
  return {};
}

Result<void> insert_buckets(Statement& insert, std::int64_t phase, const std::string& kind,
                            const std::vector<LatencyBucket>& buckets) {
  for (const auto& bucket : buckets) {
    TRY(insert.bind(phase, kind, bucket.upper_us, bucket.count).run());
  }
  return {};
}

Result<void> insert_device_phases(sqlite3* handle, std::int64_t phase,
                                  const std::vector<DevicePhaseRecord>& devices) {
  return insert_each(
      handle,
      "INSERT INTO device_phase (phase_id, name, reads, writes, flushes, bytes_read, "
      "bytes_written, media_bytes_written, cache_hits, seeks, busy_ms) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      devices, [&](Statement& insert, const DevicePhaseRecord& d) {
        insert.bind(phase, d.name, d.reads, d.writes, d.flushes, d.bytes_read, d.bytes_written,
                    d.media_bytes_written, d.cache_hits, d.seeks, d.busy_ms);
      });
}

Result<void> insert_flushes(sqlite3* handle, std::int64_t phase,
                            const std::vector<LatencyBucket>& buckets) {
  return insert_each(
      handle, "INSERT INTO flush_latency (phase_id, upper_us, count) VALUES (?, ?, ?)", buckets,
      [&](Statement& insert, const LatencyBucket& b) { insert.bind(phase, b.upper_us, b.count); });
}

/// Stores how the load changed during a phase. Does nothing for phases that were not measured,
/// because a campaign has thousands of trials and the rows would take too much space.
Result<void> insert_load(sqlite3* handle, std::int64_t phase, const PhaseRecord& record) {
  if (!record.measure || !record.measure->measured) return {};
  return insert_each(
      handle,
      "INSERT INTO load (phase_id, begin_ms, end_ms, bytes_read, bytes_written, flushes, inside) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)",
      record.load, [&](Statement& insert, const LoadRecord& l) {
        insert.bind(phase, l.begin_ms, l.end_ms, l.bytes_read, l.bytes_written, l.flushes,
                    l.inside);
      });
}

Result<void> insert_measure(sqlite3* handle, std::int64_t phase, const PhaseRecord& record) {
  if (record.measure) {
    TRY(auto insert,
        Statement::prepare(
            handle,
            "INSERT INTO measure (phase_id, label, measured, elapsed_ms, quiescent_ms, user_ms, "
            "system_ms, device_busy_ms, operation, operations, app_bytes_read, app_bytes_written, "
            "guest_reads, guest_writes, guest_flushes, guest_bytes_read, guest_bytes_written, "
            "guest_merges, guest_busy_ms) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    const auto& m = *record.measure;
    const auto& g = m.guest;
    auto done = insert
                    .bind(phase, m.label, m.measured, m.elapsed_ms, m.quiescent_ms, m.user_ms,
                          m.system_ms, m.device_busy_ms, m.operation, m.operations,
                          m.app_bytes_read, m.app_bytes_written, g.reads, g.writes, g.flushes,
                          g.bytes_read, g.bytes_written, g.merges, g.busy_ms)
                    .run();
    if (!done) return done;
  }
  if (record.metrics.empty()) return {};
  TRY(auto metric,
      Statement::prepare(handle,
                         "INSERT INTO metric (phase_id, name, unit, value) VALUES (?, ?, ?, ?)"));
  for (const auto& m : record.metrics) {
    TRY(metric.bind(phase, m.name, m.unit, m.value).run());
  }
  return {};
}

Result<void> insert_phases(sqlite3* handle, std::int64_t trial,
                           const std::vector<PhaseRecord>& phases) {
  TRY(auto insert,
      Statement::prepare(
          handle,
          "INSERT INTO phase (trial_id, ordinal, name, clock, wall_ms, model_ms, exit_code, reads, "
          "writes, flushes, bytes_read, bytes_written, media_writes, media_bytes_written, "
          "cache_hits, seeks, busy_ms, target_p50_us, target_p99_us, target_mean_us, "
          "achieved_p50_us, achieved_p99_us, achieved_mean_us, lateness_p50_us, lateness_p99_us, "
          "lateness_max_us) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  TRY(auto bucket,
      Statement::prepare(
          handle, "INSERT INTO latency (phase_id, kind, upper_us, count) VALUES (?, ?, ?, ?)"));
  using S = LatencySummary;
  std::int64_t ordinal = 0;
  for (const auto& p : phases) {
    auto done = insert
                    .bind(trial, ordinal++, p.name, p.clock, p.wall_ms, p.model_ms, p.exit_code,
                          p.reads, p.writes, p.flushes, p.bytes_read, p.bytes_written,
                          p.media_writes, p.media_bytes_written, p.cache_hits, p.seeks, p.busy_ms,
                          field(p.target, &S::p50_us), field(p.target, &S::p99_us),
                          field(p.target, &S::mean_us), field(p.achieved, &S::p50_us),
                          field(p.achieved, &S::p99_us), field(p.achieved, &S::mean_us),
                          field(p.lateness, &S::p50_us), field(p.lateness, &S::p99_us),
                          field(p.lateness, &S::max_us))
                    .run();
    const std::int64_t phase = sqlite3_last_insert_rowid(handle);
    if (done) done = insert_buckets(bucket, phase, "target", p.target_buckets);
    if (done) done = insert_buckets(bucket, phase, "achieved", p.achieved_buckets);
    if (done) done = insert_flushes(handle, phase, p.flush_buckets);
    if (done) done = insert_load(handle, phase, p);
    if (done) done = insert_device_phases(handle, phase, p.devices);
    if (done) done = insert_measure(handle, phase, p);
    if (!done) return done;
  }
  return {};
}

Result<void> insert_machine(sqlite3* handle, std::int64_t trial, const TrialRecord& record) {
  std::int64_t ordinal = 0;
  auto done = insert_each(handle,
                          "INSERT INTO device (trial_id, ordinal, name, profile, sectors, parent) "
                          "VALUES (?, ?, ?, ?, ?, ?)",
                          record.devices, [&](Statement& insert, const DeviceRecord& d) {
                            insert.bind(trial, ordinal++, d.name, d.profile, d.sectors, d.parent);
                          });
  if (!done) return done;
  return insert_each(handle,
                     "INSERT INTO incident (trial_id, at_ns, device, text) VALUES (?, ?, ?, ?)",
                     record.incidents, [&](Statement& insert, const IncidentRecord& i) {
                       insert.bind(trial, i.at_ns, i.device, i.text);
                     });
}

Result<void> insert_leaves(sqlite3* handle, std::int64_t trial, const TrialRecord& record) {
  auto done =
      insert_each(handle,
                  "INSERT INTO io (trial_id, at_ms, lba, sectors, op, response_us, device) "
                  "VALUES (?, ?, ?, ?, ?, ?, ?)",
                  record.io, [&](Statement& insert, const IoRecord& r) {
                    insert.bind(trial, r.at_ms, r.lba, r.sectors, r.op, r.response_us, r.device);
                  });
  if (!done) return done;
  done = insert_each(
      handle,
      "INSERT INTO finding (trial_id, kind, tier, path, expected, found) VALUES (?, ?, ?, ?, ?, ?)",
      record.findings, [&](Statement& insert, const FindingRecord& f) {
        insert.bind(trial, f.kind, f.tier, f.path, f.expected, f.found);
      });
  if (!done) return done;
  return insert_each(handle,
                     "INSERT INTO artefact (trial_id, kind, path, bytes) VALUES (?, ?, ?, ?)",
                     record.artefacts, [&](Statement& insert, const ArtefactRecord& a) {
                       insert.bind(trial, a.kind, a.path.generic_string(), a.bytes);
                     });
}

Result<void> insert_coverage(sqlite3* handle, std::int64_t trial, const TrialRecord& record) {
  auto done = insert_each(
      handle,
      "INSERT INTO coverage (trial_id, strategy, space, generated, distinct_states, checked, "
      "bound) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)",
      record.coverage, [&](Statement& insert, const CoverageRecord& c) {
        insert.bind(trial, c.strategy, c.space, c.generated, c.distinct_states, c.checked, c.bound);
      });
  if (!done) return done;
  return insert_each(handle,
                     "INSERT INTO step_time (trial_id, step, count, total_ms) VALUES (?, ?, ?, ?)",
                     record.steps, [&](Statement& insert, const StepTimeRecord& s) {
                       insert.bind(trial, s.step, s.count, s.total_ms);
                     });
}

Result<void> insert_io_error(sqlite3* handle, std::int64_t trial, const TrialRecord& record) {
  if (!record.io_error) return {};
  const IoErrorRecord& e = *record.io_error;
  TRY(auto insert,
      Statement::prepare(
          handle,
          "INSERT INTO io_error (trial_id, failed_request, lasting, ending, requests_failed, "
          "failed_block, first_fsync, second_fsync, reopened_fsync, sync_fs, fsync_after_sync, "
          "later_fsync, other_fsync, new_file_fsync, state, cached, reread, recovered, rest, "
          "later, other, new_file, after_recovery, surprise, documented, kernel_log) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  auto done = insert
                  .bind(trial, e.failed_request, e.lasting, e.ending, e.requests_failed,
                        e.failed_block, e.first_fsync, e.second_fsync, e.reopened_fsync, e.sync_fs,
                        e.fsync_after_sync, e.later_fsync, e.other_fsync, e.new_file_fsync, e.state,
                        e.cached, e.reread, e.recovered, e.rest, e.later, e.other, e.new_file,
                        e.after_recovery, e.surprise, e.documented, e.kernel_log)
                  .run();
  if (!done) return done;
  std::int64_t ordinal = 0;
  return insert_each(
      handle, "INSERT INTO io_error_step (trial_id, ordinal, step, result) VALUES (?, ?, ?, ?)",
      e.steps, [&](Statement& step, const IoErrorStepRecord& s) {
        step.bind(trial, ordinal++, s.step, s.result);
      });
}

Result<void> insert_states(sqlite3* handle, std::int64_t trial, const TrialRecord& record) {
  if (record.states.empty()) return {};
  TRY(auto state,
      Statement::prepare(
          handle,
          "INSERT INTO crash_state (trial_id, name, strategy, digest, persisted_operation, "
          "verdict, summary, in_guest, wall_ms) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  TRY(auto finding,
      Statement::prepare(
          handle,
          "INSERT INTO finding (trial_id, kind, tier, path, expected, found, crash_state_id) "
          "VALUES (?, ?, ?, ?, ?, ?, ?)"));
  TRY(auto failure,
      Statement::prepare(
          handle,
          "INSERT INTO failure (crash_state_id, confirmed, disagreement, tier, operations, "
          "minimised_state, account, replay) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
  for (const auto& s : record.states) {
    auto done = state
                    .bind(trial, s.name, s.strategy, static_cast<std::int64_t>(s.digest),
                          s.persisted_operation, s.verdict, s.summary, s.in_guest, s.wall_ms)
                    .run();
    const std::int64_t id = sqlite3_last_insert_rowid(handle);
    for (std::size_t i = 0; done && i < s.findings.size(); ++i) {
      const auto& f = s.findings[i];
      done = finding.bind(trial, f.kind, f.tier, f.path, f.expected, f.found, id).run();
    }
    if (done && s.failure) {
      const auto& f = *s.failure;
      done = failure
                 .bind(id, f.confirmed, f.disagreement, f.tier, f.operations, f.minimised_state,
                       f.account, f.replay)
                 .run();
    }
    if (!done) return done;
  }
  return {};
}

Result<std::optional<std::int64_t>> newest_where(sqlite3* handle, const std::string& condition,
                                                 const std::string& value) {
  TRY(auto select, Statement::prepare(handle, "SELECT id FROM run WHERE " + condition +
                                                  " ORDER BY id DESC LIMIT 1"));
  TRY(const auto row, select.bind(value).step());
  return row ? std::optional(select.integer(0)) : std::nullopt;
}

}  // namespace

struct Database::State {
  std::filesystem::path path;
  Handle handle;
};

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::filesystem::path& path, Access access) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return fail(path.string(), "is a folder, not a database", "use a file in this folder");
  }
  auto handle = access == Access::read_only ? open_for_reading(path) : open_for_writing(path);
  if (!handle) return fail(path.string(), handle.error().problem, handle.error().hint);
  TRY(execute(handle->get(), "PRAGMA foreign_keys = ON"));
  return Database(std::make_unique<State>(State{path, std::move(*handle)}));
}

Result<void> Database::close() && {
  const auto state = std::move(state_);
  // Checkpoint with a separate statement, which reports a full disk. If the checkpoint fails while
  // journal_mode is changed, SQLite only returns the old mode, without an error.
  TRY(execute(state->handle.get(), "PRAGMA wal_checkpoint(TRUNCATE)"));
  TRY(auto mode, Statement::prepare(state->handle.get(), "PRAGMA journal_mode = DELETE"));
  TRY(const auto row, mode.step());
  if (row && mode.text(0) == "delete") return {};
  return fail(state->path.string(), "the write-ahead log cannot be checkpointed",
              "stop other processes that use the database");
}

const std::filesystem::path& Database::path() const {
  return state_->path;
}
sqlite3* Database::handle() {
  return state_->handle.get();
}

Result<std::int64_t> Database::begin_run(const RunRecord& run) {
  TRY(auto insert,
      Statement::prepare(
          handle(),
          "INSERT INTO run (kind, name, configuration, digest, seed, started_at, trials_planned, "
          "host, versions, accelerator) "
          "VALUES (?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?, ?)"));
  TRY(insert
          .bind(run.kind, run.name, run.configuration, run.digest, run.seed, run.trials_planned,
                run.host_json, run.versions_json, run.accelerator)
          .run());
  return sqlite3_last_insert_rowid(handle());
}

Result<std::optional<std::int64_t>> Database::unfinished_run(const std::string& digest) {
  return newest_where(handle(), "digest = ? AND finished_at IS NULL", digest);
}

Result<std::optional<std::int64_t>> Database::newest_run_of(const std::string& digest) {
  return newest_where(handle(), "digest = ?", digest);
}

Result<std::int64_t> Database::forget_trials(std::int64_t run, const std::string& verdict) {
  TRY(auto transaction, Transaction::begin(handle()));
  TRY(auto forget,
      Statement::prepare(handle(), "DELETE FROM trial WHERE run_id = ? AND verdict = ?"));
  TRY(forget.bind(run, verdict).run());
  const std::int64_t forgotten = sqlite3_changes64(handle());
  TRY(auto reopen,
      Statement::prepare(handle(), "UPDATE run SET finished_at = NULL WHERE id = ? AND ? > 0"));
  TRY(reopen.bind(run, forgotten).run());
  TRY(transaction.commit());
  return forgotten;
}

Result<std::optional<std::int64_t>> Database::newest_run(const std::string& kind) {
  return newest_where(handle(), "kind = ?", kind);
}

Result<std::set<std::string>> Database::finished_trials(std::int64_t run) {
  TRY(auto select, Statement::prepare(handle(), "SELECT key FROM trial WHERE run_id = ?"));
  select.bind(run);
  std::set<std::string> keys;
  TRY(select.each_row([&] { keys.insert(select.text(0)); }));
  return keys;
}

Result<std::int64_t> Database::record_trial(std::int64_t run, const TrialRecord& trial) {
  TRY(auto transaction, Transaction::begin(handle()));
  const auto id = insert_trial(handle(), run, trial);
  if (!id)
    return fail(id.error().subject, "trial " + trial.key + ": " + id.error().problem,
                id.error().hint);
  auto done = insert_phases(handle(), *id, trial.phases);
  if (done) done = insert_machine(handle(), *id, trial);
  if (done) done = insert_leaves(handle(), *id, trial);
  if (done) done = insert_coverage(handle(), *id, trial);
  if (done) done = insert_states(handle(), *id, trial);
  if (done) done = insert_io_error(handle(), *id, trial);
  if (done) done = transaction.commit();
  if (!done)
    return fail(done.error().subject, "trial " + trial.key + ": " + done.error().problem,
                done.error().hint);
  return *id;
}

namespace {

using Rows = std::vector<std::vector<Value>>;

Value value_of(const std::optional<double>& number) {
  return number ? Value(*number) : Value();
}

/// Inserts rows into a table of claims. Their values are those of `columns`, which follow the
/// columns `run_id` and `ordinal`.
Result<void> insert_claims(sqlite3* handle, std::int64_t run, std::string_view table,
                           const std::vector<std::string_view>& columns, Rows rows) {
  std::string marks = "?, ?";
  for (std::size_t i = 0; i < columns.size(); ++i) marks += ", ?";
  std::int64_t ordinal = 0;
  for (std::vector<Value>& row : rows) row.insert(row.begin(), {Value(run), Value(ordinal++)});
  return insert_each(
      handle,
      fmt::format("INSERT INTO {} (run_id, ordinal, {}) VALUES ({})", table,
                  fmt::join(columns, ", "), marks),
      rows, [](Statement& insert, const std::vector<Value>& row) { insert.bind_all(row); });
}

Rows numbers_of(std::span<const experiment::ClaimAnswer> answers) {
  Rows rows;
  for (const auto& answer : answers)
    for (const auto& n : answer.numbers)
      rows.push_back({answer.id, answer.part, answer.title, n.cell, n.quantity, n.unit,
                      value_of(n.paper), value_of(n.ours), n.remark, value_of(n.low),
                      value_of(n.high)});
  return rows;
}

Rows rules_of(std::span<const experiment::ClaimAnswer> answers) {
  Rows rows;
  for (const auto& answer : answers)
    for (const auto& r : answer.rules)
      rows.push_back({answer.id, r.text, std::string(name(r.verdict)), r.detail,
                      std::string(name(r.kind)), std::int64_t{r.executions}});
  return rows;
}

Rows table_cells_of(std::span<const experiment::ClaimAnswer> answers) {
  Rows rows;
  for (const auto& answer : answers)
    for (const auto& table : answer.tables)
      for (std::size_t line = 0; line < table.rows.size(); ++line)
        for (std::size_t i = 0; i < table.columns.size(); ++i)
          rows.push_back({answer.id, table.name, table.title, static_cast<std::int64_t>(line),
                          table.columns[i], table.rows[line].at(i)});
  return rows;
}

Rows points_of(std::span<const experiment::ClaimAnswer> answers) {
  Rows rows;
  for (const auto& answer : answers)
    for (const auto& plot : answer.plots)
      for (const auto& series : plot.series)
        for (const auto& [x, y] : series.points)
          rows.push_back({answer.id, plot.name, plot.title, plot.x, plot.y,
                          std::int64_t{plot.logarithmic_x}, series.name,
                          std::int64_t{series.from_paper}, x, y});
  return rows;
}

}  // namespace

Result<void> Database::record_claims(std::int64_t run,
                                     std::span<const experiment::ClaimAnswer> answers) {
  TRY(auto transaction, Transaction::begin(handle()));
  TRY(insert_claims(handle(), run, "claim_number",
                    {"claim", "part", "title", "cell", "quantity", "unit", "paper", "ours",
                     "remark", "low", "high"},
                    numbers_of(answers)));
  TRY(insert_claims(handle(), run, "claim_rule",
                    {"claim", "rule", "verdict", "detail", "class", "executions"},
                    rules_of(answers)));
  TRY(insert_claims(handle(), run, "claim_table",
                    {"claim", "name", "title", "line", "heading", "value"},
                    table_cells_of(answers)));
  TRY(insert_claims(handle(), run, "claim_point",
                    {"claim", "plot", "title", "x_axis", "y_axis", "logarithmic_x", "series",
                     "from_paper", "x", "y"},
                    points_of(answers)));
  return transaction.commit();
}

Result<void> Database::finish_run(std::int64_t run) {
  TRY(auto update,
      Statement::prepare(
          handle(),
          "UPDATE run SET finished_at = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE id = ?"));
  TRY(update.bind(run).run());
  if (sqlite3_changes(handle()) == 0)
    return fail(path().string(), fmt::format("has no run {}", run));
  return {};
}

Result<void> Database::resume_run(std::int64_t run, std::int64_t trials_planned) {
  TRY(auto update, Statement::prepare(handle(), "UPDATE run SET trials_planned = ? WHERE id = ?"));
  return update.bind(trials_planned, run).run();
}

}  // namespace headcrash::db
