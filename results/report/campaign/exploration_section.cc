// Shows which crash states were explored. Each file system has a strip, in which every state is
// drawn at the position of its cut. The strips of controls come last. Tables below the strips show
// which part of each strategy's space was explored, and how much time the steps took.
// bugs_section.cc shows the failures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "results/report/frame/figures.h"
#include "results/report/frame/html.h"
#include "results/report/frame/sections.h"

namespace headcrash::report {
namespace {

using Kind = Column::Kind;

/// Numbers of states above this limit are shown as powers of ten.
constexpr double kCountable = 1e9;
constexpr std::size_t kStripBins = 110;
constexpr std::size_t kStepsNamed = 5;

std::string space(double states) {
  if (states < kCountable) return fmt::format("{:.0f}", states);
  return fmt::format("10<sup>{:.0f}</sup>", std::floor(std::log10(states)));
}

std::string name_of(const std::string& filesystem, const std::string& variant,
                    const std::string& workload) {
  return cell_name(filesystem, variant.empty() ? "default options" : variant, workload);
}

std::string duty(const std::string& control) {
  if (control == "lose") return "must lose data";
  if (control == "damage") return "must show damage";
  if (control == "keep") return "must keep everything";
  if (control == "keep-after-fsck") return "must keep everything after fsck";
  return "";
}

std::string confirmed(const ExploredCell& cell) {
  if (cell.confirmed + cell.unconfirmed == 0) return number(0);
  std::string text = fmt::format("{}", cell.confirmed);
  if (cell.unconfirmed > 0)
    text += fmt::format("<small class=\"warn\">{} not reproduced</small>", cell.unconfirmed);
  return text;
}

std::string explored_table(const Facts& facts, bool controls) {
  std::vector<Column> columns = {{"file system"},
                                 {"outcomes"},
                                 {"trials", Kind::number},
                                 {"states", Kind::number},
                                 {"clean", Kind::number},
                                 {"replayed", Kind::number},
                                 {"repaired", Kind::number},
                                 {"lost", Kind::number},
                                 {"other", Kind::number},
                                 {"confirmed", Kind::number}};
  if (controls) columns.push_back({"control"});
  std::vector<std::vector<std::string>> rows;
  for (const ExploredCell& cell : facts.explored) {
    if (cell.control.empty() == controls) continue;
    rows.push_back({name_of(cell.filesystem, cell.variant, cell.workload),
                    outcome_bar(cell.clean, cell.replayed, cell.lost,
                                cell.repaired + cell.other + cell.harness_errors),
                    number(cell.trials), number(cell.states), number(cell.clean),
                    number(cell.replayed), number(cell.repaired),
                    number(cell.lost, controls ? nullptr : "no"),
                    number(cell.other + cell.harness_errors, "warn"), confirmed(cell)});
    if (!controls) continue;
    const auto judged = std::ranges::find_if(facts.cells, [&](const Cell& each) {
      return each.filesystem == cell.filesystem && each.variant == cell.variant &&
             each.workload == cell.workload && each.must == cell.control && each.device == "stage";
    });
    const bool met = judged != facts.cells.end() && judged->met.value_or(false);
    rows.back().push_back(fmt::format("<span class=\"verdict {}\">{}</span><small>{}</small>",
                                      met ? "good" : "bad", met ? "as expected" : "not as expected",
                                      duty(cell.control)));
  }
  return rows.empty() ? std::string{} : html_table(columns, rows, "cards verdicts");
}

std::string coverage_table(const Facts& facts) {
  const std::vector<Column> columns = {{"file system"},
                                       {"strategy"},
                                       {"of all states", Kind::number},
                                       {"generated", Kind::number},
                                       {"distinct", Kind::number},
                                       {"checked", Kind::number},
                                       {"generated share of a trial's states, mean", Kind::number},
                                       {"left out"}};
  std::vector<std::vector<std::string>> rows;
  for (const StrategyCoverage& c : facts.coverage) {
    const std::string whole = c.whole == c.trials
                                  ? "<span class=\"yes\">nothing</span>"
                                  : fmt::format("{}<small>{} of {} trials whole</small>",
                                                escape(c.bound), c.whole, c.trials);
    rows.push_back({name_of(c.filesystem, c.variant, c.workload), escape(c.strategy),
                    space(c.space), number(c.generated), number(c.distinct_states),
                    number(c.checked), percent(c.mean_share), whole});
  }
  return html_table(columns, rows, "cards");
}

/// Counts of the states whose cuts fall into one column of a strip.
struct Bin {
  std::int64_t kept = 0, lost = 0, other = 0;
};

std::string strip_of(const std::vector<Bin>& bins, const std::string& spoken) {
  std::string out = fmt::format(
      "<svg viewBox=\"0 0 {} 16\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">",
      bins.size(), escape(spoken));
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const Bin& bin = bins[i];
    const std::int64_t all = bin.kept + bin.lost + bin.other;
    if (all == 0) continue;
    out += fmt::format("<rect class=\"k\" x=\"{}\" y=\"8\" width=\"1\" height=\"8\"/>", i);
    // A failure always fills the upper half of the bar, so that a few failures are visible even
    // among many clean states.
    if (bin.lost > 0) {
      const double height = 8 + 8.0 * static_cast<double>(bin.lost) / static_cast<double>(all);
      out += fmt::format("<rect class=\"l\" x=\"{}\" y=\"0\" width=\"1\" height=\"{:.1f}\"/>", i,
                         height);
    } else if (bin.other > 0) {
      out += fmt::format("<rect class=\"o\" x=\"{}\" y=\"4\" width=\"1\" height=\"12\"/>", i);
    }
  }
  return out + "</svg>";
}

/// Draws a strip for each file system. All strips have the same axis: the position of the cut in
/// the recording.
std::string strips(const Facts& facts) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
  for (const CutPlace& place : facts.cuts) {
    first = std::min(first, place.cut);
    last = std::max(last, place.cut);
  }
  if (facts.cuts.empty()) return {};
  const auto span = static_cast<std::size_t>(last - first + 1);
  const std::size_t bins = std::min(kStripBins, span);
  std::string out = "<div class=\"strip\">\n";
  for (std::size_t i = 0; i < facts.cuts.size();) {
    const CutPlace& of = facts.cuts[i];
    std::vector<Bin> strip(bins);
    Bin sum;
    for (; i < facts.cuts.size() && facts.cuts[i].filesystem == of.filesystem &&
           facts.cuts[i].variant == of.variant && facts.cuts[i].control == of.control;
         ++i) {
      const CutPlace& place = facts.cuts[i];
      Bin& bin = strip[static_cast<std::size_t>(place.cut - first) * bins / span];
      for (Bin* each : {&bin, &sum}) {
        each->kept += place.kept;
        each->lost += place.lost;
        each->other += place.other;
      }
    }
    out += fmt::format(
        "<div>{}<small>{}{}</small></div>{}\n", filesystem_name(of.filesystem, !of.variant.empty()),
        of.variant.empty() ? "" : " " + escape(of.variant), of.control.empty() ? "" : " control",
        strip_of(strip, fmt::format("{} {}: states kept {}, lost {}, other {}", of.filesystem,
                                    of.variant, sum.kept, sum.lost, sum.other)));
  }
  return out +
         fmt::format(
             "<div class=\"axis\"><span>cut after {} events</span><span>{}</span></div>\n</div>\n",
             first, last) +
         "<p class=\"legend\"><span><i class=\"box replayed\"></i>all promises kept</span> "
         "<span><i class=\"box lost\"></i>a state of these cuts lost data (drawn from the top, "
         "at least half of the height)</span> <span><i class=\"box other\"></i>other</span></p>\n";
}

