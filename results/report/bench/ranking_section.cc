// Shows the rankings: a map of all contests, then each contest with its intervals.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "results/report/bench/bench_page.h"
#include "results/report/bench/ranking.h"
#include "results/report/frame/figures.h"
#include "results/report/frame/heat_map.h"
#include "results/report/frame/html.h"
#include "results/report/frame/palette.h"
#include "results/report/frame/sections.h"

namespace headcrash::report {
namespace {

using Kind = Column::Kind;

/// If there are more rankings than this, the page groups the rankings by device and collapses them.
constexpr std::size_t kRankingsInTheOpen = 6;
constexpr const char* kVirtualTimeNote =
    "<p class=\"note\">In virtual time the guest&#39;s clock stops while the guest computes, and "
    "advances while it waits for the device or a timer. These times do not include the processor "
    "time of a file system, so the ranking can differ from the ranking on a machine with a slow "
    "processor. Each repetition has a different seed. Equal seeds give equal times to the "
    "nanosecond, so intervals show only the effect of the seeds, without noise.</p>\n";
constexpr const char* kChargedNote =
    "<p class=\"note\">The guest&#39;s time includes the host&#39;s processor time that it used, "
    "multiplied by the charge. The guest is user-mode Linux, whose system calls cost many times "
    "more than on a real machine. A file system that computes more is slower here, but the size "
    "of the difference means little. Intervals show the host&#39;s noise and the effect of the "
    "seeds.</p>\n";
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

std::string id_of(const Contest& contest) {
  return anchor("ranking", contest.device + "/" + contest.workload + "/" + contest.parameters +
                               "/" + contest.phase +
                               (contest.in_virtual_time() ? "/" + contest.clock : ""));
}

/// Returns a time as a multiple of the best one. The multiple has a mark if no other time is
/// significantly better.
HeatCell overview_cell(const Contest& contest, const EntrantColumn& column) {
  const auto entrant = std::ranges::find_if(contest.entrants, [&](const Entrant& each) {
    return each.filesystem == column.filesystem && each.variant == column.variant;
  });
  if (entrant == contest.entrants.end()) return {};
  const Standing& s = entrant->standing;
  const std::string name = entrant->name();
  if (s.kind == Standing::Kind::unmeasured)
    return {"<span>failed</span>", "hsome", name + ": " + unranked_because(*entrant)};
  if (s.kind != Standing::Kind::ranked)
    return {s.kind == Standing::Kind::idle ? "idle" : "CPU", "hother",
            name + ", " + unranked_because(*entrant)};
  const bool best = s.rank == 1;
  std::string hint = fmt::format("{}: {}, rank {}", name, milliseconds(s.ranking.mean), s.rank);
  if (s.to_best.interval)
    hint += fmt::format("; {:.2f} to {:.2f} times the best", s.to_best.interval->low,
                        s.to_best.interval->high);
  return {fmt::format("<a href=\"#{}\">{:.2f}</a>", id_of(contest), s.to_best.ratio),
          fmt::format("{}{}", shade(s.to_best.ratio), best ? " best" : ""), hint};
}

/// Returns the geometric mean of each entrant's ratio to the best entrant, over the contests in
/// which every entrant was ranked.
HeatRow means_row(const Benchmark& bench, const std::vector<EntrantColumn>& entrants) {
  HeatRow row{.name = "geometric mean",
              .group = "all comparisons in which every file system was ranked",
              .cells = {}};
  std::vector<double> sums(entrants.size(), 0);
  std::size_t contests = 0;
  for (const Contest& contest : bench.contests) {
    if (contest.ranked != entrants.size() || contest.entrants.size() != entrants.size()) continue;
    ++contests;
    for (const Entrant& entrant : contest.entrants) {
      const auto at =
          std::ranges::find(entrants, EntrantColumn{entrant.filesystem, entrant.variant}) -
          entrants.begin();
      sums[static_cast<std::size_t>(at)] +=
          std::log(std::max(entrant.standing.to_best.ratio, 1e-9));
    }
  }
  if (contests < 2) return row;
  row.name = fmt::format("geometric mean of {}", contests);
  for (const double sum : sums) {
    const double mean = std::exp(sum / static_cast<double>(contests));
    row.cells.push_back({fmt::format("{:.2f}", mean), std::string(shade(mean))});
  }
  return row;
}

/// Draws two times as bars: until the last call returned, and until all writes reached the device.
/// The scale extends from 0 to the upper end of the interval that ends last.
std::string time_meter(const Contest& contest, const Entrant& entrant) {
  double largest = 0;
  for (const Entrant& each : contest.entrants) {
    if (each.standing.kind == Standing::Kind::unmeasured) continue;
    const statistics::Summary& s = each.standing.ranking;
    largest = std::max({largest, s.mean, s.mean_interval ? s.mean_interval->high : 0});
  }
  const statistics::Summary& s = entrant.standing.ranking;
  if (largest <= 0) return {};
  Meter bar{.share = s.mean / largest,
            .css_class = fmt::format(
                "c{}{}", filesystem_colour(entrant.filesystem),
                entrant.variant.empty() && !is_mode(entrant.filesystem) ? "" : " mode")};
  if (s.mean_interval) {
    bar.low = s.mean_interval->low / largest;
    bar.high = s.mean_interval->high / largest;
  }
  return meter(bar);
}

/// Returns a ranking in short form, such as "nilfs2 1.23 s, ext4 x 1.06, xfs x 1.26".
std::string in_short(const Contest& contest) {
  std::string text;
  for (std::size_t i = 0; i < contest.ranked; ++i) {
    const Entrant& entrant = contest.entrants[i];
    text += i == 0
                ? fmt::format("{} {}", entrant.name(), milliseconds(entrant.standing.ranking.mean))
                : fmt::format(", {} \u00d7\u00a0{:.2f}", entrant.name(),
                              entrant.standing.to_best.ratio);
  }
  return text.empty() ? "none ranked" : text;
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
    return text + fmt::format("<small>{}</small>",
                              s.pairs == 0 ? "unpaired" : fmt::format("pairs: {}", s.pairs));
  return text + fmt::format("<small>{:.1f} &ndash; {:.1f}</small>", s.to_best.interval->low * 100,
                            s.to_best.interval->high * 100);
}

std::string marks_text(const Entrant& entrant) {
  std::string text;
  for (const std::string& mark : marks_of(entrant))
    text += fmt::format("{}{}", text.empty() ? "" : "; ", escape(mark));
  return text.empty() ? text : "<small class=\"warn\">" + text + "</small>";
}

std::string contest_table(const Contest& contest) {
  const std::vector<Column> columns = {{"file system"},
                                       {time_name(contest)},
                                       {"mean", Kind::number},
                                       {"rank", Kind::number},
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
    const std::string name = entrant_name(entrant.filesystem, entrant.variant);
    const std::string repetitions = fmt::format("{}", entrant.measurements.size());
    if (s.kind == Standing::Kind::unmeasured) {
      rows.push_back({name, "", "<span class=\"no\">failed</span>", kNothing, kNothing, kNothing,
                      kNothing, kNothing, kNothing, repetitions,
                      "<small class=\"no\">" + escape(unranked_because(entrant)) + "</small>"});
      continue;
    }
    const bool ranked = s.kind == Standing::Kind::ranked;
    const std::string busy = percent(s.busy_share);
    rows.push_back(
        {name, time_meter(contest, entrant), milliseconds(s.ranking.mean) + interval_text(s),
         ranked ? fmt::format("<b>{}</b>", s.rank)
                : fmt::format("<span class=\"muted\">{}</span>", unranked_name(s.kind)),
         ranked ? to_best(contest, entrant) : kNothing, milliseconds(s.ranking.median),
         milliseconds(s.elapsed.mean), percent(s.spread()),
         ranked ? busy : "<b class=\"warn\">" + busy + "</b>", repetitions, marks_text(entrant)});
  }
  return html_table(columns, rows, "cards ranking");
}

std::vector<std::string> change_row(const CellChange& c) {
  using statistics::Change;
  std::string change = kNothing;
  if (c.now_ms) {
    change = fmt::format("{:+.1f}&nbsp;%", (c.whole.ratio - 1) * 100);
    if (c.whole.interval) {
      change += fmt::format("<small>{:+.1f} &ndash; {:+.1f}</small>",
                            (c.whole.interval->low - 1) * 100, (c.whole.interval->high - 1) * 100);
    }
  }
  const char* css = c.change == Change::worse ? "no" : c.change == Change::better ? "yes" : "muted";
  std::string place = c.setting + (c.phase.empty() ? "" : ", " + c.phase) + ", " + c.device;
  if (c.entrant != c.filesystem) place = c.entrant + ": " + place;
  return {fmt::format("{}<small>{}</small>", filesystem_name(c.filesystem), escape(place)),
          fmt::format("<span class=\"{}\">{}</span>", css, change_name(c.change)),
          c.before_ms ? milliseconds(*c.before_ms) : kNothing,
          c.now_ms ? milliseconds(*c.now_ms) : kNothing,
          change,
          escape(c.reason)};
}

}  // namespace

Section bench_overview(const Benchmark& bench) {
  if (bench.contests.empty()) return {};
  const auto entrants = columns_of(bench);
  std::vector<HeatColumn> columns;
  columns.reserve(entrants.size());
  for (const EntrantColumn& each : entrants)
    columns.push_back(
        {each.variant.empty() ? each.filesystem : each.filesystem + " " + each.variant,
         filesystem_name(each.filesystem, !each.variant.empty()) +
             (each.variant.empty() ? ""
                                   : fmt::format("<br><small>{}</small>", escape(each.variant)))});
  std::vector<HeatRow> rows;
  for (const Contest& contest : bench.contests) {
    const std::string mark = contest.scale_mark();
    HeatRow row{.name = escape(short_name(bench, contest)),
                .group = contest.device,
                .hint = title_of(contest),
                .cells = {}};
    if (!mark.empty()) row.name += fmt::format(" <small>{}</small>", mark);
    for (const EntrantColumn& each : entrants) row.cells.push_back(overview_cell(contest, each));
    rows.push_back(std::move(row));
  }
  // Sort by device, because the query may return the contests in any order.
  std::ranges::stable_sort(rows, {}, &HeatRow::group);
  if (HeatRow means = means_row(bench, entrants); !means.cells.empty())
    rows.push_back(std::move(means));
  return {
      .id = "times",
      .title = "Times the best",
      .html =
          heat_map("workload", columns, rows) +
          fmt::format(
              "<p class=\"legend\"><span><b class=\"yes\">&#9679;</b> no other file system is "
              "significantly faster: by more than {1:.0f}&nbsp;%, in a t test of equal "
              "repetitions at {0:.0f}&nbsp;% confidence, corrected for all pairs of the row "
              "(Holm)</span> <span>multiple of the best time: {2}</span> {3}<span>idle: most of "
              "the time is a wait for a timer or a write-back delay</span></p>\n",
              statistics::kConfidence * 100, kTie * 100, shade_scale(),
              bench.clock() == "virtual" ? "<span>virtual time: processor time is zero</span> "
              : bench.in_virtual_time()
                  ? "<span>virtual time with processor time: not deterministic</span> "
                  : "<span>CPU: the device was busy for less than half of the time, so the time "
                    "is that of the processor</span> ") +
          query_note("bench_cells", bench.facts.run.id)};
}

Section ranking_section(const Benchmark& bench) {
  Section section{.id = "rankings", .title = "Rankings", .html = {}};
  if (bench.contests.empty()) {
    section.html = "<p class=\"muted\">Nothing was measured.</p>\n";
    return section;
  }
  std::map<std::string, std::pair<std::size_t, std::string>> by_device;
  for (const Contest& contest : bench.contests) {
    auto& [count, html] = by_device[contest.device];
    ++count;
    html += folded(
        {.summary = fmt::format("<b>{}</b> <small>{}</small>", escape(short_name(bench, contest)),
                                escape(in_short(contest))),
         .html = fmt::format("<p class=\"note\">{}</p>\n", escape(title_of(contest))) +
                 contest_table(contest),
         .id = id_of(contest),
         .css_class = "cell"});
  }
  if (by_device.size() == 1 && bench.contests.size() <= kRankingsInTheOpen) {
    section.html = by_device.begin()->second.second;
  } else {
    for (const auto& [device, counted] : by_device)
      section.html += folded(
          {.summary = fmt::format("<b>{}</b>: {} comparisons", escape(device), counted.first),
           .html = counted.second,
           .id = anchor("device", device),
           .css_class = "cell on-paper"});
  }
  section.html += details(
      "How to read it",
      std::string(bench.clock() == "virtual" ? kVirtualTimeNote
                  : bench.in_virtual_time()  ? kChargedNote
                                             : "") +
          "<p class=\"note\">To quiescence: the time until the last call returned and all writes "
          "reached the device. Elapsed: the time until the last call returned. Of the best: the "
          "time divided by the best time, over equal repetitions. Spread: standard deviation "
          "divided by mean. Bars are means, lines their bootstrap intervals (95&nbsp;%, wider "
          "for few repetitions). Every repetition is listed under &quot;All measures&quot;. A "
          "rank is one plus the number of entrants that are significantly faster. All pairs of a "
          "table are compared over equal repetitions, with a correction for the number of pairs "
          "(Holm). The intervals of single ratios are not corrected.</p>\n" +
          query_note("bench_measures", bench.facts.run.id));
  return section;
}

Section baseline_section(const BaselineComparison& comparison) {
  using statistics::Change;
  std::string out = fmt::format(
      "<p>{}.</p>\n<p class=\"note\">Run {} of {}, started {}. Means "
      "of both runs, with intervals of their ratio; a change of less than {:.0f}&nbsp;% counts as unchanged. The runs "
      "were not interleaved: other changes between them affect the numbers. Verdicts are corrected for the number of "
      "comparisons (Holm): at most 5&nbsp;% of runs without a change would have a cell that is better or worse.</p>\n",
      escape(verdict_line(comparison)), comparison.run.id, escape(comparison.database),
      escape(comparison.run.started_at), comparison.tolerance * 100);
  out += cautions(comparison.differences);
  const auto table = [&](const std::vector<Change>& wanted) {
    std::vector<std::vector<std::string>> rows;
    for (const Change each : wanted)
      for (const CellChange& change : comparison.changes)
        if (change.change == each) rows.push_back(change_row(change));
    const std::vector<Column> columns = {{"cell"},
                                         {"verdict"},
                                         {"then", Kind::number},
                                         {"now", Kind::number},
                                         {"change", Kind::number},
                                         {"why"}};
    return rows.empty() ? std::string{} : html_table(columns, rows, "cards changes");
  };
  const auto folded = [&](Change change, const char* words) {
    const std::size_t n = comparison.count(change);
    return n == 0 ? std::string{} : details(fmt::format("{}: {}", words, n), table({change}));
  };
  out += table({Change::worse, Change::better});
  out +=
      folded(Change::cannot_tell, "inconclusive cells") + folded(Change::same, "unchanged cells");
  return {.id = "baseline", .title = "Changes since the baseline", .html = out};
}

}  // namespace headcrash::report
