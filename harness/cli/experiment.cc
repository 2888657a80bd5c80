// Implements `headcrash experiment`, which repeats the measurements of a paper in virtual time and
// compares the numbers.
#include "harness/papers/experiment.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <memory>

#include "harness/cli/command.h"
#include "harness/cli/host_usage.h"
#include "harness/cli/terminal.h"
#include "plugin/base/text_file.h"

namespace headcrash::cli {
namespace {

struct ExperimentArguments {
  std::string name, database, csv;
  std::uint64_t seed = 1;
  Verbosity verbosity = Verbosity::normal;
  std::vector<std::string> set;  ///< arguments of --set, each in the form NAME=VALUE
  bool as_json = false;
};

Result<std::map<std::string, double>> parameters_of(const std::vector<std::string>& set) {
  std::map<std::string, double> parameters;
  for (const std::string& each : set) {
    const std::size_t equals = each.find('=');
    const std::string text = equals == std::string::npos ? std::string() : each.substr(equals + 1);
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || rest != text.data() + text.size() || !std::isfinite(value))
      return fail(each, "is not NAME=NUMBER", "use, for example, --set memory-mb=85");
    parameters[each.substr(0, equals)] = value;
  }
  return parameters;
}

/// Formats the time and memory that the experiment used on the host.
std::string cost_of(const experiment::ExperimentOutcome& outcome) {
  std::string text = fmt::format("{:.1f} s, {:.1f} s of processor time, {}", outcome.wall_s,
                                 outcome.host_s, peak_memory_text());
  if (outcome.modelled_s > 0 && outcome.wall_s > 0)
    text += fmt::format("; {:.0f} s of model time: {:.0f} times as fast as real time",
                        outcome.modelled_s, outcome.modelled_s / outcome.wall_s);
  return text;
}

int run(const ExperimentArguments& arguments) {
  const auto parameters = parameters_of(arguments.set);
  if (!parameters) return report_error(parameters.error(), arguments.as_json);
  catch_interrupts();
  const bool quiet = arguments.verbosity == Verbosity::quiet;
  const bool overwrite = can_overwrite() && arguments.verbosity == Verbosity::normal;
  const bool lines = arguments.verbosity == Verbosity::verbose;
  std::size_t done = 0;
  auto outcome =
      experiment::run_experiment({.name = arguments.name,
                                  .seed = arguments.seed,
                                  .parameters = *parameters,
                                  .on_cell =
                                      [&](const experiment::Cell& cell) {
                                        ++done;
                                        if (overwrite)
                                          fmt::print(stderr, "\r\033[K{}: {}", done, cell.key);
                                        if (lines) fmt::print(stderr, "{}: {}\n", done, cell.key);
                                      },
                                  .interrupted = [] { return interrupted().load(); }});
  if (overwrite) clear_line();
  if (!outcome) return report_error(outcome.error(), arguments.as_json);
  if (outcome->interrupted) {
    fmt::print(stderr, "headcrash: interrupted; no result was stored\n");
    return kInterrupted;
  }
  if (!arguments.database.empty()) {
    auto database = db::Database::open(arguments.database, db::Database::Access::read_write);
    if (!database) return report_error(database.error(), arguments.as_json);
    if (const auto kept = experiment::keep(*database, *outcome); !kept)
      return report_error(kept.error(), arguments.as_json);
  }
  if (!arguments.csv.empty()) {
    if (const auto written = base::write_text_file(arguments.csv, experiment::as_csv(*outcome));
        !written)
      return report_error(written.error(), arguments.as_json);
  }
  if (!quiet) fmt::print(stderr, "{}\n", cost_of(*outcome));
  if (arguments.as_json)
    print(experiment::as_json(*outcome));
  else
    fmt::print("{}", experiment::as_text(*outcome));
  return outcome->failed() > 0 ? kFound : kFine;
}

}  // namespace

void add_experiment(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "experiment",
      "Runs a paper's experiment in virtual time and compares the results with the "
      "paper's");
  const auto arguments = std::make_shared<ExperimentArguments>();
  command->add_option("PAPER[/NAME]", arguments->name, "An experiment (headcrash list experiments)")
      ->required();
  command->add_option("--db", arguments->database,
                      "Results database; created if missing; default: store nothing");
  command->add_option("--csv", arguments->csv,
                      "CSV file for the numbers and rules of all claims, one per line");
  command->add_option("--seed", arguments->seed, "Seed of the contents of workloads")
      ->capture_default_str();
  command->add_option(
      "--set", arguments->set,
      "Set a parameter of a part, as NAME=NUMBER (headcrash list experiments --json); may be "
      "repeated");
  add_verbosity_options(*command, arguments->verbosity);
  command->add_flag("--json", arguments->as_json, "Machine-readable output");
  command->footer(
      "Examples:\n  headcrash experiment ganger94/table2\n  headcrash experiment ganger94 --db papers.db\n"
      "  headcrash report --db papers.db\n\n"
      "Exit code 1: a cell failed. A rule that does not hold is a result, not a failure.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace headcrash::cli
