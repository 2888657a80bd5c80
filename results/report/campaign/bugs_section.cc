// Shows a card for each bug: its frequency, the shortest list of operations, the command that
// reproduces it, and a collapsible account. After the cards, a collapsible part shows the failures
// that negative controls are required to have.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "results/report/campaign/bugs.h"
#include "results/report/frame/figures.h"
#include "results/report/frame/heat_map.h"
#include "results/report/frame/html.h"
#include "results/report/frame/sections.h"

namespace headcrash::report {
namespace {

constexpr std::size_t kFindingsPerTrial = 20;
constexpr std::size_t kOperationRowsMost = 20;

std::string findings_list(const Trial& trial) {
  std::string out;
  for (std::size_t i = 0; i < trial.findings.size() && i < kFindingsPerTrial; ++i) {
    const auto& f = trial.findings[i];
    out += fmt::format("<li><code>{}</code> {}: expected {}, found {} <small>{}</small></li>\n",
                       escape(f.path), escape(f.kind), escape(f.expected), escape(f.found),
                       escape(f.tier));
  }
  if (trial.findings.size() > kFindingsPerTrial)
    out += fmt::format("<li>and {} more</li>\n", trial.findings.size() - kFindingsPerTrial);
  return out.empty() ? out : "<ul class=\"findings\">\n" + out + "</ul>\n";
}

std::string account_of(const Instance& each) {
  if (each.trial != nullptr) return findings_list(*each.trial);
  return each.account.empty() ? std::string{}
                              : fmt::format("<pre><code>{}</code></pre>\n", escape(each.account));
}

std::string page_link(const Facts& facts, const Instance& each) {
  std::error_code ignored;
  if (each.page.empty() || facts.folder.empty() ||
      !std::filesystem::exists(facts.folder / each.page, ignored))
    return {};
  return fmt::format("<p><a href=\"{0}\">This power cut as a page: {0}</a></p>\n",
                     escape(each.page));
}

std::string title_of(const Instance& each) {
  return each.state.empty() ? each.key : fmt::format("{}, state {}", each.key, each.state);
}

std::string id_of(const Instance& each) {
  return anchor("failure", each.state.empty() ? each.key : each.key + "." + each.state);
}

/// Returns a collapsible element with one failing instance and the command that reproduces it.
std::string instance_of(const Facts& facts, const Instance& each) {
  std::string html = page_link(facts, each) + account_of(each);
  if (!each.disagreement.empty())
    html = fmt::format("<p class=\"warn\">Not reproduced on a fresh guest: {}</p>\n",
                       escape(each.disagreement)) +
           html;
  if (!each.command.empty()) html += command_line(each.command);
  const std::string done = each.operations.empty() ? each.summary : in_a_line(each.operations);
  return folded(
      {.summary = fmt::format("{}<small> {}</small>", escape(title_of(each)), escape(done)),
       .html = html,
       .id = id_of(each),
       .css_class = "cell"});
}

std::string counts_of(const Facts& facts, const Bug& bug) {
  std::int64_t trials = 0;
  for (const Cell& cell : facts.cells)
    if (cell.filesystem == bug.filesystem && cell.variant == bug.variant) trials += cell.trials;
  const bool states = bug.instances.front().trial == nullptr;
  const std::string of =
      fmt::format("{}: {} of {}", states ? "workloads that show it" : "trials", bug.trials, trials);
  return states ? fmt::format("{}; crash states: {}", of, bug.instances.size()) : of;
}

std::string card(const Facts& facts, const Bug& bug) {
  const Instance& first = bug.instances.front();
  const bool is_bug = bug.kind == Bug::Kind::found;
  std::string out = fmt::format(
      "<div class=\"card{}\" id=\"{}\">\n<div class=\"head\">{}{}<h4>{}</h4><span class=\"muted\">{}</span></div>\n",
      is_bug ? " bug" : "",
      anchor("bug", bug.filesystem + "." + bug.variant + "." + bug.verdict + "." + bug.tier +
                        (is_bug ? "" : fmt::format(".{}", static_cast<int>(bug.kind)))),
      filesystem_name(bug.filesystem, !bug.variant.empty()),
      bug.variant.empty() ? "" : " <small>" + escape(bug.variant) + "</small>",
      escape(bug.verdict + (bug.tier.empty() ? "" : " (" + bug.tier + ")")),
      escape(counts_of(facts, bug)));
  if (!first.disagreement.empty())
    out += fmt::format("<p class=\"warn\">Not reproduced on a fresh guest: {}</p>\n",
                       escape(first.disagreement));
  else if (bug.kind == Bug::Kind::not_reproduced)
    out += "<p class=\"warn\">Not reproduced on a fresh guest.</p>\n";
  if (!first.operations.empty())
    out += fmt::format("<p class=\"operations\">{}</p>\n", escape(in_a_line(first.operations)));
  if (!first.summary.empty()) out += fmt::format("<p>{}</p>\n", escape(first.summary));
  out += page_link(facts, first);
  if (!first.command.empty()) out += command_line(first.command);
  std::string list;
  for (std::size_t i = 0; i < bug.instances.size() && i < kInstancesMost; ++i)
    list += instance_of(facts, bug.instances[i]);
  if (bug.instances.size() > kInstancesMost)
    list += fmt::format("<p class=\"note\">{} more failure reports are in the database.</p>\n",
                        bug.instances.size() - kInstancesMost);
  return out +
         details(bug.instances.size() == 1
                     ? "Failure report"
                     : fmt::format("{} failure reports", bug.instances.size()),
                 list) +
         "</div>\n";
}

/// Returns a map that shows which operations failed on which file system. Columns are file systems.
/// A row is named after the last changing operation and the promise that follows it.
std::string operations_map(const Facts& facts, const std::vector<Bug>& bugs) {
  struct System {
    std::string filesystem, variant, control;
    std::int64_t trials = 0;
    bool operator==(const System&) const = default;
  };
  std::vector<System> systems;
  for (const ExploredCell& cell : facts.explored) {
    const auto same = std::ranges::find_if(systems, [&](const System& c) {
      return c.filesystem == cell.filesystem && c.variant == cell.variant;
    });
    if (same == systems.end())
      systems.push_back({cell.filesystem, cell.variant, cell.control, cell.trials});
    else
      same->trials += cell.trials;
  }
  std::ranges::stable_sort(systems, {}, [](const System& c) { return !c.control.empty(); });
  std::map<std::string, std::vector<std::set<std::string>>> failing;
  for (const Bug& bug : bugs) {
    for (const Instance& each : bug.instances) {
      const std::string operation = operation_of(each);
      if (operation.empty() || bug.kind == Bug::Kind::not_reproduced) continue;
      auto& row = failing[operation];
      row.resize(systems.size());
      for (std::size_t i = 0; i < systems.size(); ++i)
        if (systems[i].filesystem == bug.filesystem && systems[i].variant == bug.variant)
          row[i].insert(each.key);
    }
  }
  if (failing.size() < 2 || systems.size() < 2) return {};
  std::vector<HeatColumn> columns;
  columns.reserve(systems.size());
  for (const System& each : systems)
    columns.push_back(
        {each.variant.empty() ? each.filesystem : each.filesystem + " " + each.variant,
         filesystem_name(each.filesystem, !each.variant.empty()) +
             (each.variant.empty() ? ""
                                   : fmt::format("<br><small>{}</small>", escape(each.variant))) +
             fmt::format("<br><small>{}{} trials</small>", each.control.empty() ? "" : "control, ",
                         each.trials)});
  std::vector<HeatRow> rows;
  for (const auto& [operation, counts] : failing) {
    HeatRow row{.name = escape(operation), .cells = {}};
    for (std::size_t i = 0; i < systems.size(); ++i) {
      const bool control = systems[i].control == "lose" || systems[i].control == "damage";
      if (counts[i].empty())
        row.cells.push_back({"0", "h0 muted"});
      else
        row.cells.push_back({fmt::format("{}", counts[i].size()), control ? "hwant" : "hbad",
                             fmt::format("{} of {} trials of {} fail after {}", counts[i].size(),
                                         systems[i].trials, columns[i].name, operation)});
    }
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater<>(), [&](const HeatRow& row) {
    std::size_t bad = 0;
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      bad += row.cells[i].css_class == "hbad" ? 1 : 0;
    return bad;
  });
  const std::size_t all = rows.size();
  rows.resize(std::min(all, kOperationRowsMost));
  return "<p class=\"note\">Trials with a failing state, by the last changing operation of the "
         "minimised workload and the promise that follows it. Filled: a promise was broken. "
         "Outlined: a negative control lost data, as expected.</p>\n" +
         heat_map("operation", columns, rows) +
         (all > rows.size()
              ? fmt::format("<p class=\"note\">{} more operations.</p>\n", all - rows.size())
              : "");
}

}  // namespace

Section bugs_section(const Facts& facts) {
  const std::vector<Bug> bugs = bugs_of(facts);
  if (bugs.empty()) return {};
  const auto of = [&](Bug::Kind kind) {
    std::string cards;
    for (const Bug& bug : bugs)
      if (bug.kind == kind) cards += card(facts, bug);
    return cards;
  };
  const auto count = [&](Bug::Kind kind) { return std::ranges::count(bugs, kind, &Bug::kind); };
  Section section{.id = "bugs", .title = "Bugs", .html = {}};
  section.html += operations_map(facts, bugs);
  const std::string found = of(Bug::Kind::found);
  section.html += found.empty() ? "<p>No promise was broken.</p>\n" : found;
  if (const std::string again = of(Bug::Kind::not_reproduced); !again.empty())
    section.html += fmt::format(
        "<h3>Not reproduced on a fresh guest</h3>\n<p class=\"note\">These are bugs in headcrash, "
        "not in a file system.</p>\n{}",
        again);
  const auto folded_away = [&](Bug::Kind kind, const char* words, const char* id) {
    if (count(kind) == 0) return;
    section.html += folded({.summary = fmt::format("{}: {}", words, count(kind)),
                            .html = of(kind),
                            .id = id,
                            .css_class = "cell"});
  };
  folded_away(Bug::Kind::wanted, "Losses of negative controls, as expected", "wanted");
  folded_away(Bug::Kind::unpromised, "Losses where nothing was promised", "unpromised");
  const auto shown = static_cast<std::int64_t>(facts.failures.size());
  if (facts.failures_in_all > shown)
    section.html += fmt::format("<p class=\"note\">The database has {} more failures.</p>\n",
                                facts.failures_in_all - shown);
  if (!facts.failures.empty()) section.html += query_note("failures", facts.run.id);
  return section;
}

}  // namespace headcrash::report
