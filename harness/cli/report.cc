// headcrash report: a results database as one HTML file.
#include "results/report/report.h"

#include <fmt/format.h>

#include <memory>

#include "harness/cli/command.h"

namespace headcrash::cli {
namespace {

struct ReportArguments {
  std::string database = "headcrash.db", output = "headcrash-report";
  std::int64_t run = 0;
  bool as_json = false;
};

int run_report(const ReportArguments& arguments) {
  Result<db::Database> database = db::Database::open(arguments.database, db::Database::Access::read_only);
  if (!database) return tell(database.error(), arguments.as_json);
  report::ReportOptions options{.output = arguments.output};
  if (arguments.run != 0) options.run = arguments.run;
  const Result<report::ReportResult> written = report::write_report(*database, options);
  if (!written) return tell(written.error(), arguments.as_json);
  if (arguments.as_json) {
    Result<nlohmann::json> summary = report::report_summary(*database, options.run);
    if (!summary) return tell(summary.error(), true);
    (*summary)["page"] = written->page.string();
    print(*summary);
  } else {
    fmt::print("{}\n", written->page.string());
  }
  return written->unexpected == 0 ? kFine : kFound;
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("report", "Writes one self-contained HTML file from a results database");
  const auto arguments = std::make_shared<ReportArguments>();
  command->add_option("--db", arguments->database, "Results database")->capture_default_str();
  command->add_option("-o,--output", arguments->output, "Folder for report.html")->capture_default_str();
  command->add_option("--run", arguments->run, "Number of the run; default: the newest")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", arguments->as_json, "Print the report's figures as JSON");
  command->footer(
      "Examples:\n  headcrash report --db demo.db -o demo-report\n  headcrash report --db demo.db --json | "
      "jq .cells\n\n"
      "Exit code 1: a trial did not come out as its file system promises.");
  command->callback([arguments, &exit_code] { exit_code = run_report(*arguments); });
}

}  // namespace headcrash::cli
