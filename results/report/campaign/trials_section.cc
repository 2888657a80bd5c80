// Shows outcomes as a map with a row for each workload and a column for each file system, if there
// are several workloads and several file systems. Also lists the numbered trials of each cell in
// collapsible parts.
#include <fmt/format.h>

#include <algorithm>

#include "results/report/frame/figures.h"
#include "results/report/frame/heat_map.h"
#include "results/report/frame/html.h"
#include "results/report/frame/sections.h"

namespace headcrash::report {
namespace {

using Kind = Column::Kind;

constexpr std::size_t kIncidentsPerTrial = 20;
constexpr std::size_t kTrialsPerExploredCell = 100;
constexpr std::size_t kCellsInTheOpen = 12;

std::string id_of(const Cell& cell) {
  return anchor("cell", fmt::format("{}/{}/{}/{}{}{}", cell.filesystem, cell.device, cell.workload,
                                    cell.expected, cell.variant.empty() ? "" : "/" + cell.variant,
                                    cell.must.empty() ? "" : "/" + cell.must));
}

std::string expectation_html(const Cell& cell) {
  if (!cell.is_control()) return escape(expectation(cell));
  const std::string least =
      cell.must == "lose" ? fmt::format(", &ge;&nbsp;{}", cell.losses_needed) : "";
  return escape(expectation(cell)) + "<small>control" + least + "</small>";
}

std::string as_expected(const Cell& cell) {
  if (!cell.met) return "<span class=\"verdict none\">nothing promised</span>";
  if (*cell.met)
    return cell.is_control() ? "<span class=\"verdict good\">as expected</span>"
                             : "<span class=\"verdict good\">kept</span>";
  return fmt::format("<span class=\"verdict bad\">not as expected</span><small>{} against</small>",
                     cell.unexpected);
}

std::string place(const Cell& cell) {
  return cell.variant.empty() ? cell.device : cell.device + ", " + cell.variant;
}

/// Formats the results of a cell's trials as a cell of the heat map.
HeatCell outcome_cell(const Cell& cell) {
  const std::string name =
      fmt::format("{}, {}, {}: trials {}, clean {}, replayed {}, lost {}, other {}; expected {}",
                  cell.filesystem, place(cell), cell.workload, cell.trials, cell.clean,
                  cell.replayed, cell.lost, cell.other, expectation(cell));
  const std::int64_t kept = cell.clean + cell.replayed;
  const std::string link = fmt::format("<a href=\"#{}\">", id_of(cell));
  if (cell.lost > 0) {
    const std::string text =
        fmt::format("{}{} lost</a> <small>of {}</small>", link, cell.lost, cell.trials);
    const bool wanted = cell.must == "lose" || cell.must == "damage";
    if (wanted && cell.met.value_or(false)) return {text, "hwant", name + ", as expected"};
    if (!cell.met) return {text, "hother", name};
    return cell.lost == cell.trials ? HeatCell{text, "hbad", name}
                                    : HeatCell{"<span>" + text + "</span>", "hsome", name};
  }
  if (cell.met == false)
    return {fmt::format("<span>{}{} kept</a> <small>of {}</small></span>", link, kept, cell.trials),
            "hsome", name};
  if (cell.other > 0)
    return {
        fmt::format("{}{} repaired, other</a> <small>of {}</small>", link, cell.other, cell.trials),
        "hother", name};
  return {fmt::format("{}{} kept</a>", link, kept), "h0", name};
}

std::string cells_table(const Facts& facts) {
  const std::vector<Column> columns = {{"file system"},
                                       {"outcomes"},
                                       {"trials", Kind::number},
                                       {"clean", Kind::number},
                                       {"replayed", Kind::number},
                                       {"lost", Kind::number},
                                       {"other", Kind::number},
                                       {"expected"},
                                       {"promises"}};
  std::vector<std::vector<std::string>> rows;
  rows.reserve(facts.cells.size());
  for (const auto& cell : facts.cells) {
    rows.push_back({cell_name(cell.filesystem, place(cell), cell.workload),
                    outcome_bar(cell.clean, cell.replayed, cell.lost, cell.known + cell.other),
                    fmt::format("{}", cell.trials), number(cell.clean), number(cell.replayed),
                    number(cell.lost, cell.met == false ? "no" : nullptr), number(cell.other),
                    expectation_html(cell), as_expected(cell)});
  }
  return html_table(columns, rows, "cards verdicts");
}

std::string incidents_list(const Trial& trial) {
  std::string out;
  for (std::size_t i = 0; i < trial.incidents.size() && i < kIncidentsPerTrial; ++i) {
    const auto& incident = trial.incidents[i];
    out += fmt::format("<li>{} <code>{}</code> {}</li>\n", milliseconds(incident.at_ms),
                       escape(incident.device), escape(incident.text));
  }
  if (trial.incidents.size() > kIncidentsPerTrial) {
    out += fmt::format("<li>and {} more</li>\n", trial.incidents.size() - kIncidentsPerTrial);
  }
  if (out.empty()) return {};
  return details(fmt::format("hardware events: {}", trial.incidents.size()), "<ul>" + out + "</ul>",
                 "findings");
}

/// Returns a link to the trial's findings, which are shown with the bug. Returns an empty string if
/// the trial has no findings.
std::string findings_link(const Trial& trial) {
  if (trial.findings.empty()) return {};
  return fmt::format("<small><a href=\"#{}\">findings: {}</a></small>",
                     anchor("failure", trial.key), trial.findings.size());
}

std::string artefact_line(const Trial& trial) {
  std::string out;
  for (const auto& a : trial.artefacts) {
    out += fmt::format("{}{} <code>{}</code> ({})", out.empty() ? "" : ", ", escape(a.kind),
                       escape(a.path), bytes(static_cast<double>(a.bytes)));
  }
  return out.empty() ? out : "<small class=\"artefacts\">stored: " + out + "</small>";
}

std::vector<std::string> trial_row(const Trial& t) {
  const std::string verdict_class = t.outcome == "lost"    ? "no"
                                    : t.outcome == "other" ? "warn"
                                                           : "yes";
  std::string persisted = "<span class=\"muted\">none</span>";
  if (t.persisted_operation) persisted = fmt::format("{}", *t.persisted_operation);
  const auto time = [](const std::optional<double>& ms, const char* without) {
    return ms ? milliseconds(*ms) : fmt::format("<span class=\"muted\">{}</span>", without);
  };
  return {fmt::format("<span id=\"{}\">{}</span><small>seed {}{}</small>", anchor("trial", t.key),
                      escape(t.key), t.seed, t.late ? " &middot; late" : ""),
          time(t.cut_at_ms, "never"),
          time(t.after_persistence_ms, "&ndash;"),
          fmt::format("{}<small>of {}</small>", persisted, t.operations),
          fmt::format("<b class=\"{}\">{}</b>", verdict_class, escape(t.verdict)),
          fmt::format("{}<small>{}</small>{}{}{}", escape(t.summary), escape(t.cut),
                      findings_link(t), incidents_list(t), artefact_line(t))};
}

std::string trials_of_cells(const Facts& facts) {
  const std::vector<Column> columns = {{"trial"},
                                       {"power cut at", Kind::number},
                                       {"after persistence point", Kind::number},
                                       {"last persisted operation", Kind::number},
                                       {"verdict"},
                                       {"what happened"}};
  std::string out;
  std::size_t next = 0;  // index of the next trial; trials are in the order of the cells
  for (const auto& cell : facts.cells) {
    std::vector<std::vector<std::string>> rows;
    std::size_t left_out = 0;
    for (; next < facts.trials.size() && is_of(facts.trials[next], cell); ++next) {
      const Trial& trial = facts.trials[next];
      const bool listed =
          cell.device != "stage" || (trial.outcome != "clean" && trial.outcome != "replayed");
      if (!listed || (cell.device == "stage" && rows.size() >= kTrialsPerExploredCell)) {
        ++left_out;
        continue;
      }
      rows.push_back(trial_row(trial));
    }
    std::string summary = fmt::format("{}, {}, {}: trials {}", cell.filesystem, place(cell),
                                      cell.workload, cell.trials);
    if (left_out > 0) summary += fmt::format(", not listed {}", left_out);
    out += folded({.summary = escape(summary),
                   .html = rows.empty() ? "" : html_table(columns, rows, "cards trials"),
                   .id = id_of(cell),
                   .css_class = "cell"});
  }
  return out;
}

}  // namespace

Section outcomes_section(const Facts& facts) {
  struct Place {
    std::string filesystem, variant;
    bool operator==(const Place&) const = default;
  };
  std::vector<Place> systems;
  std::vector<std::pair<std::string, std::string>> workloads;  // device, workload
  for (const Cell& cell : facts.cells) {
    if (const Place system{cell.filesystem, cell.variant};
        std::ranges::find(systems, system) == systems.end())
      systems.push_back(system);
    if (const std::pair workload{cell.device, cell.workload};
        std::ranges::find(workloads, workload) == workloads.end())
      workloads.push_back(workload);
  }
  if (systems.size() < 2 || workloads.size() < 2) return {};
  std::ranges::stable_sort(systems, {}, &Place::filesystem);
  std::ranges::stable_sort(workloads);
  std::vector<HeatColumn> columns;
  columns.reserve(systems.size());
  for (const Place& each : systems)
    columns.push_back(
        {each.variant.empty() ? each.filesystem : each.filesystem + " " + each.variant,
         filesystem_name(each.filesystem, !each.variant.empty()) +
             (each.variant.empty() ? ""
                                   : fmt::format("<br><small>{}</small>", escape(each.variant)))});
  std::vector<HeatRow> rows;
  for (const auto& [device, workload] : workloads) {
    HeatRow row{
        .name = escape(workload), .group = device, .cells = std::vector<HeatCell>(systems.size())};
    for (const Cell& cell : facts.cells) {
      if (cell.device != device || cell.workload != workload) continue;
      const auto at =
          std::ranges::find(systems, Place{cell.filesystem, cell.variant}) - systems.begin();
      HeatCell& place = row.cells[static_cast<std::size_t>(at)];
      if (place.html.empty() || cell.met == false) place = outcome_cell(cell);
    }
    rows.push_back(std::move(row));
  }
  return {.id = "outcomes",
          .title = "Outcomes",
          .html =
              "<p class=\"note\">Trials by workload and file system. Filled or striped red: a "
              "promise was broken. Outlined: a negative control lost data, as expected.</p>\n" +
              heat_map("workload", columns, rows) + query_note("cells", facts.run.id)};
}

Section trials_section(const Facts& facts) {
  Section section{.id = "trials", .title = "Trials", .html = {}};
  if (facts.cells.empty()) {
    section.html = "<p class=\"muted\">No trial has finished.</p>\n";
    return section;
  }
  section.html = folded({.summary = fmt::format("{} cells in numbers", facts.cells.size()),
                         .html = cells_table(facts) + query_note("cells", facts.run.id),
                         .id = "cells"});
  // If there are many cells, the list of their trials is long and is therefore collapsed.
  const std::string each = trials_of_cells(facts);
  section.html +=
      facts.cells.size() <= kCellsInTheOpen
          ? each
          : folded({.summary = fmt::format("The trials of {} cells", facts.cells.size()),
                    .html = each});
  section.html += query_note("trials", facts.run.id) + query_note("findings", facts.run.id) +
                  query_note("incidents", facts.run.id);
  return section;
}

}  // namespace headcrash::report
