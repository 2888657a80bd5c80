// Exports a benchmark as CSV and JUnit XML (bench_export.h). The XML is in the format that build
// servers read: testsuites > testsuite > testcase > failure, error or skipped.
#include "results/report/bench/bench_export.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "results/report/bench/bench_answer.h"
#include "results/report/bench/ranking.h"
#include "results/report/frame/html.h"
#include "results/report/frame/sql.h"
#include "results/report/frame/whole_file.h"

namespace headcrash::report {
namespace {

using Cells = std::vector<Value>;

Value maybe(const std::optional<double>& value) {
  return value ? Value(*value) : Value();
}

std::optional<double> low_of(const statistics::Comparison& c) {
  return c.interval ? std::optional(c.interval->low) : std::nullopt;
}
std::optional<double> high_of(const statistics::Comparison& c) {
  return c.interval ? std::optional(c.interval->high) : std::nullopt;
}

std::string_view status_of(Standing::Kind kind) {
  switch (kind) {
    case Standing::Kind::ranked:
      return "ranked";
    case Standing::Kind::cpu_bound:
      return "cpu-bound";
    case Standing::Kind::idle:
      return "idle";
    case Standing::Kind::unmeasured:
      break;
  }
  return "failed";
}

SqlAnswer rankings(const Benchmark& bench) {
  SqlAnswer table;
  table.columns = {"device",      "workload",        "parameters", "scale",       "phase",
                   "filesystem",  "variant",         "rank",       "state",       "ranked_by",
                   "repetitions", "failed",          "mean_ms",    "mean_low_ms", "mean_high_ms",
                   "median_ms",   "elapsed_mean_ms", "to_best",    "to_best_low", "to_best_high",
                   "pairs",       "spread",          "busy_share", "marks",       "clock"};
  for (const Contest& contest : bench.contests) {
    for (const Entrant& entrant : contest.entrants) {
      const Standing& s = entrant.standing;
      const bool measured = s.kind != Standing::Kind::unmeasured,
                 ranked = s.kind == Standing::Kind::ranked;
      const auto number = [&](double value) { return measured ? Value(value) : Value(); };
      const auto& interval = s.ranking.mean_interval;
      table.rows.push_back(Cells{contest.device,
                                 contest.workload,
                                 contest.parameters,
                                 contest.scale,
                                 contest.phase,
                                 entrant.filesystem,
                                 entrant.variant,
                                 ranked ? Value(std::int64_t{s.rank}) : Value(),
                                 std::string(status_of(s.kind)),
                                 std::string(contest.ranked_by()),
                                 static_cast<std::int64_t>(entrant.measurements.size()),
                                 static_cast<std::int64_t>(entrant.failed),
                                 number(s.ranking.mean),
                                 interval ? Value(interval->low) : Value(),
                                 interval ? Value(interval->high) : Value(),
                                 number(s.ranking.median),
                                 number(s.elapsed.mean),
                                 ranked ? Value(s.to_best.ratio) : Value(),
                                 maybe(low_of(s.to_best)),
                                 maybe(high_of(s.to_best)),
                                 static_cast<std::int64_t>(s.pairs),
                                 number(s.spread()),
                                 number(s.busy_share),
                                 fmt::format("{}", fmt::join(marks_of(entrant), "; ")),
                                 contest.clock});
    }
  }
  return table;
}

SqlAnswer changes(const BaselineComparison& comparison) {
  SqlAnswer table;
  table.columns = {"device",  "setting",    "scale",      "phase",         "entrant",
                   "verdict", "regression", "then_ms",    "now_ms",        "compared",
                   "ratio",   "ratio_low",  "ratio_high", "elapsed_ratio", "reason"};
  for (const CellChange& c : comparison.changes) {
    const bool compared = c.now_ms.has_value();
    table.rows.push_back(
        Cells{c.device, c.setting, c.scale, c.phase, c.entrant, change_name(c.change),
              std::int64_t{c.regression ? 1 : 0}, maybe(c.before_ms), maybe(c.now_ms),
              std::string(!compared         ? ""
                          : c.to_quiescence ? "quiescent_ms"
                                            : "elapsed_ms"),
              compared ? Value(c.whole.ratio) : Value(), maybe(low_of(c.whole)),
              maybe(high_of(c.whole)), compared ? Value(c.elapsed.ratio) : Value(), c.reason});
  }
  return table;
}

CiCase case_of(const Contest& contest, const Entrant& entrant, const CellChange* change) {
  using enum CiCase::Verdict;
  CiCase made{.group = title_of(contest),
              .name = entrant.name(),
              .seconds = entrant.standing.ranking.mean / 1e3};
  const auto say = [&](CiCase::Verdict verdict, const std::string& message) {
    made.verdict = verdict;
    made.message = message;
    return made;
  };
  if (change != nullptr && change->regression)
    return say(failed, !change->reason.empty() ? change->reason
                                               : fmt::format("slower by {:.1f} % than the baseline",
                                                             (change->whole.ratio - 1) * 100));
  if (entrant.standing.kind == Standing::Kind::unmeasured)
    return say(error, unranked_because(entrant));
  if (entrant.failed > 0)
    return say(error, fmt::format("{} of {} trials failed", entrant.failed,
                                  entrant.failed + entrant.measurements.size()));
  if (Standing::is_unranked_number(entrant.standing.kind))
    return say(skipped, unranked_because(entrant));
  if (change != nullptr && change->change == statistics::Change::cannot_tell)
    return say(skipped, "inconclusive: " + change->reason);
  return made;
}

}  // namespace

std::vector<CiCase> bench_cases(const Benchmark& bench, const BaselineComparison* baseline) {
  std::vector<CiCase> cases;
  // If there is a baseline, its changes are in the same order as the entrants here.
  for (const Contest& contest : bench.contests)
    for (const Entrant& entrant : contest.entrants)
      cases.push_back(case_of(contest, entrant,
                              baseline == nullptr ? nullptr : &baseline->changes[cases.size()]));
  return cases;
}

Result<void> write_csv(db::Database& database, const Benchmark& bench,
                       const BaselineComparison* baseline, const std::filesystem::path& folder) {
  TRY(make_folder(folder, "choose another folder with --csv"));
  for (const char* name : {"measures", "cells", "trials", "metrics"}) {
    TRY(const auto rows, ask(database, fmt::format("bench_{}", name), bench.facts.run.id,
                             std::numeric_limits<std::size_t>::max()));
    TRY(write_whole(folder / fmt::format("{}.csv", name), as_csv(rows)));
  }
  TRY(write_whole(folder / "rankings.csv", as_csv(rankings(bench))));
  if (baseline == nullptr) return {};
  return write_whole(folder / "baseline.csv", as_csv(changes(*baseline)));
}

}  // namespace headcrash::report
