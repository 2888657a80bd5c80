// Finds the files of a stored trial (stored_trial.h).
#include "harness/cli/stored_trial.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/campaign/campaign_file.h"
#include "plugin/base/named_file.h"
#include "plugin/record/recording.h"
#include "results/db/database.h"
#include "results/db/statement.h"

namespace headcrash::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRecordingEnd = ".hcrec";
constexpr int kExploringSchema = 3;

bool all_digits(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::vector<oracle::Finding>> read_findings(db::Statement& rows) {
  std::vector<oracle::Finding> findings;
  while (true) {
    TRY(const auto more, rows.step());
    if (!more) return findings;
    findings.push_back(
        finding_of(rows.text(0), rows.text(1), rows.text(2), rows.text(3), rows.text(4)));
  }
}

Result<adapters::LinuxAdapter> filesystem_of(const Result<campaign::Campaign>& campaign,
                                             const std::string& name) {
  if (campaign) {
    for (const adapters::LinuxAdapter& each : campaign->filesystems)
      if (each.name == name) return each;
    if (campaign->explore) {
      for (const campaign::ExploredCell& cell : campaign->explore->cells)
        if (cell.filesystem.name == name) return cell.filesystem;
    }
  }
  return adapters::load_adapter(name);
}

/// Returns the machine of an explored trial; empty for a plain disk. The trial's key begins with
/// the name of the cell, and the cell determines the machine.
explorer::StageMachine planned_machine(const Result<campaign::Campaign>& campaign,
                                       const std::string& key) {
  if (!campaign || !campaign->explore) return {};
  for (const campaign::ExploredCell& cell : campaign->explore->cells)
    if (key.starts_with(campaign::cell_name(cell) + "/")) return cell.machine;
  return {};
}

class Reader {
 public:
  Reader(db::Database database, const TrialArguments& arguments)
      : database_(std::move(database)), arguments_(arguments) {}

  Result<StoredTrial> read() {
    TRY(read_trial());
    TRY(read_recording());
    TRY(const auto schema, db::query_integer(database_.handle(), "PRAGMA user_version"));
    if (schema >= kExploringSchema) {
      const auto states = count("SELECT count(*) FROM crash_state WHERE trial_id = ?");
      const auto strategies = count("SELECT count(*) FROM coverage WHERE trial_id = ?");
      if (!states || !strategies) return forward_error(!states ? states : strategies);
      trial_.explored = *states + *strategies > 0;
    }
    if (!trial_.explored) {
      trial_.state = arguments_.state;
      if (trial_.state.empty() || trial_.state == "cut") return with_own_findings();
      return std::move(trial_);
    }
    TRY(read_state());
    TRY(read_states());
    return std::move(trial_);
  }

 private:
  Result<std::int64_t> count(const char* sql) {
    TRY(auto row, db::Statement::prepare(database_.handle(), sql));
    TRY(row.bind(trial_.id).step());
    return row.integer(0);
  }

  Result<void> read_trial() {
    const bool by_id = all_digits(arguments_.trial);
    TRY(auto row,
        db::Statement::prepare(
            database_.handle(),
            fmt::format(
                "SELECT t.id, t.key, r.name, r.configuration, t.filesystem, t.verdict, t.summary "
                "FROM trial t JOIN run r ON r.id = t.run_id WHERE t.{} = ? "
                "ORDER BY t.id DESC LIMIT 1",
                by_id ? "id" : "key")));
    TRY(const auto more, row.bind(arguments_.trial).step());
    if (!more) return nothing_found();
    trial_.id = row.integer(0);
    trial_.key = row.text(1);
    trial_.campaign = row.text(2);
    trial_.configuration = row.text(3);
    trial_.database = arguments_.database;
    const auto campaign = campaign::parse_campaign(trial_.configuration, trial_.campaign);
    TRY(auto filesystem,
        filesystem_of(campaign,
                      arguments_.filesystem.empty() ? row.text(4) : arguments_.filesystem));
    trial_.filesystem = std::move(filesystem);
    trial_.machine = planned_machine(campaign, trial_.key);
    trial_.virtual_time = campaign && campaign->virtual_time;
    trial_.outcome = StoredOutcome{.verdict = row.text(5), .summary = row.text(6)};
    return {};
  }

  Result<void> nothing_found() {
    TRY(auto some, db::Statement::prepare(database_.handle(),
                                          "SELECT id, key FROM trial ORDER BY id DESC LIMIT 3"));
    std::string list;
    while (some.step().value_or(false))
      list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", some.integer(0), some.text(1));
    return fail(
        arguments_.database, fmt::format("has no trial \"{}\"", arguments_.trial),
        list.empty() ? "the database has no trials" : "use an id or a key; the newest are " + list);
  }

  Result<void> read_recording() {
    TRY(auto row, db::Statement::prepare(
                      database_.handle(),
                      "SELECT path FROM artefact WHERE trial_id = ? AND kind = 'recording'"));
    TRY(const auto more, row.bind(trial_.id).step());
    if (more) trial_.recording = fs::absolute(database_.path()).parent_path() / row.text(0);
    return {};
  }

  Result<StoredTrial> with_own_findings() {
    TRY(auto rows, db::Statement::prepare(
                       database_.handle(),
                       "SELECT kind, tier, path, expected, found FROM finding WHERE trial_id = ?"));
    TRY(auto findings, read_findings(rows.bind(trial_.id)));
    trial_.outcome->findings = std::move(findings);
    return std::move(trial_);
  }

  /// Selects the state that the user has named. The default is the minimised state of the first
  /// failure or, if there is no failure, the first state that breaks a promise.
  Result<void> read_state() {
    trial_.outcome.reset();
    TRY(auto row,
        db::Statement::prepare(
            database_.handle(),
            "SELECT id, name, verdict, summary, minimised_state, account FROM ("
            "SELECT c.id, c.name, c.verdict, c.summary, f.id AS failure, f.account, "
            // A state in a recovery is named RECOVERED/STATE, but its minimised state is stored as
            // STATE. Add the prefix RECOVERED to the latter.
            "CASE WHEN instr(c.name, '/') > 0 AND instr(f.minimised_state, '/') = 0 AND f.minimised_state <> '' "
            "THEN substr(c.name, 1, instr(c.name, '/')) || f.minimised_state ELSE f.minimised_state END "
            "AS minimised_state "
            "FROM crash_state c LEFT JOIN failure f ON f.crash_state_id = c.id WHERE c.trial_id = ?1) "
            "WHERE CASE WHEN ?2 = '' THEN verdict NOT IN ('clean', 'replayed') ELSE ?2 IN (name, minimised_state) END "
            "ORDER BY failure IS NULL, name = ?2 DESC, id LIMIT 1"));
    TRY(const auto more, row.bind(trial_.id, arguments_.state).step());
    if (!more) {
      if (arguments_.state.empty())
        return fail(trial_.key, "no state of this trial has failed", "select a state with --state");
      // The trial has not checked this state, but the user may select it anyway.
      trial_.state = arguments_.state;
      return {};
    }
    const bool small = !row.is_null(4) && !row.text(4).empty() && arguments_.state != row.text(1);
    trial_.state = small ? row.text(4) : row.text(1);
    trial_.outcome =
        StoredOutcome{.verdict = row.text(2), .summary = row.text(3), .account = row.text(5)};
    TRY(auto rows,
        db::Statement::prepare(
            database_.handle(),
            "SELECT kind, tier, path, expected, found FROM finding WHERE crash_state_id = ?"));
    TRY(auto findings, read_findings(rows.bind(row.integer(0))));
    trial_.outcome->findings = std::move(findings);
    return {};
  }

  Result<void> read_states() {
    TRY(auto rows,
        db::Statement::prepare(
            database_.handle(),
            "SELECT name, strategy, verdict, summary FROM crash_state WHERE trial_id = ? ORDER BY id"));
    rows.bind(trial_.id);
    while (true) {
      TRY(const auto more, rows.step());
      if (!more) return {};
      trial_.states.push_back({rows.text(0), rows.text(1), rows.text(2), rows.text(3)});
    }
  }

  db::Database database_;
  const TrialArguments& arguments_;
  StoredTrial trial_;
};

Result<StoredTrial> of_recording(const TrialArguments& arguments) {
  std::error_code error;
  if (!fs::exists(arguments.trial, error)) return fail(arguments.trial, "does not exist");
  if (arguments.filesystem.empty())
    return fail(arguments.trial, "the recording does not contain the name of its file system",
                "add --fs NAME");
  TRY(auto filesystem, adapters::load_adapter(arguments.filesystem));
  return StoredTrial{.key = arguments.trial,
                     .filesystem = std::move(filesystem),
                     .machine = arguments.machine,
                     .recording = arguments.trial,
                     .state = arguments.state.empty() ? "cut" : arguments.state};
}

Result<std::uint64_t> power_cut_event(const fs::path& recording) {
  TRY(auto reader, record::RecordingReader::open(recording));
  for (std::uint64_t ordinal = 0;; ++ordinal) {
    TRY(const auto event, reader.next(record::PayloadUse::skip));
    if (!event)
      return fail(recording.string(), "contains no power cut",
                  "select a state with --state, for example w100-");
    if (event->kind == record::Kind::power && event->detail == 0) return ordinal;
  }
}

/// Returns the recording of the recovery of `state`. The recording is in the directory of the
/// workload's recording, and contains the name of the state that was recovered.
Result<fs::path> recording_of_recovery(const fs::path& recording, const std::string& state) {
  const std::string begin = recording.stem().string() + ".recovery-";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(base::folder_of(recording), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(kRecordingEnd)) continue;
    const auto reader = record::RecordingReader::open(entry.path());
    if (reader && reader->header().base && reader->header().base->state == state)
      return entry.path();
  }
  return fail(recording.string(), "the recording of the recovery of " + state + " was not kept",
              "explore the workload again with --strategy recovery");
}

}  // namespace

