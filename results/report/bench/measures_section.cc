// Shows all counters of each contest, and every individual measurement.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/report/bench/bench_page.h"
#include "results/report/bench/ranking.h"
#include "results/report/frame/figures.h"
#include "results/report/frame/html.h"

namespace headcrash::report {
namespace {

using Kind = Column::Kind;

/// Maximum number of tables on the page; CSV and JSON contain all of them.
constexpr std::size_t kMeasureTablesMost = 120;
constexpr std::size_t kTrialRowsMost = 1000;
constexpr std::size_t kFailedRowsMost = 500;
/// If the guest and the device count different numbers of requests, and the relative difference is
/// greater than this, the page emphasises it.
constexpr double kDeviationShown = 0.01;

std::optional<double> mean_of_measure(const Entrant& entrant, std::size_t measure) {
  double sum = 0;
  std::size_t n = 0;
  for (const Measurement& m : entrant.measurements) {
    if (!m.values[measure]) continue;
    sum += *m.values[measure];
    ++n;
  }
  return n == 0 ? std::nullopt : std::optional(sum / static_cast<double>(n));
}

std::string metric_value(double value, const std::string& unit) {
  if (unit == "ms") return milliseconds(value);
  if (unit == "us") return microseconds(value);
  if (unit == "bytes") return bytes(value);
  const std::string text = fmt::format(
      "{:.{}f}", value, value == static_cast<double>(static_cast<std::int64_t>(value)) ? 0 : 2);
  return unit.empty() ? text : text + " " + escape(unit);
}

std::vector<const Entrant*> measured_ones(const Contest& contest) {
  std::vector<const Entrant*> found;
  for (const Entrant& entrant : contest.entrants)
    if (!entrant.measurements.empty()) found.push_back(&entrant);
  return found;
}

std::string measures_table(const Benchmark& bench, const Contest& contest) {
  const auto entrants = measured_ones(contest);
  std::vector<Column> columns = {{"mean of the repetitions"}};
  for (const Entrant* entrant : entrants) columns.push_back({entrant->name(), Kind::number});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < measures().size(); ++i) {
    const Measure& measure = measures()[i];
    std::vector<std::string> row = {escape(measure.title)};
    bool any = false;
    for (const Entrant* entrant : entrants) {
      const auto mean = mean_of_measure(*entrant, i);
      any = any || mean.has_value();
      std::string text =
          mean ? figure(*mean, measure.unit) : "<span class=\"muted\">&ndash;</span>";
      if (mean && measure.column.ends_with("_deviation") && std::abs(*mean) > kDeviationShown)
        text = fmt::format("<b class=\"warn\">{}</b>", text);
      row.push_back(std::move(text));
    }
    if (any) rows.push_back(std::move(row));
  }
  const auto metrics = bench.metrics.find(contest.identity());
  if (metrics != bench.metrics.end()) {
    for (const MetricRow& metric : metrics->second) {
      std::vector<std::string> row = {"<code>" + escape(metric.name) + "</code>"};
      for (const Entrant* entrant : entrants) {
        const auto mean = metric.means.find(entrant->name());
        row.push_back(mean == metric.means.end() ? "<span class=\"muted\">&ndash;</span>"
                                                 : metric_value(mean->second, metric.unit));
      }
      rows.push_back(std::move(row));
    }
  }
  return html_table(columns, rows, "cards measures");
}

/// Formats all values of an entrant, such as "12.3 s · 12.4 s · 14.9 s (outlier, late)".
std::string every_value(const Contest& contest, const Entrant& entrant) {
  const bool to_quiescence = contest.to_quiescence;
  const statistics::Summary& s = entrant.standing.ranking;
  std::vector<double> outside;
  const auto times = times_of(entrant, to_quiescence);
  outside.reserve(s.outliers.size());
  for (const std::size_t i : s.outliers) outside.push_back(times[i]);
  std::string text;
  for (const Measurement& m : entrant.measurements) {
    const double time = to_quiescence ? m.quiescent_ms.value_or(m.elapsed_ms) : m.elapsed_ms;
    std::string marks;
    const auto mark = [&](const char* word) {
      marks += (marks.empty() ? "" : ", ") + std::string(word);
    };
    if (std::ranges::find(outside, time) != outside.end()) mark("outlier");
    if (m.late) mark("late");
    if (m.host_was_busy() && !contest.in_virtual_time()) mark("busy host");
    text += fmt::format("{}{}{}", text.empty() ? "" : " &middot; ", milliseconds(time),
                        marks.empty() ? "" : " <b class=\"warn\">(" + marks + ")</b>");
  }
  return text;
}

std::string values_table(const Contest& contest) {
  std::vector<std::vector<std::string>> rows;
  for (const Entrant& entrant : contest.entrants) {
    if (entrant.measurements.empty()) continue;
    rows.push_back(
        {entrant_name(entrant.filesystem, entrant.variant), every_value(contest, entrant)});
  }
  return html_table({{"file system"}, {time_name(contest) + ", by repetition"}}, rows,
                    "cards values");
}

std::string more_note(std::size_t all, std::size_t shown, const char* what) {
  if (all <= shown) return {};
  return fmt::format(
      "<p class=\"note\">{} more {} are in the CSV and JSON output (<code>--csv</code>, "
      "<code>--json</code>) and in the database.</p>\n",
      all - shown, what);
}

std::string failed_trials(const Benchmark& bench) {
  std::vector<std::vector<std::string>> rows;
  for (const BenchTrial& t : bench.trials)
    if (t.failed() && rows.size() < kFailedRowsMost)
      rows.push_back(
          {entrant_name(t.filesystem, t.variant),
           fmt::format("<span id=\"{}\">{}</span>", anchor("trial", t.key), escape(t.key)),
           escape(t.summary)});
  if (rows.empty()) return {};
  return anchored(3, "failed", "Failed") +
         html_table({{"file system"}, {"trial"}, {"why"}}, rows, "cards") +
         more_note(bench.failed(), rows.size(), "failed trials");
}

std::string trial_table(const Benchmark& bench) {
  // In virtual time, the host's load has no influence, so the column for the load is omitted.
  const bool host = !bench.in_virtual_time();
  std::vector<Column> columns = {
      {"trial"}, {"repetition", Kind::number}, {"seed", Kind::number}, {"clock"}, {"started"},
      {"marks"}};
  if (host) columns.insert(columns.begin() + 4, {"host used by others", Kind::number});
  std::vector<std::vector<std::string>> rows;
  for (const BenchTrial& t : bench.trials) {
    if (rows.size() == kTrialRowsMost) break;
    std::string marks = t.failed() ? "failed" : "";
    if (t.late) marks += marks.empty() ? "late" : ", late";
    std::vector<std::string> row = {escape(t.key),
                                    fmt::format("{}", t.repetition),
                                    fmt::format("{}", t.seed),
                                    escape(t.clock),
                                    escape(t.started_at),
                                    escape(marks)};
    if (host) row.insert(row.begin() + 4, t.host_busy ? percent(*t.host_busy) : "");
    rows.push_back(std::move(row));
  }
  return html_table(columns, rows, "cards") + more_note(bench.trials.size(), rows.size(), "trials");
}

}  // namespace

