// headcrash query: runs read-only SQL on a results database.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "harness/cli/command.h"
#include "plugin/base/nearest.h"
#include "results/db/migrations.h"
#include "results/report/frame/sql.h"

namespace headcrash::cli {
namespace {

struct QueryArguments {
  std::string database = kDefaultDatabase, question;
  std::int64_t run = 0;
  std::size_t rows = 1000;
  bool as_json = false, as_csv = false, schema = false;
};

std::string formatted(const report::SqlAnswer& answer, const QueryArguments& arguments) {
  if (arguments.as_json) return report::as_json(answer);
  if (arguments.as_csv) return report::as_csv(answer);
  return report::as_table(answer);
}

int show(const Result<report::SqlAnswer>& found, const QueryArguments& arguments) {
  if (!found) return report_error(found.error(), arguments.as_json);
  fmt::print("{}", formatted(*found, arguments));
  if (found->cut)
    fmt::print(stderr, "headcrash query: only the first {} rows are shown; use --rows for more\n",
               arguments.rows);
  return kFine;
}

/// Fails if a single word is not the name of a query. No SQL statement consists of one word.
Result<void> check_name(const std::string& question) {
  const bool single = question.find_first_of(" \t\r\n(;") == std::string::npos;
  const std::vector<std::string> names = report::query_names();
  if (!single || std::find(names.begin(), names.end(), question) != names.end()) return {};
  const std::string near = base::nearest(question, names);
  return fail("query", fmt::format("the report has no query \"{}\"", question),
              near.empty() ? "`headcrash query` without a query lists the queries and the tables"
                           : fmt::format("did you mean \"{}\"?", near));
}

int answer(db::Database& database, const QueryArguments& arguments, const std::string& question) {
  const std::optional<std::int64_t> run =
      arguments.run == 0 ? std::nullopt : std::optional(arguments.run);
  if (const auto known = check_name(question); !known)
    return report_error(known.error(), arguments.as_json);
  return show(report::ask(database, question, run, arguments.rows), arguments);
}

/// Prints the tables with their columns, and the queries that have a name.
int report_contents(db::Database& database, const QueryArguments& arguments) {
  const Result<report::SqlAnswer> tables = report::tables(database);
  if (!tables || arguments.as_json || arguments.as_csv) return show(tables, arguments);
  fmt::print("tables:\n");
  for (const auto& row : tables->rows)
    fmt::print("  {}: {}\n", std::get<std::string>(row[0]), std::get<std::string>(row[1]));
  fmt::print("\nqueries of the report, by name:\n");
  for (const std::string& name : report::query_names()) fmt::print("  {}\n", name);
  return kFine;
}

/// Returns true if the input ends with ';' or is a single word. All other input continues on the
/// next line.
bool is_whole(const std::string& question) {
  const auto first = question.find_first_not_of(" \t\r\n");
  const auto last = question.find_last_not_of(" \t\r\n");
  return question[last] == ';' || question.find_first_of(" \t\n", first) > last;
}

int answer_input(db::Database& database, const QueryArguments& arguments) {
  constexpr const char* kBlanks = " \t\r\n";
  const bool talking = isatty(STDIN_FILENO) != 0;
  int exit_code = kFine;
  std::string question, line;
  const auto ask = [&] {
    if (question.find_first_not_of(kBlanks) != std::string::npos) {
      question.erase(question.find_last_not_of(" \t\r\n;") + 1);
      exit_code = std::max(exit_code, answer(database, arguments, question));
    }
    question.clear();
  };
  while (true) {
    if (talking) fmt::print(stderr, "{}", question.empty() ? "headcrash> " : "      ...> ");
    if (!std::getline(std::cin, line)) break;
    question += line + "\n";
    if (question.find_first_not_of(kBlanks) == std::string::npos) {
      question.clear();
    } else if (is_whole(question)) {
      ask();
    }
  }
  ask();
  return exit_code;
}

/// Prints the SQL statements that create the tables. They include the meaning and unit of each
/// column.
int report_schema() {
  for (const db::Migration& migration : db::known_migrations()) fmt::print("{}\n", migration.sql);
  return kFine;
}

int query(const QueryArguments& arguments) {
  if (arguments.schema) return report_schema();
  Result<db::Database> database =
      db::Database::open(arguments.database, db::Database::Access::read_only);
  if (!database) return report_error(database.error(), arguments.as_json);
  if (arguments.run != 0)
    if (const auto there = known_run(*database, arguments.run); !there)
      return report_error(there.error(), arguments.as_json);
  if (arguments.question == "-") return answer_input(*database, arguments);
  if (arguments.question.empty()) return report_contents(*database, arguments);
  return answer(*database, arguments, arguments.question);
}

}  // namespace

void add_query(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("query", "Runs a read-only SQL query on a results database");
  const auto arguments = std::make_shared<QueryArguments>();
  command->add_option(
      "QUERY", arguments->question,
      "A SELECT, the name of one of the report's queries, or - for queries on standard "
      "input; default: list tables and named queries");
  add_database_option(*command, arguments->database);
  command
      ->add_option("--run", arguments->run,
                   "Value of the SQL parameter :run; default: the newest run")
      ->check(CLI::PositiveNumber);
  command->add_option("--rows", arguments->rows, "Maximum number of rows")->capture_default_str();
  command->add_flag("--json", arguments->as_json, "Print the rows as a JSON list of objects");
  command->add_flag("--csv", arguments->as_csv, "Print CSV (RFC 4180)")->excludes("--json");
  command->add_flag(
      "--schema", arguments->schema,
      "Print the schema, with the meaning and unit of each column; needs no database");
  command->footer(
      "Examples:\n  headcrash query --db demo.db\n  headcrash query --db demo.db cells --csv\n"
      "  headcrash query --db demo.db \"SELECT key, verdict FROM trial WHERE run_id = :run\"\n"
      "  headcrash query --db demo.db -      # several queries, each ending with ;");
  command->callback([arguments, &exit_code] { exit_code = query(*arguments); });
}

}  // namespace headcrash::cli
