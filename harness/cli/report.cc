// headcrash report: writes the contents of a results database as one HTML file.
#include "results/report/report.h"

#include <fmt/format.h>

#include <memory>

#include "harness/cli/command.h"
#include "harness/cli/failure_pages.h"
#include "harness/cli/host_usage.h"

namespace headcrash::cli {
namespace {

struct ReportArguments {
  std::string database = kDefaultDatabase, output = "headcrash-report", baseline, csv;
  report::CiFiles ci;
  std::int64_t run = 0, baseline_run = 0;
  double tolerance_percent = 5;
  bool pages = false, as_json = false;
};

int run_report(const ReportArguments& arguments) {
  Result<db::Database> database =
      db::Database::open(arguments.database, db::Database::Access::read_only);
  if (!database) return report_error(database.error(), arguments.as_json);
  report::ReportOptions options{.output = arguments.output, .csv = arguments.csv};
  if (arguments.run != 0) options.run = arguments.run;
  if (!arguments.baseline.empty()) {
    options.baseline = report::BaselineOptions{.database = arguments.baseline,
                                               .tolerance = arguments.tolerance_percent / 100};
    if (arguments.baseline_run != 0) options.baseline->run = arguments.baseline_run;
  }
  if (arguments.pages) {
    catch_interrupts();
    const auto pages = write_failure_pages(*database, options.run, arguments.output);
    if (!pages) return report_error(pages.error(), arguments.as_json);
    tell(*pages, arguments.output);
    if (pages->interrupted) return kInterrupted;
  }
  Result<report::ReportResult> written = report::write_report(*database, options);
  if (!written) return report_error(written.error(), arguments.as_json);
  if (arguments.as_json) {
    written->summary["page"] = written->page.string();
    written->summary["peak_memory_bytes"] = peak_memory_bytes();
    print(written->summary);
  } else {
    fmt::print("{}{}\n", written->text.empty() ? "" : written->text + "\n", written->page.string());
  }
  const int exit_code = written->unexpected == 0 && written->regressions == 0 ? kFine : kFound;
  return finish_ci(arguments.ci, arguments.database, written->cases, exit_code);
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("report", "Writes one self-contained HTML file from a results database");
  const auto arguments = std::make_shared<ReportArguments>();
  add_database_option(*command, arguments->database);
  command->add_option("-o,--output", arguments->output, "Folder for report.html")
      ->capture_default_str();
  command->add_option("--run", arguments->run, "Number of the run; default: the newest")
      ->check(CLI::PositiveNumber);
  command->add_flag(
      "--pages", arguments->pages,
      "For a campaign: write a page for each failure whose recording was kept; the report "
      "links to it");
  command->add_flag("--json", arguments->as_json, "Print the report's figures as JSON");
  CLI::Option* baseline =
      command->add_option("--baseline", arguments->baseline,
                          "Results database of an earlier benchmark to compare with");
  command
      ->add_option("--baseline-run", arguments->baseline_run,
                   "Run number of the benchmark; default: that of the newest one")
      ->check(CLI::PositiveNumber)
      ->needs(baseline);
  command
      ->add_option("--tolerance", arguments->tolerance_percent,
                   "Tolerance in percent; smaller changes are ignored")
      ->check(between(0.1, 100.0))
      ->needs(baseline)
      ->capture_default_str();
  command->add_option("--csv", arguments->csv,
                      "Folder for CSV files, one per table of a benchmark");
  add_ci_options(*command, arguments->ci);
  command->footer(
      "Examples:\n  headcrash report --db demo.db -o demo-report\n  headcrash report --db demo.db --json\n"
      "  headcrash report --db demo.db -o demo-report --pages\n"
      "  headcrash report --db now.db --baseline last-week.db --junit bench.xml --csv tables\n\n"
      "Exit code 1: a trial had an unexpected result, or a cell is slower than in the baseline.");
  command->callback([arguments, &exit_code] { exit_code = run_report(*arguments); });
}

}  // namespace headcrash::cli
