// What was explored: controls first, then candidates; how much of each strategy's space; the failures with
// their accounts and the command that shows each again; where the time went.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/report/figures.h"
#include "results/report/html.h"
#include "results/report/sections.h"

namespace headcrash::report {
namespace {

using Kind = Column::Kind;

/// Beyond this a count of states is told as a power of ten.
constexpr double kCountable = 1e9;

std::string space(double states) {
  if (states < kCountable) return fmt::format("{:.0f}", states);
  return fmt::format("10<sup>{:.0f}</sup>", std::floor(std::log10(states)));
}

std::string name_of(const Facts& facts, const std::string& filesystem, const std::string& variant,
                    const std::string& workload) {
  return cell_name(facts, filesystem, variant.empty() ? "as the adapter says" : variant, workload);
}

std::string duty(const std::string& control) {
  if (control == "lose") return "must lose data";
  if (control == "damage") return "must show damage";
  if (control == "keep") return "must keep everything";
  if (control == "keep-after-fsck") return "must keep everything, after fsck";
  return "";
}

std::string confirmed(const ExploredCell& cell) {
  if (cell.confirmed + cell.unconfirmed == 0) return number(0);
  std::string text = fmt::format("{}", cell.confirmed);
  if (cell.unconfirmed > 0)
    text += fmt::format("<small class=\"warn\">{} not seen again</small>", cell.unconfirmed);
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
    rows.push_back(
        {name_of(facts, cell.filesystem, cell.variant, cell.workload),
         outcome_bar(cell.clean, cell.replayed, cell.lost, cell.repaired + cell.other + cell.harness_errors),
         number(cell.trials), number(cell.states), number(cell.clean), number(cell.replayed),
         number(cell.repaired), number(cell.lost, "no"), number(cell.other + cell.harness_errors, "warn"),
         confirmed(cell)});
    if (!controls) continue;
    const auto judged = std::ranges::find_if(facts.cells, [&](const Cell& each) {
      return each.filesystem == cell.filesystem && each.variant == cell.variant &&
             each.workload == cell.workload && each.must == cell.control && each.device == "stage";
    });
    const bool met = judged != facts.cells.end() && judged->met.value_or(false);
    rows.back().push_back(fmt::format("<span class=\"{}\">{} {}</span><small>{}</small>", met ? "yes" : "no",
                                      met ? "&#10003;" : "&#10007;", met ? "yes" : "no", duty(cell.control)));
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
                                       {"mean share of a trial's space", Kind::number},
                                       {"left out"}};
  std::vector<std::vector<std::string>> rows;
  for (const StrategyCoverage& c : facts.coverage) {
    const std::string whole = c.whole == c.trials ? "<span class=\"yes\">nothing</span>"
                                                  : fmt::format("{}<small>{} of {} trials whole</small>",
                                                                escape(c.bound), c.whole, c.trials);
    rows.push_back({name_of(facts, c.filesystem, c.variant, c.workload), escape(c.strategy), space(c.space),
                    number(c.generated), number(c.distinct_states), number(c.checked), percent(c.mean_share),
                    whole});
  }
  return html_table(columns, rows, "cards");
}

std::string one_failure(const Facts& facts, const Failure& f) {
  std::string out =
      fmt::format("<p>{} <b class=\"no\">{}</b> <small>{} &middot; state <code>{}</code> ({})</small></p>\n",
                  filesystem_name(facts, f.filesystem), escape(f.verdict), escape(f.key), escape(f.state),
                  escape(f.strategy));
  if (!f.confirmed) {
    out += fmt::format("<p class=\"warn\">Not seen again on a fresh guest{}{}</p>\n",
                       f.disagreement.empty() ? "." : ": ", escape(f.disagreement));
  }
  out += fmt::format("<pre><code>{}</code></pre>\n", escape(f.account.empty() ? f.summary : f.account));
  if (!f.replay.empty())
    out +=
        fmt::format("<p>Show it again: <code>{}</code></p>\n", escape(f.replay + " --db " + facts.database));
  return out;
}

std::string failures_part(const Facts& facts) {
  if (facts.failures.empty()) return "<p class=\"muted\">No state failed.</p>\n";
  std::string out;
  for (const Failure& f : facts.failures) {
    const bool wanted = f.control == "lose" || f.control == "damage";
    out += details(fmt::format("{}{}: {} ({}) in {}, state {}", wanted ? "control " : "", f.filesystem,
                               f.verdict, f.tier, f.key, f.state),
                   one_failure(facts, f), "cell", !wanted && f.confirmed);
  }
  const auto shown = static_cast<std::int64_t>(facts.failures.size());
  if (facts.failures_in_all > shown)
    out += fmt::format("<p class=\"note\">And {} more in the database.</p>\n", facts.failures_in_all - shown);
  return out;
}

std::string steps_table(const Facts& facts) {
  const std::vector<Column> columns = {{"file system"},         {"step"},
                                       {"times", Kind::number}, {"in all", Kind::number},
                                       {"each", Kind::number},  {"share", Kind::number}};
  std::vector<std::vector<std::string>> rows;
  for (const StepTime& s : facts.steps) {
    rows.push_back(
        {filesystem_name(facts, s.filesystem), escape(s.step), number(s.count), milliseconds(s.total_ms),
         s.count == 0 ? "" : milliseconds(s.total_ms / static_cast<double>(s.count)), percent(s.share)});
  }
  return html_table(columns, rows, "cards");
}

}  // namespace

std::string exploration_section(const Facts& facts) {
  if (facts.explored.empty()) return {};
  const std::int64_t run = facts.run.id;
  std::string out = "<section>\n<h2>Crash states</h2>\n";
  if (const std::string controls = explored_table(facts, true); !controls.empty())
    out += "<h3>Controls</h3>\n" + controls;
  if (const std::string candidates = explored_table(facts, false); !candidates.empty())
    out += "<h3>Candidates</h3>\n" + candidates;
  out += query_note("explored", run);
  out += "<h3>Failures</h3>\n" + failures_part(facts) + query_note("failures", run);
  if (!facts.coverage.empty())
    out += "<h3>How much was looked at</h3>\n" + coverage_table(facts) + query_note("coverage", run);
  if (!facts.steps.empty())
    out += "<h3>Where the time went</h3>\n" + steps_table(facts) + query_note("steps", run);
  return out + "</section>\n";
}

}  // namespace headcrash::report