Section measures_section(const Benchmark& bench) {
  if (bench.contests.empty()) return {};
  std::string tables;
  std::size_t shown = 0, measured = 0;
  for (const Contest& contest : bench.contests) {
    if (measured_ones(contest).empty()) continue;
    ++measured;
    if (shown == kMeasureTablesMost) continue;
    tables +=
        details(title_of(contest), values_table(contest) + measures_table(bench, contest), "cell");
    ++shown;
  }
  return {
      .id = "measures",
      .title = "All measures",
      .html = folded(
          {.summary = fmt::format("Every repetition and every counter of {} comparisons", measured),
           .html =
               "<p class=\"note\">Write amplification is the number of bytes written to the "
               "guest&#39;s disk, divided by the bytes that the application wrote. At the media, "
               "it counts the bytes written to platters or flash cells below arrays and caches. "
               "The guest&#39;s figures are from its /proc/diskstats; next to them are the "
               "device&#39;s own counters, with the deviation.</p>\n" +
               tables + more_note(measured, shown, "comparisons") +
               query_note("bench_measures", bench.facts.run.id) +
               query_note("bench_metrics", bench.facts.run.id)})};
}

Section bench_trials_section(const Benchmark& bench) {
  return {.id = "trials",
          .title = "Trials",
          .html = failed_trials(bench) +
                  details("All trials: seeds, clocks, start times",
                          trial_table(bench) + query_note("bench_trials", bench.facts.run.id))};
}

}  // namespace headcrash::report
