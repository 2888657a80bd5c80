// The verdict table, one row per cell, and below it each cell's trials, folded; a cell that is not as expected
// is open.
#include <fmt/format.h>

#include "results/report/figures.h"
#include "results/report/html.h"
#include "results/report/sections.h"

namespace headcrash::report {
namespace {

using Kind = Column::Kind;

constexpr std::size_t kFindingsPerTrial = 20;
constexpr std::size_t kIncidentsPerTrial = 20;
constexpr std::size_t kTrialsPerExploredCell = 100;

std::string expectation_html(const Cell& cell) {
  if (!cell.is_control()) return escape(expectation(cell));
  const std::string least = cell.must == "lose" ? fmt::format(", &ge;&nbsp;{}", cell.losses_needed) : "";
  return escape(expectation(cell)) + "<small>control" + least + "</small>";
}

std::string as_expected(const Cell& cell) {
  if (!cell.met) return "<span class=\"muted\">nothing promised</span>";
  if (*cell.met) return "<span class=\"yes\">&#10003; yes</span>";
  return fmt::format("<span class=\"no\">&#10007; no</span> <small>{} against</small>", cell.unexpected);
}

std::string place(const Cell& cell) {
  return cell.variant.empty() ? cell.device : cell.device + ", " + cell.variant;
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
                                       {"as expected?"}};
  std::vector<std::vector<std::string>> rows;
  for (const auto& cell : facts.cells) {
    rows.push_back({cell_name(facts, cell.filesystem, place(cell), cell.workload),
                    outcome_bar(cell.clean, cell.replayed, cell.lost, cell.other),
                    fmt::format("{}", cell.trials), number(cell.clean), number(cell.replayed),
                    number(cell.lost, cell.met == false ? "no" : nullptr), number(cell.other),
                    expectation_html(cell), as_expected(cell)});
  }
  return html_table(columns, rows, "cards verdicts");
}

std::string findings_list(const Trial& trial) {
  std::string out;
  for (std::size_t i = 0; i < trial.findings.size() && i < kFindingsPerTrial; ++i) {
    const auto& f = trial.findings[i];
    out += fmt::format("<li><code>{}</code> {}: expected {}, found {} <small>{}</small></li>\n",
                       escape(f.path), escape(f.kind), escape(f.expected), escape(f.found), escape(f.tier));
  }
  if (trial.findings.size() > kFindingsPerTrial) {
    out += fmt::format("<li>and {} more</li>\n", trial.findings.size() - kFindingsPerTrial);
  }
  if (out.empty()) return {};
  return details(fmt::format("findings: {}", trial.findings.size()), "<ul>" + out + "</ul>", "findings");
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

std::string artefact_line(const Trial& trial) {
  std::string out;
  for (const auto& a : trial.artefacts) {
    out += fmt::format("{}{} <code>{}</code> ({})", out.empty() ? "" : ", ", escape(a.kind), escape(a.path),
                       bytes(static_cast<double>(a.bytes)));
  }
  return out.empty() ? out : "<small class=\"artefacts\">stored: " + out + "</small>";
}

std::vector<std::string> trial_row(const Trial& t) {
  const std::string verdict_class = t.outcome == "lost" ? "no" : t.outcome == "other" ? "warn" : "yes";
  std::string persisted = "<span class=\"muted\">none</span>";
  if (t.persisted_operation) persisted = fmt::format("{}", *t.persisted_operation);
  const auto time = [](const std::optional<double>& ms, const char* without) {
    return ms ? milliseconds(*ms) : fmt::format("<span class=\"muted\">{}</span>", without);
  };
  return {fmt::format("{}<small>seed {}{}</small>", escape(t.key), t.seed, t.late ? " &middot; late" : ""),
          time(t.cut_at_ms, "never"),
          time(t.after_persistence_ms, "&ndash;"),
          fmt::format("{}<small>of {}</small>", persisted, t.operations),
          fmt::format("<b class=\"{}\">{}</b>", verdict_class, escape(t.verdict)),
          fmt::format("{}<small>{}</small>{}{}{}", escape(t.summary), escape(t.cut), findings_list(t),
                      incidents_list(t), artefact_line(t))};
}

bool belongs(const Trial& t, const Cell& c) {
  return t.filesystem == c.filesystem && t.device == c.device && t.workload == c.workload &&
         t.expected == c.expected && t.variant == c.variant && t.must == c.must;
}

std::string trials_of_cells(const Facts& facts) {
  const std::vector<Column> columns = {{"trial"},
                                       {"power cut at", Kind::number},
                                       {"after persistence point", Kind::number},
                                       {"last persisted operation", Kind::number},
                                       {"verdict"},
                                       {"what happened"}};
  std::string out;
  std::size_t next = 0;  // trials stand in the order of the cells
  for (const auto& cell : facts.cells) {
    std::vector<std::vector<std::string>> rows;
    std::size_t left_out = 0;
    for (; next < facts.trials.size() && belongs(facts.trials[next], cell); ++next) {
      const Trial& trial = facts.trials[next];
      const bool listed = cell.device != "stage" || (trial.outcome != "clean" && trial.outcome != "replayed");
      if (!listed || (cell.device == "stage" && rows.size() >= kTrialsPerExploredCell)) {
        ++left_out;
        continue;
      }
      rows.push_back(trial_row(trial));
    }
    const bool open = cell.met.has_value() && !*cell.met;
    std::string summary =
        fmt::format("{}, {}, {}: trials {}", cell.filesystem, place(cell), cell.workload, cell.trials);
    if (left_out > 0) summary += fmt::format(", not listed {}", left_out);
    out += details(summary, rows.empty() ? "" : html_table(columns, rows, "cards trials"), "cell", open);
  }
  return out;
}

}  // namespace

std::string verdict_section(const Facts& facts, std::size_t rows_of_answer) {
  std::string out = "<section>\n<h2>Verdicts</h2>\n";
  if (facts.cells.empty()) return out + "<p class=\"muted\">No trial is finished.</p>\n</section>\n";
  // One row of the first table for each cell says all of this already.
  if (rows_of_answer < facts.cells.size()) out += outcome_legend() + cells_table(facts);
  out += query_note("cells", facts.run.id);
  out += "<h3>Trial by trial</h3>\n" + trials_of_cells(facts);
  return out + query_note("trials", facts.run.id) + query_note("findings", facts.run.id) +
         query_note("incidents", facts.run.id) + "</section>\n";
}

}  // namespace headcrash::report
