// Selects the page for the kind of the run (report.h).
#include "results/report/report.h"

#include <fmt/format.h>

#include "results/db/statement.h"
#include "results/report/bench/bench_export.h"
#include "results/report/bench/bench_page.h"
#include "results/report/campaign/facts.h"
#include "results/report/campaign/io_errors_page.h"
#include "results/report/campaign/unsynced_page.h"
#include "results/report/ci/outcomes.h"
#include "results/report/experiment/experiment_page.h"
#include "results/report/frame/answer.h"
#include "results/report/frame/page.h"
#include "results/report/frame/whole_file.h"

namespace headcrash::report {
namespace {

// Converts a campaign's cells to cases for continuous integration.

constexpr std::size_t kTrialsShown = 5;  // maximum number of trials shown for each cell

/// Describes the first kTrialsShown trials of a cell whose outcome is neither clean nor replayed.
std::string failed_trials(const Facts& facts, const Cell& cell) {
  std::string text;
  std::size_t shown = 0;
  for (const Trial& trial : facts.trials) {
    if (!is_of(trial, cell) || trial.outcome == "clean" || trial.outcome == "replayed") continue;
    if (++shown > kTrialsShown) return text + "\n...";
    text += fmt::format("{}trial {}: {}", text.empty() ? "" : "\n", trial.id, trial.summary);
  }
  return text;
}

CiCase case_of(const Facts& facts, const Cell& cell) {
  using enum CiCase::Verdict;
  CiCase made{.group = cell.filesystem,
              .name = fmt::format("{} on {}", cell.workload, cell.device)};
  if (!cell.variant.empty()) made.name += ", " + cell.variant;
  const std::string counts =
      fmt::format("{} of {} trials clean, {} replayed, {} lost, {} other", cell.clean, cell.trials,
                  cell.replayed, cell.lost, cell.other);
  if (cell.harness_errors > 0) {
    made.verdict = error;
    made.message =
        fmt::format("{} of {} trials ended with a harness error", cell.harness_errors, cell.trials);
  } else if (!cell.met) {
    made.verdict = skipped;
    made.message = "nothing is promised: " + counts;
  } else if (!*cell.met) {
    made.verdict = failed;
    made.message = (cell.is_control() ? "a control had no effect: " : "") + counts;
  }
  if (made.verdict == failed || made.verdict == error) made.details = failed_trials(facts, cell);
  return made;
}

/// Returns a case for each cell, grouped by file system. The case is a failure if a trial has an
/// unexpected result, or if a control did not show its required result. The case is an error if
/// trials ended because headcrash itself failed. The case is skipped if nothing is promised.
std::vector<CiCase> campaign_cases(const Facts& facts) {
  std::vector<CiCase> cases;
  cases.reserve(facts.cells.size());
  for (const Cell& cell : facts.cells) cases.push_back(case_of(facts, cell));
  return cases;
}

constexpr const char* kOtherFolder = "choose another folder with -o";

Result<std::filesystem::path> write_page(const ReportOptions& options, const std::string& html) {
  TRY(make_folder(options.output, kOtherFolder));
  const auto path = options.output / "report.html";
  TRY(write_whole(path, html));
  return path;
}

/// Holds a snapshot of a database, so that all reads see the same state.
class Snapshot {
 public:
  static Result<Snapshot> begin(db::Database& database) {
    TRY(db::execute(database.handle(), "BEGIN"));
    return Snapshot(database);
  }
  Snapshot(Snapshot&& other) noexcept : database_(other.database_) { other.database_ = nullptr; }
  Snapshot& operator=(Snapshot&&) = delete;
  ~Snapshot() {
    if (database_ != nullptr) static_cast<void>(db::execute(database_->handle(), "COMMIT"));
  }