/// Draws a bar for each file system. The longest steps have different shades; all other steps are
/// combined and hatched.
std::string time_bars(const Facts& facts) {
  std::map<std::string, double> totals;
  for (const StepTime& s : facts.steps) totals[s.step] += s.total_ms;
  std::vector<std::pair<std::string, double>> order(totals.begin(), totals.end());
  std::ranges::stable_sort(order, std::greater<>(), &std::pair<std::string, double>::second);
  std::map<std::string, std::size_t> shades;
  for (std::size_t i = 0; i < order.size() && i < kStepsNamed; ++i) shades[order[i].first] = i;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < facts.steps.size();) {
    const std::string filesystem = facts.steps[i].filesystem;
    std::vector<double> parts(kStepsNamed + 1, 0);
    double total = 0;
    for (; i < facts.steps.size() && facts.steps[i].filesystem == filesystem; ++i) {
      const auto shade = shades.find(facts.steps[i].step);
      parts[shade == shades.end() ? kStepsNamed : shade->second] += facts.steps[i].total_ms;
      total += facts.steps[i].total_ms;
    }
    std::string bar = "<div class=\"stack\">";
    for (std::size_t part = 0; part < parts.size(); ++part) {
      if (parts[part] <= 0) continue;
      bar +=
          fmt::format("<i class=\"s{}\" style=\"flex-grow:{:.0f}\" title=\"{} {}\"></i>", part,
                      parts[part], part < kStepsNamed ? escape(order[part].first) : "other steps",
                      milliseconds(parts[part]));
    }
    rows.push_back({filesystem_name(filesystem), bar + "</div>", milliseconds(total)});
  }
  std::string legend = "<p class=\"legend\">";
  for (std::size_t i = 0; i < order.size() && i < kStepsNamed; ++i)
    legend += fmt::format("<span><i class=\"box s{}\"></i>{}</span> ", i, escape(order[i].first));
  if (order.size() > kStepsNamed) legend += "<span><i class=\"box s5\"></i>other steps</span>";
  return html_table({{"file system"}, {"time by step"}, {"total", Kind::number}}, rows, "times") +
         legend + "</p>\n";
}

