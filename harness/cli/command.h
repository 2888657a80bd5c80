#pragma once
// Helpers for all subcommands of `headcrash`: exit codes, --json, and the format of errors.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <nlohmann/json.hpp>

#include "plugin/base/result.h"
#include "results/db/database.h"
#include "results/report/ci/outcomes.h"

namespace headcrash::cli {

/// Exit codes of all commands.
enum Exit : int {
  kFine = 0,
  kFound = 1,  ///< data loss or a regression was found, or a control had an unexpected outcome
  kUsage = 2,  ///< error in usage or configuration, missing program, or damaged file
  /// A self-check failed because of a bug in one of our file systems, in its checker, or in
  /// headcrash.
  kContradiction = 3,
  kSkipped = 77,
  kInterrupted = 130,
};

/// These functions add subcommands. A subcommand stores its exit code in `exit_code` when it has
/// run.
void add_doctor(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_simulate(CLI::App& app, int& exit_code);
void add_campaign(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_experiment(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_query(CLI::App& app, int& exit_code);
void add_merge(CLI::App& app, int& exit_code);
void add_gc(CLI::App& app, int& exit_code);
void add_recording(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_audit(CLI::App& app, int& exit_code);
void add_explore(CLI::App& app, int& exit_code);
void add_contract(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_fstests(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
void add_extract(CLI::App& app, int& exit_code);
void add_predict(CLI::App& app, int& exit_code);
void add_image(CLI::App& app, int& exit_code);
void add_runs(CLI::App& app, int& exit_code);
void add_trials(CLI::App& app, int& exit_code);
void add_init(CLI::App& app, int& exit_code);
void add_help(CLI::App& app, int& exit_code);
void add_write_documents(CLI::App& app, int& exit_code);

/// Adds the options --junit, --sarif, --summary and --annotations.
void add_ci_options(CLI::App& command, report::CiFiles& files);
/// Writes the files named by the options of add_ci_options(). Returns `exit_code`, or kUsage if a
/// file cannot be written.
int finish_ci(const report::CiFiles& files, const std::string& title,
              const std::vector<report::CiCase>& cases, int exit_code);

inline constexpr const char* kDefaultDatabase = "headcrash.db";
enum class MadeIfMissing : std::uint8_t { no, yes };
/// Adds the option --db. Its default is $HEADCRASH_DB or, if that is unset, headcrash.db.
void add_database_option(CLI::App& command, std::string& database,
                         MadeIfMissing made = MadeIfMissing::no);

/// Adds the option --kernel VERSION,... of campaigns and benchmarks.
void add_kernels_option(CLI::App& command, std::vector<std::string>& kernels);
/// Adds --guest qemu|virtual. `otherwise` describes the default in the help text.
void add_guest_option(CLI::App& command, std::string& guest, const std::string& otherwise);

/// Returns `wanted` if the database has a run with this number. If `wanted` is 0, returns the
/// number of the newest run. Fails if the run does not exist or if there are no runs.
Result<std::int64_t> known_run(db::Database& database, std::int64_t wanted);

/// How much progress to print to standard error.
enum class Verbosity : std::uint8_t { quiet, normal, verbose };
/// Adds the options -q and -v.
void add_verbosity_options(CLI::App& command, Verbosity& verbosity);

/// Makes an option accept only the values in `known`. For any other value, parsing throws
/// UnknownValue, which suggests the most similar known value. Returns the option.
CLI::Option* accept_only(CLI::Option* option, std::vector<std::string> known);
class UnknownValue : public CLI::ParseError {
 public:
  explicit UnknownValue(const headcrash::Error& error)
      : ParseError("UnknownValue", error.message(), CLI::ExitCodes::ValidationError),
        error_(error) {}
  const headcrash::Error& error() const { return error_; }

 private:
  headcrash::Error error_;
};

/// Adds the option --NAME of a table row. `set` parses a value; if it fails, parsing throws
/// UnknownValue. A `boolean` option accepts only "on" and "off". Returns the option.
template <class Row>
CLI::Option* add_row(CLI::App& command, const Row& row,
                     std::function<Result<void>(const std::string& value)> set) {
  CLI::Option* const option = command.add_option_function<std::vector<std::string>>(
      "--" + std::string(row.name),
      [set = std::move(set)](const std::vector<std::string>& values) {
        for (const std::string& value : values)
          if (const auto done = set(value); !done) throw UnknownValue(done.error());
      },
      std::string(row.help));
  option->type_name("TEXT")->allow_extra_args(false);
  if (row.boolean) accept_only(option, {"on", "off"});
  return option;
}

/// Returns a validator that accepts numbers from `low` to `high`. Help texts show its description.
template <class Number>
CLI::Validator between(Number low, Number high) {
  const std::string range = fmt::format("{} to {}", low, high);
  return CLI::Validator(
      [=](const std::string& word) -> std::string {
        Number value{};
        if (CLI::detail::lexical_cast(word, value) && value >= low && value <= high) return {};
        return fmt::format("{} is not in the range {}", word, range);
      },
      range, "");
}

/// Prints the error as JSON on standard output, or as one line on standard error. Returns kUsage.
int report_error(const Error& error, bool as_json);

void print(const nlohmann::json& value);

/// Flushes standard output and returns `exit_code`. If the flush fails, prints one line to standard
/// error and returns kUsage. main() calls this at the end of every command.
int finish_output(int exit_code);

/// Returns a flag that SIGINT, SIGTERM and SIGHUP set once catch_interrupts() has been called. A
/// second signal ends the program at once.
const std::atomic<bool>& interrupted();
void catch_interrupts();

}  // namespace headcrash::cli
