// The same for the terminal, in plain columns (bench_answer.h).
#include <fmt/format.h>

#include <algorithm>

#include "results/report/bench_answer.h"
#include "results/report/figures.h"
#include "results/report/html.h"

namespace headcrash::report {
namespace {

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

enum class Side { left, right };

std::string padded(const std::string& text, std::size_t width, Side side) {
  const std::string blanks(width > width_of(text) ? width - width_of(text) : 0, ' ');
  return side == Side::left ? text + blanks : blanks + text;
}

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
  std::string text = fmt::format("\n{}, {}\n", title_of(contest),
                                 contest.to_quiescence ? "time to quiescence" : "elapsed time");
  std::vector<std::vector<std::string>> rows;
  for (const Entrant& entrant : contest.entrants)
    rows.push_back(row_of(entrant, &entrant == &contest.entrants.front()));
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    if (row.size() <= 3) continue;
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  if (widths.size() < 2) widths.resize(2);
  for (const auto& row : rows) widths[1] = std::max(widths[1], width_of(row[1]));
  for (const auto& row : rows) {
    std::string line = "  ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool number = row.size() > 3 && (i == 2 || i == 4);
      line +=
          padded(row[i], row.size() <= 3 && i == 2 ? 0 : widths[i], number ? Side::right : Side::left) + "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string baseline_text(const BaselineComparison& comparison) {
  std::string text = fmt::format("\nSince run {} of {}, beyond {:.0f} %: {}.\n", comparison.run.id,
                                 comparison.database, comparison.tolerance * 100, verdict_line(comparison));
  for (const std::string& difference : comparison.differences) text += "  differs: " + difference + "\n";
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
  std::string text = answer.paragraph + "\n";
  for (const std::string& caution : answer.cautions) text += "! " + caution + "\n";
  for (const Contest& contest : bench.contests) text += contest_text(contest);
  std::size_t told = 0;
  for (const BenchTrial& trial : bench.trials) {
    if (!trial.failed()) continue;
    text += fmt::format("{}  {}: {}\n", told++ == 0 ? "\nFailed:\n" : "", trial.key, trial.summary);
  }
  if (baseline != nullptr) text += baseline_text(*baseline);
  return valid_utf8(text);
}

}  // namespace headcrash::report