 private:
  explicit Snapshot(db::Database& database) : database_(&database) {}
  db::Database* database_;
};

Result<Benchmark> benchmark_of(db::Database& database, std::optional<std::int64_t> run) {
  TRY(const auto snapshot, Snapshot::begin(database));
  return gather_benchmark(database, run);
}

Result<std::optional<BaselineComparison>> baseline_of(const Benchmark& now,
                                                      const ReportOptions& options) {
  if (!options.baseline) return std::nullopt;
  TRY(auto database,
      db::Database::open(options.baseline->database, db::Database::Access::read_only));
  TRY(const auto then, benchmark_of(database, options.baseline->run));
  if (now.clock() != then.clock()) {
    return fail(
        options.baseline->database.string(),
        fmt::format("run {} is in {} time, but the baseline is in {} time, so their times cannot "
                    "be compared",
                    now.facts.run.id, now.clock(), then.clock()),
        "use a baseline with the same clock");
  }
  return compare_with_baseline(now, then, options.baseline->tolerance);
}

Result<ReportResult> write_bench_report(db::Database& database, const ReportOptions& options) {
  TRY(const auto snapshot, Snapshot::begin(database));
  TRY(const auto bench, gather_benchmark(database, options.run));
  TRY(const auto compared, baseline_of(bench, options));
  const BaselineComparison* baseline = compared ? &*compared : nullptr;
  TRY(const auto html, bench_page(bench, baseline));
  TRY(const auto page, write_page(options, html));
  if (!options.csv.empty()) {
    TRY(write_csv(database, bench, baseline, options.csv));
  }
  ReportResult result;
  result.page = page;
  result.run = bench.facts.run.id;
  result.trials = bench.facts.run.recorded;
  result.failed = bench.failed();
  result.regressions = baseline == nullptr ? 0 : baseline->regressions();
  result.cases = bench_cases(bench, baseline);
  result.text = bench_text(bench, baseline);
  result.summary = bench_json(bench, baseline);
  return result;
}

Result<ReportResult> write_experiment_report(db::Database& database, const ReportOptions& options) {
  std::int64_t run = options.run.value_or(0);
  if (!options.run) {
    TRY(const auto newest, db::query_integer(database.handle(), "SELECT max(id) FROM run"));
    run = newest;
  }
  TRY(const auto experiment, experiment_page(database, run));
  TRY(const auto page, write_page(options, experiment.html));
  return ReportResult{.page = page,
                      .run = run,
                      .trials = experiment.cells,
                      .failed = static_cast<std::size_t>(experiment.failed),
                      .summary = {{"run", run},
                                  {"cells", experiment.cells},
                                  {"failed", experiment.failed},
                                  {"rules_hold", experiment.hold},
                                  {"rules_do_not_hold", experiment.do_not_hold},
                                  {"rules_undecided", experiment.undecided}}};
}

/// Writes a survey's page. A survey's cells are measured but have no verdict.
template <typename Survey>
Result<ReportResult> write_survey_report(Result<Survey> report, const ReportOptions& options) {
  if (!report) return forward_error(report);
  TRY(const auto page, write_page(options, report->html));
  return ReportResult{.page = page,
                      .run = report->run,
                      .trials = report->cells,
                      .failed = static_cast<std::size_t>(report->not_measured),
                      .summary = std::move(report->summary)};
}

}  // namespace

Result<ReportResult> write_report(db::Database& database, const ReportOptions& options) {
  TRY(const auto kind, kind_of_run(database, options.run));
  const bool only_bench = options.baseline || !options.csv.empty();
  if (kind == "bench" || (only_bench && !options.run)) return write_bench_report(database, options);
  if (kind == "experiment" && !only_bench) return write_experiment_report(database, options);
  if (!only_bench) {
    TRY(const auto survey, is_io_errors(database, options.run));
    if (survey) return write_survey_report(io_errors_report(database, options.run), options);
    TRY(const auto unsynced, is_unsynced(database, options.run));
    if (unsynced) return write_survey_report(unsynced_report(database, options.run), options);
  }
  TRY(auto facts, gather(database, options.run));
  facts.folder = options.output;
  if (only_bench) {
    return fail(database.path().string(),
                fmt::format("run {} is a {}, not a benchmark", facts.run.id, facts.run.kind),
                "omit --baseline and --csv, or select a run of headcrash bench with --run");
  }
  TRY(const auto html, page(facts));
  TRY(const auto path, write_page(options, html));
  Summary summary = summary_of(facts);
  return ReportResult{.page = path,
                      .run = facts.run.id,
                      .trials = facts.run.recorded,
                      .unexpected = facts.unexpected(),
                      .text = summary.status + summary.systems,
                      .cases = campaign_cases(facts),
                      .summary = std::move(summary.figures)};
}

Result<std::vector<CiCase>> report_cases(db::Database& database, std::optional<std::int64_t> run) {
  TRY(const auto facts, gather(database, run));
  return campaign_cases(facts);
}

}  // namespace headcrash::report