std::string steps_table(const Facts& facts) {
  const std::vector<Column> columns = {{"file system"},         {"step"},
                                       {"times", Kind::number}, {"total", Kind::number},
                                       {"each", Kind::number},  {"share", Kind::number}};
  std::vector<std::vector<std::string>> rows;
  rows.reserve(facts.steps.size());
  for (const StepTime& s : facts.steps) {
    rows.push_back({filesystem_name(s.filesystem), escape(s.step), number(s.count),
                    milliseconds(s.total_ms),
                    s.count == 0 ? "" : milliseconds(s.total_ms / static_cast<double>(s.count)),
                    percent(s.share)});
  }
  return html_table(columns, rows, "cards");
}

}  // namespace

Section exploration_section(const Facts& facts) {
  if (facts.explored.empty()) return {};
  const std::int64_t run = facts.run.id;
  Section section{.id = "states", .title = "Crash states", .html = strips(facts)};
  std::string& out = section.html;
  if (!facts.cuts.empty()) out += query_note("cuts", run);
  const std::string candidates = explored_table(facts, false),
                    controls = explored_table(facts, true);
  std::string tables;
  if (!candidates.empty()) tables += anchored(3, "candidates", "Candidates") + candidates;
  if (!controls.empty()) tables += anchored(3, "controls", "Controls") + controls;
  out += folded({.summary = fmt::format("{} cells in numbers", facts.explored.size()),
                 .html = tables + query_note("explored", run),
                 .id = "explored"});
  if (!facts.coverage.empty()) {
    std::int64_t checked = 0, whole = 0, trials = 0;
    for (const StrategyCoverage& each : facts.coverage) {
      checked += each.checked;
      whole += each.whole;
      trials += each.trials;
    }
    out += folded({.summary = fmt::format(
                       "Coverage: {} states checked; fully explored: {} of {} strategies of trials",
                       checked, whole, trials),
                   .html = coverage_table(facts) + query_note("coverage", run),
                   .id = "coverage"});
  }
  if (!facts.steps.empty()) {
    out += folded({.summary = "Where the time went",
                   .html = time_bars(facts) + steps_table(facts) + query_note("steps", run),
                   .id = "time"});
  }
  return section;
}

}  // namespace headcrash::report
