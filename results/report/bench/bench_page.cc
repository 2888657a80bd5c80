// Arranges the page's sections (bench_page.h).
#include "results/report/bench/bench_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "results/report/frame/drawing.h"
#include "results/report/frame/figures.h"
#include "results/report/frame/html.h"
#include "results/report/frame/io_picture.h"
#include "results/report/frame/page.h"
#include "results/report/frame/sections.h"

namespace headcrash::report {
namespace {

std::vector<std::pair<std::string, std::string>> facts_of(const Benchmark& bench) {
  const Run& run = bench.facts.run;
  std::vector<std::pair<std::string, std::string>> list;
  list.emplace_back("trials", run.recorded == run.planned
                                  ? fmt::format("{}", run.recorded)
                                  : fmt::format("{} of {}", run.recorded, run.planned));
  list.emplace_back("file systems", fmt::format("{}", bench.facts.filesystems.size()));
  list.emplace_back("comparisons", fmt::format("{}", bench.contests.size()));
  if (bench.failed() > 0) list.emplace_back("failed trials", fmt::format("{}", bench.failed()));
  list.emplace_back("run", fmt::format("{}, {}", run.id, run.started_at));
  if (run.finished_at) list.emplace_back("took", duration(run.seconds));
  list.emplace_back("seed", fmt::format("{}", run.seed));
  return list;
}

Section recovery_plots_section(const Benchmark& bench, const std::vector<Plot>& plots) {
  if (plots.empty()) return {};
  return {
      .id = "recovery",
      .title = "Recovery time by size",
      .html =
          Dashes(entrant_names(bench)).legend() + plot_grid(plots) +
          "<p class=\"note\">Time of each step after a power cut against one parameter, with all "
          "other parameters constant. The steps are replay, check and mount of the clean file "
          "system, or everything up to the mount, and then a check. The parameters are the size "
          "of the disk, the files on the disk, the files since the last sync, and the bytes of "
          "each file. A line is dashed if the processor, not the device, determined the "
          "time.</p>\n" +
          query_note("bench_measures", bench.facts.run.id)};
}

Section ageing_section(const Benchmark& bench, const std::vector<Plot>& plots) {
  if (plots.empty()) return {};
  return {
      .id = "ageing",
      .title = "Times and layout as the file system ages",
      .html =
          Dashes(entrant_names(bench)).legend() + plot_grid(plots) +
          "<p class=\"note\">Each measured phase by the number of days that the file system had "
          "been in use: the time until all writes reached the device, and the layout score of "
          "the files that the phase read. The score is the share of blocks that directly follow "
          "the previous block of their file (1: no file is fragmented).</p>\n" +
          query_note("bench_measures", bench.facts.run.id) +
          query_note("bench_metrics", bench.facts.run.id)};
}

Section throughput_section(const Benchmark& bench, const std::vector<Plot>& plots) {
  if (plots.empty()) return {};
  return {.id = "throughput",
          .title = "Response time against throughput",
          .html = Dashes(entrant_names(bench)).legend() + plot_grid(plots) +
                  "<p class=\"note\">One point for each number of users; the number is next to the "
                  "point. Each user waits for an operation to complete before starting the next "
                  "operation, so the mean response time is the number of users divided by the "
                  "throughput.</p>\n" +
                  query_note("bench_measures", bench.facts.run.id)};
}

std::string folded_plots(const std::vector<Plot>& plots, const char* of_what,
                         const std::string& html) {
  return details(plots.size() == 1
                     ? fmt::format("1 plot of {}", of_what)
                     : fmt::format("{} plots of {}, by device and workload", plots.size(), of_what),
                 html);
}

/// Returns the smallest bucket bound b such that at least the fraction `share` of the values are b
/// or less.
std::string quantile(const BenchCurve& curve, double share) {
  const auto at = std::ranges::find_if(
      curve.points, [&](const auto& point) { return point.second >= share - 1e-9; });
  return microseconds(at == curve.points.end() ? curve.points.back().first : at->first);
}

/// Shows the flushes as a table, because curves of only a few flushes would coincide.
std::string flush_table(const std::vector<BenchCurve>& curves) {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(curves.size());
  for (const BenchCurve& each : curves)
    rows.push_back({entrant_name(each.filesystem, each.variant) +
                        fmt::format("<small>{} &middot; {} {}</small>", escape(each.device),
                                    escape(each.workload), escape(each.parameters)),
                    fmt::format("{}", each.requests), quantile(each, 0.5), quantile(each, 0.9),
                    quantile(each, 0.99), quantile(each, 1)});
  using Kind = Column::Kind;
  return html_table({{"file system"},
                     {"flushes", Kind::number},
                     {"p50", Kind::number},
                     {"p90", Kind::number},
                     {"p99", Kind::number},
                     {"most", Kind::number}},
                    rows, "cards");
}

Section response_section(const Benchmark& bench, const BenchPlots& plots) {
  if (plots.latency.empty() && plots.flushes.empty()) return {};
  const std::string legend = Dashes(entrant_names(bench)).legend();
  std::string html;
  if (!plots.latency.empty())
    html += folded_plots(
        plots.latency, "reads and writes",
        legend + plot_grid(plots.latency) +
            "<p class=\"note\">Share of the device&#39;s reads and writes whose modelled "
            "response time was at most the time on the axis, over all measured phases and "
            "repetitions.</p>\n" +
            query_note("bench_latency", bench.facts.run.id));
  if (!plots.flushes.empty())
    html += folded_plots(
        plots.flushes, "flushes",
        legend + plot_grid(plots.flushes) + flush_table(bench.flushes) +
            "<p class=\"note\">Response times of flushes, rounded up to the next bound of the "
            "histogram. A file system that sends no flushes is not listed.</p>\n" +
            query_note("bench_flushes", bench.facts.run.id));
  return {.id = "latency", .title = "Response times of requests", .html = html};
}

Section load_section(const Benchmark& bench, const std::vector<Plot>& plots) {
  if (plots.empty()) return {};
  return {.id = "load",
          .title = "Load over time",
          .html = folded_plots(
              plots, "throughput and requests in the device",
              Dashes(entrant_names(bench)).legend() + plot_grid(plots) +
                  "<p class=\"note\">The first repetition of each file system, over the model time "
                  "of a phase. The bytes of a request are spread over the time since the previous "
                  "completion. Requests in the device are a mean over each interval.</p>\n" +
                  query_note("bench_load", bench.facts.run.id))};
}

Section requests_section(const Benchmark& bench) {
  if (bench.io.empty()) return {};
  std::string html = io_legend();
  for (const BenchPanel& panel : bench.io)
    html += folded({.summary = fmt::format("{} <small>{} &middot; {}</small>",
                                           filesystem_name(panel.io.filesystem),
                                           escape(panel.device), escape(panel.setting)),
                    .html = "<figure class=\"full\">" + io_picture(panel.io) + "</figure>\n",
                    .id = anchor("io", panel.io.key),
                    .css_class = "cell"});
  return {
      .id = "io",
      .title = "Where the I/O went",
      .html =
          html +
          "<p class=\"note\">One trial per file system and device, over model time since the workload began.</p>\n" +
          query_note("bench_io", bench.facts.run.id)};
}

/// Returns the words of a text such as "files=10 users=4".
std::set<std::string> words_of(const std::string& parameters) {
  std::istringstream text(parameters);
  return {std::istream_iterator<std::string>(text), {}};
}

}  // namespace

std::string entrant_name(const std::string& filesystem, const std::string& variant) {
  const std::string name = filesystem_name(filesystem, !variant.empty());
  return variant.empty() ? name : name + fmt::format("<small>{}</small>", escape(variant));
}

std::string short_name(const Benchmark& bench, const Contest& contest) {
  std::string name = contest.workload;
  if (!contest.is_of_a_tool()) {
    // Appends only parameters that differ between contests with the same workload, phase and
    // device.
    std::istringstream words(contest.parameters);
    for (std::string word; words >> word;) {
      const bool differs = std::ranges::any_of(bench.contests, [&](const Contest& other) {
        return other.device == contest.device && other.workload == contest.workload &&
               other.phase == contest.phase && !words_of(other.parameters).contains(word);
      });
      if (differs) name += " " + word;
    }
  }
  return contest.phase.empty() || contest.phase == contest.workload ? name
                                                                    : name + ", " + contest.phase;
}

std::string bench_opening(const Benchmark& bench, const BenchAnswer& answer,
                          const BaselineComparison* baseline) {
  const Run& run = bench.facts.run;
  std::string out = "<header>\n";
  if (baseline != nullptr && baseline->regressions() > 0) {
    out += fmt::format(
        "<div class=\"invalid\" role=\"alert\"><strong>Slower than the baseline</strong> Regressions: {} of {} "
        "cells</div>\n",
        baseline->regressions(), baseline->changes.size());
  }
  out += fmt::format(
      "<p class=\"kind\">Timed comparison{}</p>\n<h1>{}</h1>\n<p class=\"answer\">{}</p>\n",
      bench.in_virtual_time() ? " in virtual time" : "",
      escape(run.name.empty() ? fmt::format("run {}", run.id) : run.name), escape(answer.status));
  if (!answer.clock.empty()) out += fmt::format("<p>In {}.</p>\n", escape(answer.clock));
  return out + cautions(answer.notes) + facts_line(facts_of(bench)) + "</header>\n";
}

Result<std::string> bench_page(const Benchmark& bench, const BaselineComparison* baseline) {
  TRY(const auto plots, bench_plots(bench));
  Page page{.title = bench.facts.run.name,
            .opening = bench_opening(bench, answer_of(bench), baseline),
            .sections = {}};
  const auto add = [&](Section section) { page.sections.push_back(std::move(section)); };
  add(bench_overview(bench));
  if (baseline != nullptr) add(baseline_section(*baseline));
  add(ranking_section(bench));
  add(ageing_section(bench, plots.ageing));
  add(recovery_plots_section(bench, plots.recovery));
  add(throughput_section(bench, plots.throughput));
  add(response_section(bench, plots));
  add(load_section(bench, plots.load));
  add(requests_section(bench));
  add(measures_section(bench));
  add(bench_trials_section(bench));
  add(lateness_section(bench.facts));
  add(environment_section(bench.facts));
  return framed_page(page);
}

}  // namespace headcrash::report