void add_trial_options(CLI::App& command, TrialArguments& arguments) {
  command
      .add_option("TRIAL", arguments.trial,
                  "A trial in the database, by id or key, or a recording (.hcrec)")
      ->required();
  add_database_option(command, arguments.database);
}

Result<StoredTrial> find_trial(const TrialArguments& arguments) {
  if (arguments.trial.ends_with(kRecordingEnd)) return of_recording(arguments);
  TRY(auto database, db::Database::open(arguments.database, db::Database::Access::read_only));
  return Reader(std::move(database), arguments).read();
}

Result<OpenedState> open_state(const StoredTrial& trial) {
  std::error_code error;
  if (trial.recording.empty() || !fs::exists(trial.recording, error)) {
    return fail(trial.recording.empty() ? trial.key : trial.recording.string(),
                "the recording was not kept",
                "run the campaign again; keep = true in its [explore] section keeps all "
                "recordings");
  }
  OpenedState opened{.recording = trial.recording};
  std::string name = trial.state;
  if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
    opened.recovery_of = name.substr(0, slash);
    TRY(auto recovery, recording_of_recovery(trial.recording, opened.recovery_of));
    opened.recording = std::move(recovery);
    name = name.substr(slash + 1);
  }
  TRY(auto run, states::RunHistory::load(opened.recording));
  opened.run = std::move(run);
  if (name.empty() || name == "cut") {
    TRY(const auto event, power_cut_event(opened.recording));
    opened.state = {.base = states::CrashState::Base::physical, .event = event};
    return opened;
  }
  TRY(auto state, states::parse_crash_state(name));
  opened.state = std::move(state);
  return opened;
}

oracle::Finding finding_of(const std::string& kind, const std::string& tier, std::string path,
                           std::string expected, std::string found) {
  oracle::Finding finding{oracle::verdict_named(kind), oracle::Tier::integrity, std::move(path),
                          std::move(expected), std::move(found)};
  for (int i = 0; i < static_cast<int>(oracle::Tier::integrity); ++i)
    if (oracle::name(static_cast<oracle::Tier>(i)) == tier)
      finding.tier = static_cast<oracle::Tier>(i);
  return finding;
}

}  // namespace headcrash::cli
