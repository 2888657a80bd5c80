// Draws the table and the sections for broken cells (contract_page.h).
#include "results/report/contract/contract_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "results/report/frame/heat_map.h"
#include "results/report/frame/html.h"
#include "results/report/frame/page.h"

namespace headcrash::report {
namespace {

using CellAnswer = ContractCell::Answer;

bool is_lost(const ContractCell& cell) {
  return cell.answer == CellAnswer::broken || cell.answer == CellAnswer::unusable;
}

std::string cell_id(const ContractPage& page, const ContractRow& row, std::size_t system) {
  return anchor("cell", row.number + " " + page.systems[system]);
}

std::string row_id(const ContractRow& row) {
  return "test-" + row.number;
}

HeatCell heat_cell(const ContractPage& page, const ContractRow& row, std::size_t system) {
  const ContractCell& cell = row.cells[system];
  if (cell.answer == CellAnswer::none) return {};
  std::string text = escape(cell.text);
  const bool lost = is_lost(cell);
  if (lost) text = fmt::format("<a href=\"#{}\">{}</a>", cell_id(page, row, system), text);
  const std::string css_class = lost && cell.promised             ? "hbad"
                                : lost                            ? "h3"
                                : cell.answer == CellAnswer::kept ? "h0"
                                                                  : "hnone";
  return {.html = fmt::format("{}<br><small>{}</small>", text, escape(cell.promise)),
          .css_class = css_class,
          .hint = cell.problem.empty() ? cell.source : cell.problem};
}

std::string table_of(const ContractPage& page) {
  std::vector<HeatColumn> columns;
  for (const std::string& system : page.systems)
    columns.push_back({system, filesystem_name(system)});
  std::vector<HeatRow> rows;
  for (const ContractRow& row : page.rows) {
    HeatRow shown{.name = fmt::format("<a href=\"#{}\">{}</a> {}", row_id(row), escape(row.number),
                                      escape(row.title)),
                  .group = row.group,
                  .hint = row.relies,
                  .cells = {}};
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      shown.cells.push_back(heat_cell(page, row, i));
    rows.push_back(std::move(shown));
  }
  return heat_map("test", columns, rows);
}

std::string list_of(const std::vector<std::string>& lines) {
  return fmt::format("<pre>{}</pre>\n", escape(fmt::format("{}", fmt::join(lines, "\n"))));
}

std::string description_of(const ContractRow& row) {
  std::string html = fmt::format("<p>{}.</p>\n", escape(row.relies));
  if (!row.initial.empty()) html += "<p>Initial state, synced:</p>\n" + list_of(row.initial);
  html += "<p>Operations; the power may be cut at any point:</p>\n" + list_of(row.operations);
  html += "<p>Allowed afterwards:</p>\n" + list_of(row.allowed);
  return html + fmt::format("<p>The seeded defect that this test detects: {}.</p>\n",
                            escape(fmt::format("{}", fmt::join(row.defect, ", "))));
}

std::string broken_cell(const ContractPage& page, const ContractRow& row, std::size_t system) {
  const ContractCell& cell = row.cells[system];
  std::string html = anchored(3, cell_id(page, row, system), page.systems[system]);
  html += fmt::format("<p>{}; {}{}.</p>\n", escape(cell.text), escape(cell.promise),
                      cell.source.empty() ? "" : ": " + escape(cell.source));
  std::vector<std::vector<std::string>> facts;
  const auto fact = [&](const char* name, const std::string& value) {
    if (!value.empty()) facts.push_back({name, value});
  };
  fact("not fulfilled", escape(cell.row));
  fact("found", escape(cell.found));
  fact("smallest crash", escape(cell.state));
  fact("missing writes", escape(cell.writes));
  if (!cell.crash_page.empty())
    fact("writes on a time axis", fmt::format("<a href=\"{0}\">{0}</a>", escape(cell.crash_page)));
  html += html_table({{""}, {""}}, facts);
  return cell.command.empty() ? html : html + command_line(cell.command);
}

std::string section_of(const ContractPage& page, const ContractRow& row) {
  std::string html = description_of(row);
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const ContractCell& cell = row.cells[i];
    if (is_lost(cell)) html += broken_cell(page, row, i);
    if (cell.answer == CellAnswer::failed || cell.answer == CellAnswer::unsupported)
      html += fmt::format("<p>{}: {} ({}).</p>\n", escape(page.systems[i]), escape(cell.text),
                          escape(cell.problem));
  }
  return html;
}

std::string opening_of(const ContractPage& page) {
  std::size_t kept = 0, promised = 0, unpromised = 0, unusable = 0, open = 0;
  for (const ContractRow& row : page.rows)
    for (const ContractCell& cell : row.cells) {
      if (cell.answer == CellAnswer::kept) ++kept;
      if (cell.answer == CellAnswer::broken) ++(cell.promised ? promised : unpromised);
      if (cell.answer == CellAnswer::unusable) ++unusable;
      if (cell.answer == CellAnswer::unsupported || cell.answer == CellAnswer::failed) ++open;
    }
  return fmt::format(
      "<header><h1>What file systems keep after a power cut</h1>\n"
      "<p class=\"answer\">{} litmus tests on {} file system{}: {} cells kept, {} broken although "
      "promised or relied on, {} broken and not promised, {} with states that do not mount, {} "
      "without an answer.</p>\n"
      "<p>A cell shows the number of crash states in which the answer is \"no\", the number of "
      "crash states that were checked, and the source of the promise. A \"+\" means that more "
      "states exist "
      "than were checked. \"kept\" means that no failing state was seen; it is not a promise.</p>\n"
      "</header>\n",
      page.rows.size(), page.systems.size(), page.systems.size() == 1 ? "" : "s", kept, promised,
      unpromised, unusable, open);
}

}  // namespace

std::string contract_page(const ContractPage& page) {
  Page framed{.title = "contract", .opening = opening_of(page), .sections = {}};
  framed.sections.push_back({"table", "Table", table_of(page)});
  for (const ContractRow& row : page.rows)
    framed.sections.push_back({row_id(row), row.number + " " + row.title, section_of(page, row)});
  std::string made = fmt::format("<p>headcrash {}</p>\n", escape(page.commit));
  if (!page.command.empty()) made += command_line(page.command);
  framed.sections.push_back({"made", "How this table was made", std::move(made)});
  return framed_page(framed);
}

}  // namespace headcrash::report
