// Who is faster: all contests in one table, then each with its intervals.
#include <fmt/format.h>

#include <algorithm>

#include "results/report/bench_page.h"
#include "results/report/figures.h"
#include "results/report/html.h"
#include "results/report/ranking.h"
#include "results/report/sections.h"

namespace headcrash::report {
namespace {

using Kind = Column::Kind;

/// Contests beyond these are folded up.
constexpr std::size_t kOpenMost = 24;
constexpr const char* kNothing = "<span class=\"muted\">&ndash;</span>";

struct EntrantColumn {
  std::string filesystem, variant;
  bool operator==(const EntrantColumn&) const = default;
};

std::vector<EntrantColumn> columns_of(const Benchmark& bench) {
  std::vector<EntrantColumn> columns;
  for (const Contest& contest : bench.contests)
    for (const Entrant& entrant : contest.entrants)
      if (const EntrantColumn column{entrant.filesystem, entrant.variant};
          std::ranges::find(columns, column) == columns.end())
        columns.push_back(column);
  std::ranges::sort(columns, [](const EntrantColumn& a, const EntrantColumn& b) {
    return std::tie(a.filesystem, a.variant) < std::tie(b.filesystem, b.variant);
  });
  return columns;
}

std::string overview_cell(const Contest& contest, const EntrantColumn& column) {
  const auto entrant = std::ranges::find_if(contest.entrants, [&](const Entrant& each) {
    return each.filesystem == column.filesystem && each.variant == column.variant;
  });
  if (entrant == contest.entrants.end()) return kNothing;
  const Standing& s = entrant->standing;
  if (s.kind == Standing::Kind::cpu_bound) return "<span class=\"muted\">CPU</span>";
  if (s.kind == Standing::Kind::idle) return "<span class=\"muted\">idle</span>";
  if (s.kind == Standing::Kind::unmeasured) return "<span class=\"no\">failed</span>";
  const std::string share = fmt::format("{:.0f}&nbsp;%", s.to_best.ratio * 100);
  return s.rank == 1 ? "<b class=\"yes\">" + share + "</b>" : share;
}

std::string interval_text(const Standing& s) {
  if (!s.ranking.mean_interval) return "<small class=\"warn\">no interval</small>";
  return fmt::format("<small>{} &ndash; {}</small>", milliseconds(s.ranking.mean_interval->low),
                     milliseconds(s.ranking.mean_interval->high));
}

std::string to_best(const Contest& contest, const Entrant& entrant) {
  const Standing& s = entrant.standing;
  std::string text = fmt::format("{:.1f}&nbsp;%", s.to_best.ratio * 100);
  if (&entrant == &contest.entrants.front()) return text;
  if (!s.to_best.interval)
    return text +
           fmt::format("<small>{}</small>", s.pairs == 0 ? "unpaired" : fmt::format("pairs: {}", s.pairs));
  return text + fmt::format("<small>{:.1f} &ndash; {:.1f}</small>", s.to_best.interval->low * 100,
                            s.to_best.interval->high * 100);
}

std::string marks_text(const Entrant& entrant) {
  std::string text;
  for (const std::string& mark : marks_of(entrant))
    text += fmt::format("{}{}", text.empty() ? "" : "; ", escape(mark));
  return text.empty() ? text : "<small class=\"warn\">" + text + "</small>";
}

std::string contest_table(const Benchmark& bench, const Contest& contest) {
  const std::vector<Column> columns = {
      {"file system"},
      {"rank", Kind::number},
      {contest.to_quiescence ? "to quiescence, mean" : "elapsed, mean", Kind::number},
      {"of the best", Kind::number},
      {"median", Kind::number},
      {"elapsed", Kind::number},
      {"spread", Kind::number},
      {"device busy", Kind::number},
      {"repetitions", Kind::number},
      {"marks"}};
  std::vector<std::vector<std::string>> rows;
  for (const Entrant& entrant : contest.entrants) {
    const Standing& s = entrant.standing;
    const std::string name = entrant_name(bench, entrant.filesystem, entrant.variant);
    const std::string repetitions = fmt::format("{}", entrant.measurements.size());
    if (s.kind == Standing::Kind::unmeasured) {
      rows.push_back({name, kNothing, "<span class=\"no\">failed</span>", kNothing, kNothing, kNothing,
                      kNothing, kNothing, repetitions,
                      "<small class=\"no\">" + escape(unranked_because(entrant)) + "</small>"});
      continue;
    }
    const bool ranked = s.kind == Standing::Kind::ranked;
    const std::string busy = percent(s.busy_share);
    rows.push_back({name,
                    ranked ? fmt::format("<b>{}</b>", s.rank)
                           : fmt::format("<span class=\"muted\">{}</span>", unranked_name(s.kind)),
                    milliseconds(s.ranking.mean) + interval_text(s),
                    ranked ? to_best(contest, entrant) : kNothing, milliseconds(s.ranking.median),
                    milliseconds(s.elapsed.mean), percent(s.spread()),
                    ranked ? busy : "<b class=\"warn\">" + busy + "</b>", repetitions, marks_text(entrant)});
  }
  return html_table(columns, rows, "cards ranking");
}

std::string bars_figure(const Contest& contest, const BenchPlots& plots) {
  const auto svg = plots.bars.find(contest.identity());
  return svg == plots.bars.end() ? std::string{} : "<figure>\n" + svg->second + "</figure>\n";
}

std::vector<std::string> change_row(const Benchmark& bench, const CellChange& c) {
  using statistics::Change;
  std::string change = kNothing;
  if (c.now_ms) {
    change = fmt::format("{:+.1f}&nbsp;%", (c.whole.ratio - 1) * 100);
    if (c.whole.interval) {
      change += fmt::format("<small>{:+.1f} &ndash; {:+.1f}</small>", (c.whole.interval->low - 1) * 100,
                            (c.whole.interval->high - 1) * 100);
    }
  }
  const char* css = c.change == Change::worse ? "no" : c.change == Change::better ? "yes" : "muted";
  std::string place = c.setting + (c.phase.empty() ? "" : ", " + c.phase) + ", " + c.device;
  if (c.entrant != c.filesystem) place = c.entrant + ": " + place;
  return {fmt::format("{}<small>{}</small>", filesystem_name(bench.facts, c.filesystem), escape(place)),
          fmt::format("<span class=\"{}\">{}</span>", css, change_name(c.change)),
          c.before_ms ? milliseconds(*c.before_ms) : kNothing,
          c.now_ms ? milliseconds(*c.now_ms) : kNothing,
          change,
          escape(c.reason)};
}

}  // namespace

std::string bench_overview(const Benchmark& bench) {
  if (bench.contests.empty()) return {};
  std::vector<Column> columns = {{"workload"}};
  const auto entrants = columns_of(bench);
  for (const EntrantColumn& each : entrants)
    columns.push_back(
        {each.variant.empty() ? each.filesystem : each.filesystem + " " + each.variant, Kind::number});
  std::vector<std::vector<std::string>> rows;
  for (const Contest& contest : bench.contests) {
    auto& row = rows.emplace_back(std::vector{contest_name(contest)});
    for (const EntrantColumn& each : entrants) row.push_back(overview_cell(contest, each));
  }
  return fmt::format(
      "<section>\n<h2>Relative times</h2>\n<p class=\"note\">100&nbsp;% is the fastest, 200&nbsp;% took twice as "
      "long. Bold: no other is significantly faster ({:.0f}&nbsp;% confidence, by more than 2&nbsp;%). CPU: the "
      "device was busy less than half of the time, so that the processor was measured. idle: neither device nor "
      "processor had work for most of the time, so that a timer or a write-back delay was measured.</p>\n{}{}</section>\n",
      statistics::kConfidence * 100, html_table(columns, rows, "cards overview"),
      query_note("bench_cells", bench.facts.run.id));
}

std::string ranking_section(const Benchmark& bench, const BenchPlots& plots) {
  std::string out = "<section>\n<h2>Rankings</h2>\n";
  if (bench.contests.empty()) return out + "<p class=\"muted\">Nothing was measured.</p>\n</section>\n";
  out +=
      "<p class=\"note\">To quiescence: until the last call returned and all writes reached the device. Elapsed: "
      "until the last call returned. Of the best: time as a share of the best one&#39;s, over equal repetitions. "
      "Spread: standard deviation by mean. Bars are means, lines their bootstrap intervals (95&nbsp;%, wider for "
      "few repetitions), dots single repetitions. Equal ranks do not differ significantly.</p>\n";
  std::size_t shown = 0;
  for (const Contest& contest : bench.contests) {
    const std::string content = bars_figure(contest, plots) + contest_table(bench, contest);
    if (shown++ < kOpenMost) {
      out += fmt::format("<h3>{}</h3>\n{}", escape(title_of(contest)), content);
    } else {
      out += details(title_of(contest), content, "cell");
    }
  }
  return out + query_note("bench_measures", bench.facts.run.id) + "</section>\n";
}

std::string baseline_section(const Benchmark& bench, const BaselineComparison& comparison) {
  using statistics::Change;
  std::string out = fmt::format(
      "<section>\n<h2>Since the baseline</h2>\n<p>{}.</p>\n<p class=\"note\">Run {} of {}, started {}. Means "
      "of both runs, with intervals of their ratio; a change of less than {:.0f}&nbsp;% counts as unchanged. The runs "
      "were not interleaved: other changes between them affect the numbers, and of many cells some differ by "
      "chance.</p>\n",
      escape(verdict_line(comparison)), comparison.run.id, escape(comparison.database),
      escape(comparison.run.started_at), comparison.tolerance * 100);
  out += notes_list(comparison.differences);
  const auto table = [&](const std::vector<Change>& wanted) {
    std::vector<std::vector<std::string>> rows;
    for (const Change each : wanted)
      for (const CellChange& change : comparison.changes)
        if (change.change == each) rows.push_back(change_row(bench, change));
    const std::vector<Column> columns = {
        {"cell"}, {"verdict"}, {"then", Kind::number}, {"now", Kind::number}, {"change", Kind::number},
        {"why"}};
    return rows.empty() ? std::string{} : html_table(columns, rows, "cards changes");
  };
  const auto folded = [&](Change change, const char* words) {
    const std::size_t n = comparison.count(change);
    return n == 0 ? std::string{} : details(fmt::format("{}: {}", words, n), table({change}), "numbers");
  };
  out += table({Change::worse, Change::better});
  out += folded(Change::cannot_tell, "inconclusive cells") + folded(Change::same, "unchanged cells");
  return out + "</section>\n";
}

}  // namespace headcrash::report
