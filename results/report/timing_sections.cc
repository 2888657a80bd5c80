// Recovery times, latency, I/O over time, lateness: plots with the table that says the same in numbers.
#include <fmt/format.h>

#include <algorithm>

#include "results/report/figures.h"
#include "results/report/html.h"
#include "results/report/sections.h"

namespace headcrash::report {
namespace {

using Kind = Column::Kind;

std::string spread(const Spread& s, std::int64_t trials) {
  if (trials == 1) return milliseconds(s.median);
  return fmt::format("{}<small>{} &ndash; {}</small>", milliseconds(s.median), milliseconds(s.min),
                     milliseconds(s.max));
}

std::string nothing(const std::string& sentence) {
  return "<p class=\"muted\">" + escape(sentence) + "</p>\n";
}

/// The least bucket bound below which `share` of the requests lie.
double quantile(const LatencyCurve& curve, double share) {
  for (const auto& [us, reached] : curve.points) {
    if (reached >= share - 1e-9) return us;
  }
  return curve.points.empty() ? 0 : curve.points.back().first;
}

std::string latency_table(const Facts& facts) {
  const std::vector<Column> columns = {
      {"file system"},       {"measured"},          {"requests", Kind::number}, {"p50", Kind::number},
      {"p90", Kind::number}, {"p99", Kind::number}, {"p99.9", Kind::number}};
  std::vector<std::vector<std::string>> rows;
  for (const auto& c : facts.latency) {
    rows.push_back(
        {fmt::format("{}<small>{}</small>", filesystem_name(facts, c.filesystem), escape(c.device)),
         escape(c.kind), fmt::format("{}", c.requests), microseconds(quantile(c, 0.5)),
         microseconds(quantile(c, 0.9)), microseconds(quantile(c, 0.99)), microseconds(quantile(c, 0.999))});
  }
  return html_table(columns, rows, "cards");
}

std::string unclocked_note(const Facts& facts) {
  std::string text;
  for (const auto& u : facts.unclocked) {
    text += fmt::format("{}{} (clock={}): {}", text.empty() ? "" : ", ", u.phase, u.clock, u.phases);
  }
  if (text.empty()) return {};
  return fmt::format("<p class=\"note\">Phases without a real-time clock, which cannot be late: {}</p>\n{}",
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

std::string recovery_section(const Facts& facts, const std::vector<Plot>& plots) {
  std::string out = "<section>\n<h2>Recovery times</h2>\n";
  if (facts.recovery.empty()) return out + nothing("No trial came to a recovery.") + "</section>\n";
  out +=
      "<p class=\"note\">Model time, as the emulated drive counts it: median (dot) and range over the trials "
      "of a "
      "cell. Wall time in the table includes the guest&#39;s processor and the host.</p>\n";
  out += plot_grid(plots);
  const std::vector<Column> columns = {{"file system"},
                                       {"phase"},
                                       {"trials", Kind::number},
                                       {"model time", Kind::number},
                                       {"wall time", Kind::number},
                                       {"read", Kind::number},
                                       {"written", Kind::number}};
  std::vector<std::vector<std::string>> rows;
  for (const auto& r : facts.recovery) {
    rows.push_back({cell_name(facts, r.filesystem, r.device, r.workload),
                    escape(r.phase) + (r.unclocked > 0 ? " <small>clock=off</small>" : ""),
                    fmt::format("{}", r.trials), spread(r.model_ms, r.trials), spread(r.wall_ms, r.trials),
                    bytes(r.bytes_read), bytes(r.bytes_written)});
  }
  out += details("in numbers", html_table(columns, rows, "cards"), "numbers");
  return out + query_note("recovery", facts.run.id) + "</section>\n";
}

std::string latency_section(const Facts& facts, const std::vector<Plot>& plots) {
  std::string out = "<section>\n<h2>Response times under the workload</h2>\n";
  if (facts.latency.empty()) return out + nothing("No response times were recorded.") + "</section>\n";
  out += "<p class=\"legend\">";
  std::vector<std::string> named;
  for (const auto& curve : facts.latency) {
    if (std::ranges::find(named, curve.filesystem) != named.end()) continue;
    named.push_back(curve.filesystem);
    out += filesystem_name(facts, curve.filesystem) + " ";
  }
  out +=
      "<span><i class=\"stroke solid\"></i>achieved: what the client saw</span> <span><i class=\"stroke "
      "dashed\"></i>"
      "target: what the model said</span></p>\n";
  out += "<p class=\"note\">Share of requests that took at most the time below.</p>\n";
  out += plot_grid(plots);
  out += details("in numbers", latency_table(facts), "numbers");
  return out + query_note("latency", facts.run.id) + "</section>\n";
}

std::string io_section(const Facts& facts, const std::vector<Plot>& plots) {
  std::string out = "<section>\n<h2>Where the I/O went</h2>\n";
  if (facts.io.empty()) return out + nothing("No requests were sampled.") + "</section>\n";
  std::size_t points = 0;
  for (const auto& panel : facts.io) points += panel.points.size();
  out += fmt::format(
      "<p class=\"legend\"><span><i class=\"box read\"></i>read</span> <span><i class=\"box "
      "write\"></i>write</span> "
      "<span><i class=\"box media\"></i>written to the medium</span> <span><i class=\"stroke cut\"></i>power "
      "cut</span>"
      "</p>\n<p class=\"note\">First logical block (up) over model time since the workload began, one trial "
      "per file system, all on "
      "the same axes; "
      "{} requests.</p>\n",
      points);
  return out + plot_grid(plots) + query_note("io", facts.run.id) + "</section>\n";
}

std::string lateness_section(const Facts& facts) {
  std::string out = "<section>\n<h2>Was the drive&#39;s latency really delivered?</h2>\n";
  if (facts.lateness.empty()) {
    return out + nothing("No phase was served under a real-time clock.") + unclocked_note(facts) +
           "</section>\n";
  }
  out += fmt::format(
      "<p class=\"note\">Lateness is achieved minus target time of a request. p50 is the median over the trials "
      "of the cell, p99 and worst are the largest of any trial; the share is mean lateness by mean target. Late "
      "trials (mean lateness over 5&nbsp;% of the mean service time): {}.</p>\n",
      facts.run.late);
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
        {cell_name(facts, l.filesystem, l.device, l.workload),
         fmt::format("{}<small>clock={}</small>", escape(l.phase), escape(l.clock)),
         microseconds(l.target_mean_us), microseconds(l.achieved_mean_us), microseconds(l.p50_us),
         microseconds(l.p99_us), microseconds(l.max_us),
         l.share > 0.05 ? fmt::format("<b class=\"warn\">{}</b>", share) : share,
         l.late_trials == 0 ? "<span class=\"muted\">0</span>" : fmt::format("{}", l.late_trials)});
  }
  out += html_table(columns, rows, "cards");
  return out + query_note("lateness", facts.run.id) + unclocked_note(facts) + "</section>\n";
}

}  // namespace headcrash::report
