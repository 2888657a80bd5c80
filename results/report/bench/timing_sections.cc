// Shows recovery times, latency, I/O over time and lateness, as plots and as tables with the same
// numbers.
#include <fmt/format.h>

#include <algorithm>

#include "results/report/frame/drawing.h"
#include "results/report/frame/figures.h"
#include "results/report/frame/html.h"
#include "results/report/frame/io_picture.h"
#include "results/report/frame/palette.h"
#include "results/report/frame/sections.h"

namespace headcrash::report {
namespace {

using Kind = Column::Kind;

/// A request counts as late if its delay is more than this fraction of the mean service time.
constexpr double kLateShare = 0.05;
/// Maximum number of recoveries that are visible at once. If there are more, all of them are
/// collapsed.
constexpr std::size_t kRecoveriesInTheOpen = 24;

std::string spread(const Spread& s, std::int64_t trials) {
  if (trials == 1) return milliseconds(s.median);
  return fmt::format("{}<small>{} &ndash; {}</small>", milliseconds(s.median), milliseconds(s.min),
                     milliseconds(s.max));
}

std::string response_table(const Facts& facts) {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(facts.responses.size());
  for (const Responses& r : facts.responses) {
    rows.push_back(
        {fmt::format("{}<small>{}</small>", filesystem_name(r.filesystem), escape(r.device)),
         escape(r.op), fmt::format("{}", r.requests), microseconds(r.mean_us),
         microseconds(r.p50_us), microseconds(r.p90_us), microseconds(r.p99_us),
         microseconds(r.most_us)});
  }
  return html_table({{"file system"},
                     {"request"},
                     {"sampled", Kind::number},
                     {"mean", Kind::number},
                     {"p50", Kind::number},
                     {"p90", Kind::number},
                     {"p99", Kind::number},
                     {"most", Kind::number}},
                    rows, "cards");
}

std::string nothing(const std::string& sentence) {
  return "<p class=\"muted\">" + escape(sentence) + "</p>\n";
}

/// Returns the smallest bucket bound b such that at least the fraction `share` of the requests took
/// b or less.
double quantile(const LatencyCurve& curve, double share) {
  for (const auto& [us, reached] : curve.points) {
    if (reached >= share - 1e-9) return us;
  }
  return curve.points.empty() ? 0 : curve.points.back().first;
}

std::string latency_table(const Facts& facts) {
  const std::vector<Column> columns = {
      {"file system"},        {"measured"},          {"requests", Kind::number},
      {"p50", Kind::number},  {"p90", Kind::number}, {"p99", Kind::number},
      {"p99.9", Kind::number}};
  std::vector<std::vector<std::string>> rows;
  rows.reserve(facts.latency.size());
  for (const auto& c : facts.latency) {
    rows.push_back(
        {fmt::format("{}<small>{}</small>", filesystem_name(c.filesystem), escape(c.device)),
         escape(c.kind), fmt::format("{}", c.requests), microseconds(quantile(c, 0.5)),
         microseconds(quantile(c, 0.9)), microseconds(quantile(c, 0.99)),
         microseconds(quantile(c, 0.999))});
  }
  return html_table(columns, rows, "cards");
}

std::string unclocked_note(const Facts& facts) {
  std::string text;
  for (const auto& u : facts.unclocked) {
    text +=
        fmt::format("{}{} (clock={}): {}", text.empty() ? "" : ", ", u.phase, u.clock, u.phases);
  }
  if (text.empty()) return {};
  return fmt::format(
      "<p class=\"note\">Phases without a real-time clock, in which no request can be late: "
      "{}</p>\n{}",
      escape(text), query_note("clocks", facts.run.id));
}

}  // namespace

std::string plot_grid(const std::vector<Plot>& plots) {
  std::string out = "<div class=\"plots\">\n";
  for (const auto& plot : plots) {
    out += fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", plot.title, plot.svg);
  }
  return out + "</div>\n";
}

Section recovery_section(const Facts& facts) {
  Section section{.id = "recovery", .title = "Recovery times", .html = {}};
  if (facts.recovery.empty()) {
    section.html = nothing("No trial reached the recovery phase.");
    return section;
  }
  std::string tables;
  for (const std::string phase : {"replay", "fsck", "mount"}) {
    double most = 0;
    for (const auto& r : facts.recovery)
      if (r.phase == phase) most = std::max(most, r.model_ms.max);
    std::vector<std::vector<std::string>> rows;
    for (const auto& r : facts.recovery) {
      if (r.phase != phase) continue;
      const Meter bar{.share = most > 0 ? r.model_ms.median / most : 0,
                      .low = most > 0 ? r.model_ms.min / most : 0,
                      .high = most > 0 ? r.model_ms.max / most : 0,
                      .css_class = fmt::format("c{}{}", filesystem_colour(r.filesystem),
                                               is_mode(r.filesystem) ? " mode" : "")};
      rows.push_back(
          {cell_name(r.filesystem, r.device, r.workload), meter(bar), spread(r.model_ms, r.trials),
           spread(r.wall_ms, r.trials), bytes(r.bytes_read), bytes(r.bytes_written),
           fmt::format("{}{}", r.trials, r.unclocked > 0 ? "<small>clock=off</small>" : "")});
    }
    if (rows.empty()) continue;
    tables += anchored(3, "recovery-" + phase, phase) + html_table({{"file system"},
                                                                    {"model time"},
                                                                    {"median", Kind::number},
                                                                    {"wall time", Kind::number},
                                                                    {"read", Kind::number},
                                                                    {"written", Kind::number},
                                                                    {"trials", Kind::number}},
                                                                   rows, "cards");
  }
  section.html =
      (facts.recovery.size() <= kRecoveriesInTheOpen
           ? tables
           : details(fmt::format("{} cells, by step", facts.recovery.size()), tables)) +
      "<p class=\"note\">Model time of the emulated drive: median (bar) and range (line) over "
      "the trials of a cell. Wall time includes the guest&#39;s processor and the host.</p>\n" +
      query_note("recovery", facts.run.id);
  return section;
}

Section latency_section(const Facts& facts, const std::vector<Plot>& plots) {
  Section section{.id = "latency", .title = "Response times under the workload", .html = {}};
  if (facts.latency.empty() && facts.responses.empty()) {
    section.html = nothing("No response times were recorded.");
    return section;
  }
  std::string& out = section.html;
  if (!facts.latency.empty()) {
    std::vector<std::string> named;
    named.reserve(facts.latency.size());
    for (const auto& curve : facts.latency) named.push_back(curve.filesystem);
    out += Dashes(named).legend();
    out += plot_grid(plots);
    out +=
        "<p class=\"note\">Share of reads and writes that took at most the time on the axis, as "
        "measured by the client. The table also has the modelled times.</p>\n";
    out += details("In numbers", latency_table(facts)) + query_note("latency", facts.run.id);
  }
  if (!facts.responses.empty()) {
    const bool flushes =
        std::ranges::any_of(facts.responses, [](const Responses& r) { return r.op == "flush"; });
    out += folded({.summary = flushes ? "Reads, writes and flushes separately"
                                      : "Reads and writes separately; no flushes were sampled",
                   .html = response_table(facts) + query_note("responses", facts.run.id),
                   .id = "responses"});
  }
  return section;
}

Section io_section(const Facts& facts) {
  Section section{.id = "io", .title = "Where the I/O went", .html = {}};
  if (facts.io.empty()) {
    section.html = nothing("No requests were sampled.");
    return section;
  }
  std::string& out = section.html;
  out += io_legend();
  std::size_t points = 0;
  bool sampled = false;
  for (std::size_t i = 0; i < facts.io.size(); ++i) {
    const IoPanel& panel = facts.io[i];
    points += panel.points.size();
    sampled = sampled || !sample_of(panel).whole();
    const std::string figure = "<figure class=\"full\">" + io_picture(panel) + "</figure>\n";
    const std::string name =
        fmt::format("{} <small>{}</small>", filesystem_name(panel.filesystem), escape(panel.key));
    // Only the first picture is visible; the others are collapsed.
    out += i == 0
               ? fmt::format("<div id=\"{}\">{}</div>\n{}", anchor("io", panel.key), name, figure)
               : folded({.summary = name,
                         .html = figure,
                         .id = anchor("io", panel.key),
                         .css_class = "cell"});
  }
  out += fmt::format(
      "<p class=\"note\">One trial per file system, {} requests over model time since the workload began.{}</p>\n",
      points,
      sampled ? " Where requests were sampled, rates are scaled to the device's own count." : "");
  out += query_note("io", facts.run.id);
  return section;
}

Section lateness_section(const Facts& facts) {
  Section section{
      .id = "lateness", .title = "Did requests take as long as on the modelled drive?", .html = {}};
  if (facts.lateness.empty() && !facts.unclocked.empty() &&
      std::ranges::all_of(facts.unclocked,
                          [](const Unclocked& u) { return u.clock == "virtual"; })) {
    section.html =
        "<p><span class=\"verdict good\">Yes.</span> In virtual time guest and device share a "
        "clock, which waits for the host, so no request can be late.</p>\n" +
        query_note("clocks", facts.run.id);
    return section;
  }
  if (facts.lateness.empty()) {
    section.html = nothing("No phase had a real-time clock.") + unclocked_note(facts);
    return section;
  }
  const double most = std::ranges::max(facts.lateness, {}, &Lateness::share).share;
  const bool fine = facts.run.late == 0 && most <= kLateShare;
  std::string& out = section.html;
  if (fine) {
    out = fmt::format(
        "<p><span class=\"verdict good\">Yes.</span> No trial was late; in no phase did requests take more than {} longer "
        "than on the modelled drive.</p>\n",
        percent(std::max(most, 0.0)));
  } else {
    const auto phases = std::ranges::count_if(
        facts.lateness, [](const Lateness& l) { return l.share > kLateShare; });
    out = fmt::format(
        "<p><span class=\"verdict open\">Not always.</span> Late trials: {} of {}; phases that took over 5&nbsp;% longer than on the modelled "
        "drive: {} of {}, the worst by {}.</p>\n",
        facts.run.late, facts.run.recorded, phases, facts.lateness.size(), percent(most));
  }
  const std::vector<Column> columns = {{"file system"},
                                       {"phase"},
                                       {"target mean", Kind::number},
                                       {"achieved mean", Kind::number},
                                       {"late by p50", Kind::number},
                                       {"p99", Kind::number},
                                       {"worst", Kind::number},
                                       {"share", Kind::number},
                                       {"late trials", Kind::number}};
  std::vector<std::vector<std::string>> rows;
  for (const auto& l : facts.lateness) {
    const auto share = percent(l.share);
    rows.push_back(
        {cell_name(l.filesystem, l.device, l.workload),
         fmt::format("{}<small>clock={}</small>", escape(l.phase), escape(l.clock)),
         microseconds(l.target_mean_us), microseconds(l.achieved_mean_us), microseconds(l.p50_us),
         microseconds(l.p99_us), microseconds(l.max_us),
         l.share > kLateShare ? fmt::format("<b class=\"warn\">{}</b>", share) : share,
         l.late_trials == 0 ? "<span class=\"muted\">0</span>" : fmt::format("{}", l.late_trials)});
  }
  out += details(
      fmt::format("{} phases in numbers", facts.lateness.size()),
      "<p class=\"note\">The lateness of a request is its achieved time minus its target time. "
      "p50 is the median over the trials of the cell; p99 and worst are the maximum over the "
      "trials. The share is mean lateness divided by mean target. A trial is late if its mean "
      "lateness exceeds 5&nbsp;% of the mean service time.</p>\n" +
          html_table(columns, rows, "cards") + query_note("lateness", facts.run.id) +
          unclocked_note(facts));
  return section;
}

}  // namespace headcrash::report
