// Formats the text for the terminal: status line, notes, and a table for each contest
// (bench_answer.h).
#include <fmt/format.h>

#include "results/report/bench/bench_answer.h"
#include "results/report/frame/figures.h"
#include "results/report/frame/html.h"
#include "results/report/frame/text_table.h"

namespace headcrash::report {
namespace {

std::vector<std::string> row_of(const Entrant& entrant, bool first) {
  const Standing& s = entrant.standing;
  if (s.kind != Standing::Kind::ranked) return {"-", entrant.name(), unranked_because(entrant)};
  std::string interval;
  if (s.ranking.mean_interval)
    interval = fmt::format("{} to {}", milliseconds(s.ranking.mean_interval->low),
                           milliseconds(s.ranking.mean_interval->high));
  std::string marks;
  for (const std::string& mark : marks_of(entrant)) marks += (marks.empty() ? "" : "; ") + mark;
  return {fmt::format("{}", s.rank),
          entrant.name(),
          milliseconds(s.ranking.mean),
          interval,
          fmt::format("{:.1f} %", s.to_best.ratio * 100),
          first ? "" : difference(s),
          marks};
}

std::string contest_text(const Contest& contest) {
  std::string text = fmt::format("\n{}, {}\n", title_of(contest), time_name(contest));
  TextTable table({"", "", ">", "", ">", "", ""});
  for (const Entrant& entrant : contest.entrants)
    table.add(row_of(entrant, &entrant == &contest.entrants.front()));
  return text + table.text();
}

std::string baseline_text(const BaselineComparison& comparison) {
  std::string text =
      fmt::format("\nSince run {} of {}, changes of more than {:.0f} %: {}.\n", comparison.run.id,
                  comparison.database, comparison.tolerance * 100, verdict_line(comparison));
  for (const std::string& difference : comparison.differences)
    text += "  differs: " + difference + "\n";
  for (const CellChange& change : comparison.changes) {
    if (change.change == statistics::Change::same) continue;
    text += fmt::format("  {:<11}  {}  {}, {}, {}", change_name(change.change), change.entrant,
                        change.setting, change.phase, change.device);
    if (change.before_ms && change.now_ms) {
      text += fmt::format("  {} -> {} ({:+.1f} %", milliseconds(*change.before_ms),
                          milliseconds(*change.now_ms), (change.whole.ratio - 1) * 100);
      if (change.whole.interval)
        text += fmt::format(", {:.1f} to {:.1f}", (change.whole.interval->low - 1) * 100,
                            (change.whole.interval->high - 1) * 100);
      text += ")";
    }
    text += change.reason.empty() ? "\n" : "  " + change.reason + "\n";
  }
  return text;
}

}  // namespace

std::string bench_text(const Benchmark& bench, const BaselineComparison* baseline) {
  const BenchAnswer answer = answer_of(bench);
  std::string text = answer.status + "\n";
  if (!answer.clock.empty()) text += answer.clock + "\n";
  for (const std::string& note : answer.notes) text += "! " + note + "\n";
  for (const Contest& contest : bench.contests) text += contest_text(contest);
  std::size_t listed = 0;
  for (const BenchTrial& trial : bench.trials) {
    if (!trial.failed()) continue;
    text +=
        fmt::format("{}  {}: {}\n", listed++ == 0 ? "\nFailed:\n" : "", trial.key, trial.summary);
  }
  if (baseline != nullptr) text += baseline_text(*baseline);
  return valid_utf8(text);
}

}  // namespace headcrash::report
