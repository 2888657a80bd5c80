// What was explored: controls first, then candidates; how much of each strategy's space; the failures with
// their accounts and the command that shows each again; where the time went.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "results/report/figures.h"
#include "results/report/html.h"
#include "results/report/sections.h"

namespace headcrash::report {
namespace {

using Kind = Column::Kind;

/// Beyond this a count of states is shown as a power of ten.
constexpr double kCountable = 1e9;
/// Of a workload: the end is what tells.
constexpr std::size_t kOperationsInALine = 8;

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

bool is_wanted(const Failure& f) {
  return f.control == "lose" || f.control == "damage";
}

/// Failures of one file system that are shown together.
std::string kind_of(const Failure& f) {
  return fmt::format("{}{}{}: {} ({}){}", is_wanted(f) ? "control " : "", f.filesystem,
                     f.variant.empty() ? "" : " (" + f.variant + ")", f.verdict, f.tier,
                     f.confirmed ? "" : ", not reproduced on a fresh guest");
}

/// "create foo; sync; rename foo bar", the last of them.
std::string in_a_line(const std::string& operations) {
  std::vector<std::string_view> lines;
  for (std::string_view rest = operations; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) lines.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::size_t first = lines.size() <= kOperationsInALine ? 0 : lines.size() - kOperationsInALine;
  return fmt::format("{}{}", first == 0 ? "" : "...; ",
                     fmt::join(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end(), "; "));
}

std::string shown_again(const Facts& facts, const Failure& f) {
  if (f.replay.empty()) return {};
  return fmt::format("<code>{}</code>", escape(f.replay + " --db " + facts.database));
}

std::string account_of(const Facts& facts, const Failure& f, bool open) {
  std::string out;
  if (!f.confirmed) {
    out += fmt::format("<p class=\"warn\">Not reproduced on a fresh guest{}{}</p>\n",
                       f.disagreement.empty() ? "." : ": ", escape(f.disagreement));
  }
  out += fmt::format("<pre><code>{}</code></pre>\n", escape(f.account.empty() ? f.summary : f.account));
  if (const std::string command = shown_again(facts, f); !command.empty())
    out += fmt::format(
        "<p>Reproduce, with <code>--html crash.html</code> as a page that shows the cut: {}</p>\n", command);
  return details(fmt::format("{}, state {}", f.key, f.state), out, "cell", open);
}

/// Failures of one kind: each in a line, their accounts below.
std::string failures_of_a_kind(const Facts& facts, const std::vector<const Failure*>& alike, bool open) {
  const std::vector<Column> columns = {{"trial and state"}, {"what was done"}, {"show it again"}};
  std::vector<std::vector<std::string>> rows;
  std::string accounts;
  for (const Failure* f : alike) {
    rows.push_back({fmt::format("{}<small>state <code>{}</code> ({})</small>", escape(f->key),
                                escape(f->state), escape(f->strategy)),
                    escape(in_a_line(f->operations.empty() ? f->summary : f->operations)),
                    shown_again(facts, *f)});
    accounts += account_of(facts, *f, open);
  }
  return fmt::format("<h4>{}</h4>\n", escape(kind_of(*alike.front()))) + html_table(columns, rows, "cards") +
         (open ? accounts
               : details(alike.size() == 1 ? "Failure report" : "Failure reports", accounts, "cell"));
}

std::string failures_part(const Facts& facts) {
  if (facts.failures.empty()) return "<p class=\"muted\">No state failed.</p>\n";
  // As the query orders them: candidates first.
  std::vector<std::vector<const Failure*>> kinds;
  std::map<std::string, std::size_t> known;
  for (const Failure& f : facts.failures) {
    const auto [kind, is_new] = known.try_emplace(kind_of(f), kinds.size());
    if (is_new) kinds.emplace_back();
    kinds[kind->second].push_back(&f);
  }
  const auto candidates = std::ranges::count_if(facts.failures, std::not_fn(is_wanted));
  std::string out;
  for (const auto& alike : kinds)
    out += failures_of_a_kind(facts, alike, candidates == 1 && !is_wanted(*alike.front()));
  const auto shown = static_cast<std::int64_t>(facts.failures.size());
  if (facts.failures_in_all > shown)
    out += fmt::format("<p class=\"note\">And {} more in the database.</p>\n", facts.failures_in_all - shown);
  return out;
}

std::string steps_table(const Facts& facts) {
  const std::vector<Column> columns = {{"file system"},         {"step"},
                                       {"times", Kind::number}, {"total", Kind::number},
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
    out += "<h3>Coverage</h3>\n" + coverage_table(facts) + query_note("coverage", run);
  if (!facts.steps.empty())
    out += "<h3>Where the time went</h3>\n" + steps_table(facts) + query_note("steps", run);
  return out + "</section>\n";
}

}  // namespace headcrash::report
