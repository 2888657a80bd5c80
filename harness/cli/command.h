#pragma once
// What every subcommand of `headcrash` shares: exit codes, --json, and how errors are printed.

#include <CLI/CLI.hpp>
#include <atomic>
#include <nlohmann/json.hpp>

#include "plugin/base/result.h"
#include "results/db/database.h"

namespace headcrash::cli {

/// Exit codes, the same for every command.
enum Exit : int {
  kFine = 0,
  kFound = 1,  ///< a data loss or a regression was found, or a control did not behave as expected
  kUsage = 2,  ///< usage, configuration, a missing program, a damaged file
  kContradiction =
      3,  ///< a self-check failed: a file system of ours, its checker or the lab is wrong
  kSkipped = 77,
  kInterrupted = 130,
};

/// Each adds its subcommand; the callback leaves its exit code in `exit_code`.
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
void add_explore(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
void add_extract(CLI::App& app, int& exit_code);
void add_predict(CLI::App& app, int& exit_code);
void add_image(CLI::App& app, int& exit_code);
void add_runs(CLI::App& app, int& exit_code);
void add_trials(CLI::App& app, int& exit_code);
void add_init(CLI::App& app, int& exit_code);
void add_help(CLI::App& app, int& exit_code);
void add_write_documents(CLI::App& app, int& exit_code);

inline constexpr const char* kDefaultDatabase = "headcrash.db";
enum class MadeIfMissing : std::uint8_t { no, yes };
/// --db, which $HEADCRASH_DB gives where it is left out.
void add_database_option(CLI::App& command, std::string& database,
                         MadeIfMissing made = MadeIfMissing::no);

/// --kernel VERSION,... of a campaign or a benchmark.
void add_kernels_option(CLI::App& command, std::vector<std::string>& kernels);
/// --guest qemu|virtual; `otherwise` says what an empty one stands for.
void add_guest_option(CLI::App& command, std::string& guest, const std::string& otherwise);

/// The number of a run: the newest if `wanted` is 0. Errors: there is no such run.
Result<std::int64_t> known_run(db::Database& database, std::int64_t wanted);

/// How much is told of what is under way, on standard error.
enum class Verbosity : std::uint8_t { quiet, normal, verbose };
/// -q and -v.
void add_verbosity_options(CLI::App& command, Verbosity& verbosity);

/// Lets a value be one of these; its error suggests the nearest.
CLI::Validator one_of(std::vector<std::string> known);

/// Prints the error, as JSON on standard output or as one line on standard error; returns kUsage.
int report_error(const Error& error, bool as_json);

void print(const nlohmann::json& value);

/// Hands standard output to the kernel. If not all of it could be written, prints one line on
/// standard error and returns kUsage; else `exit_code`. main() ends every command with it.
int finish_output(int exit_code);

/// Set by SIGINT, SIGTERM and SIGHUP once catch_interrupts() was called; a second signal ends the
/// program at once.
const std::atomic<bool>& interrupted();
void catch_interrupts();

}  // namespace headcrash::cli
