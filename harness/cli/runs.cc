// headcrash runs and headcrash trials: list the contents of a results database. Other commands
// accept the numbers in these lists.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <variant>

#include "harness/cli/command.h"
#include "harness/cli/terminal.h"
#include "harness/run/run_owner.h"
#include "results/db/database.h"
#include "results/report/frame/sql.h"
#include "results/report/frame/text_table.h"

namespace headcrash::cli {
namespace {

using nlohmann::json;

struct RunsArguments {
  std::string database = kDefaultDatabase;
  bool as_json = false;
};

struct TrialsArguments {
  std::string database = kDefaultDatabase, filesystem, verdict;
  std::int64_t run = 0;
  bool failures = false, all = false, as_json = false;
};

constexpr std::size_t kRowsMost = 10'000'000, kTrialsShown = 100;

constexpr const char* kRuns =
    "SELECT r.id AS run, r.kind, r.name, r.started_at AS started, r.finished_at AS finished, "
    "count(t.id) AS trials, r.trials_planned AS planned, "
    "json_extract(r.versions, '$.headcrash') AS version, r.accelerator, "
    "coalesce((SELECT group_concat(n || ' ' || verdict, ', ') FROM (SELECT verdict, count(*) AS n FROM trial "
    "WHERE run_id = r.id GROUP BY verdict ORDER BY n DESC, verdict)), '') AS verdicts "
    "FROM run r LEFT JOIN trial t ON t.run_id = r.id GROUP BY r.id ORDER BY r.id";

constexpr const char* kTrials =
    "SELECT id AS trial, key, verdict, expected, started_at AS started, wall_ms / 1000 AS seconds, summary "
    "FROM trial WHERE run_id = :run{} ORDER BY id";

/// Returns one object for each row. Its keys are the names of the columns.
json rows_of(const report::SqlAnswer& answer) {
  json rows = json::array();
  for (const auto& row : answer.rows) {
    json one = json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
      std::visit(
          [&](const auto& value) {
            if constexpr (requires { json(value); })
              one[answer.columns[i]] = value;
            else
              one[answer.columns[i]] = nullptr;
          },
          row[i]);
    rows.push_back(std::move(one));
  }
  return rows;
}

/// Converts an ISO 8601 time to the form "2026-11-26 10:07".
std::string minute_of(const std::string& instant) {
  std::string text = instant.substr(0, 16);
  if (text.size() > 10) text[10] = ' ';
  return text;
}

std::string state_of(const json& run) {
  if (const std::string owner = run.value("owner", ""); !owner.empty()) return "run by " + owner;
  return run.at("finished").is_null() ? "unfinished" : "finished";
}

int list_runs(const RunsArguments& arguments) {
  auto database = db::Database::open(arguments.database, db::Database::Access::read_only);
  if (!database) return report_error(database.error(), arguments.as_json);
  const auto answer = report::ask(*database, kRuns, std::nullopt, kRowsMost);
  if (!answer) return report_error(answer.error(), arguments.as_json);
  json runs = rows_of(*answer);
  for (json& run : runs) {
    run["owner"] = run.at("finished").is_null()
                       ? run::run_owner(arguments.database, run.at("run").get<std::int64_t>())
                       : "";
  }
  if (arguments.as_json) {
    print(runs);
    return kFine;
  }
  report::TextTable table(
      {">run", "kind", "name", "started (UTC)", ">trials", "state", "verdicts"});
  for (const json& run : runs)
    table.add({run.at("run").dump(), run.value("kind", ""), run.value("name", ""),
               minute_of(run.value("started", "")),
               fmt::format("{}/{}", run.at("trials").dump(), run.at("planned").dump()),
               state_of(run), run.value("verdicts", "")});
  print_fitted(table.text(0));
  return kFine;
}

std::string quoted_sql(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

std::string condition_of(const TrialsArguments& arguments) {
  std::string condition;
  if (!arguments.filesystem.empty())
    condition += " AND filesystem = " + quoted_sql(arguments.filesystem);
  if (!arguments.verdict.empty()) condition += " AND verdict = " + quoted_sql(arguments.verdict);
  if (arguments.failures) condition += " AND verdict NOT IN ('clean', 'replayed', 'measured')";
  return condition;
}

int list_trials(const TrialsArguments& arguments) {
  auto database = db::Database::open(arguments.database, db::Database::Access::read_only);
  if (!database) return report_error(database.error(), arguments.as_json);
  const auto run = known_run(*database, arguments.run);
  if (!run) return report_error(run.error(), arguments.as_json);
  const auto answer =
      report::ask(*database, fmt::format(kTrials, condition_of(arguments)), *run, kRowsMost);
  if (!answer) return report_error(answer.error(), arguments.as_json);
  const json trials = rows_of(*answer);
  if (arguments.as_json) {
    print(trials);
    return kFine;
  }
  report::TextTable table({">trial", "key", "verdict", "expected", ">seconds", "summary"});
  const std::size_t shown = arguments.all ? trials.size() : std::min(trials.size(), kTrialsShown);
  for (std::size_t i = trials.size() - shown; i < trials.size(); ++i) {
    const json& trial = trials[i];
    std::string summary = trial.value("summary", "");
    summary = summary.substr(0, summary.find('\n'));
    table.add({trial.at("trial").dump(), trial.value("key", ""), trial.value("verdict", ""),
               trial.value("expected", ""), fmt::format("{:.1f}", trial.value("seconds", 0.0)),
               summary});
  }
  print_fitted(table.text(0));
  if (shown < trials.size())
    fmt::print(stderr,
               "headcrash trials: only the last {} of {} trials are shown; use --all for all\n",
               shown, trials.size());
  return kFine;
}

}  // namespace

Result<std::int64_t> known_run(db::Database& database, std::int64_t wanted) {
  const std::string which = wanted == 0 ? "" : fmt::format(" WHERE id = {}", wanted);
  TRY(const auto found, report::ask(database, "SELECT max(id) FROM run" + which, std::nullopt, 1));
  if (const auto* id = std::get_if<std::int64_t>(&found.rows.at(0).at(0))) return *id;
  const std::string file = database.path().string();
  if (wanted == 0) return fail(file, "has no run", "run a campaign first");
  return fail(file, fmt::format("has no run {}", wanted),
              fmt::format("`headcrash runs --db {}` lists its runs", file));
}

void add_runs(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("runs", "Lists the runs of a results database");
  const auto arguments = std::make_shared<RunsArguments>();
  add_database_option(*command, arguments->database);
  command->add_flag("--json", arguments->as_json, "Print the runs as JSON");
  command->footer(
      "Examples:\n  headcrash runs --db demo.db\n  headcrash runs --db demo.db --json\n\n"
      "Other commands take the number of a run with --run. State: finished, unfinished (to resume "
      "it, repeat its\ncommand with --resume), or the process that is executing the run.");
  command->callback([arguments, &exit_code] { exit_code = list_runs(*arguments); });
}

void add_trials(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("trials",
                                         "Lists the trials of a run, with the numbers that replay, "
                                         "extract and predict accept");
  const auto arguments = std::make_shared<TrialsArguments>();
  add_database_option(*command, arguments->database);
  command->add_option("--run", arguments->run, "Number of the run; default: the newest")
      ->check(CLI::PositiveNumber);
  command->add_option("--fs", arguments->filesystem, "List only trials of this file system");
  command->add_option("--verdict", arguments->verdict, "List only trials with this verdict");
  command->add_flag("--failures", arguments->failures,
                    "List only trials whose verdict is not clean, replayed or measured");
  command->add_flag("--all", arguments->all, "List all trials, not only the last hundred");
  command->add_flag("--json", arguments->as_json, "Print all trials as JSON");
  command->footer(
      "Examples:\n  headcrash trials --db demo.db\n  headcrash trials --db demo.db --failures --fs ext4\n"
      "  headcrash trials --db demo.db --run 1 --json");
  command->callback([arguments, &exit_code] { exit_code = list_trials(*arguments); });
}

}  // namespace headcrash::cli
