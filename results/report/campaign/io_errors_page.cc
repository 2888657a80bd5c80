// Reads the tables io_error and io_error_step, and creates the page (io_errors_page.h).
#include "results/report/campaign/io_errors_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "results/report/frame/figures.h"
#include "results/report/frame/html.h"
#include "results/report/frame/page.h"
#include "results/report/frame/query.h"

namespace headcrash::report {
namespace {

using nlohmann::json;

struct IoErrorRow {
  std::string key, filesystem, failed, verdict, why, block, surprise, documented;
  std::int64_t requests_failed = 0;
  bool lasting = false;
  /// results of fsync and syncfs in the guest (0006.sql)
  std::string first, second, reopened, after_sync, syncfs;
  std::string later, other, new_file, state;
  std::string cached, reread, recovered, check;
  std::vector<std::pair<std::string, std::string>> steps;
  bool measured() const { return verdict == db::kMeasured; }
};

std::vector<IoErrorRow> rows_of(const Table& table, const Table& steps) {
  std::vector<IoErrorRow> rows;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Row row = table.row(i);
    rows.push_back({.key = row.text("key"),
                    .filesystem = row.text("filesystem"),
                    .failed = row.text("failed_request"),
                    .verdict = row.text("verdict"),
                    .why = row.text("summary"),
                    .block = row.text("failed_block"),
                    .surprise = row.text("surprise"),
                    .documented = row.text("documented"),
                    .requests_failed = row.integer("requests_failed"),
                    .lasting = row.integer("lasting") != 0,
                    .first = row.text("first_fsync"),
                    .second = row.text("second_fsync"),
                    .reopened = row.text("reopened_fsync"),
                    .after_sync = row.text("fsync_after_sync"),
                    .syncfs = row.text("sync_fs"),
                    .later = row.text("later_fsync"),
                    .other = row.text("other_fsync"),
                    .new_file = row.text("new_file_fsync"),
                    .state = row.text("state"),
                    .cached = row.text("cached"),
                    .reread = row.text("reread"),
                    .recovered = row.text("recovered"),
                    .check = row.text("after_recovery")});
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Row row = steps.row(i);
    const auto at = std::ranges::find(rows, row.text("key"), &IoErrorRow::key);
    if (at != rows.end()) at->steps.emplace_back(row.text("step"), row.text("result"));
  }
  return rows;
}

/// Returns the reasons why the run is invalid; empty if it is valid.
std::vector<std::string> invalidities(const std::vector<IoErrorRow>& rows) {
  std::vector<std::string> said;
  bool lasting_data = false, reported = false;
  for (const IoErrorRow& row : rows) {
    if (!row.measured()) continue;
    const bool control = row.failed == "none";
    if (control && !row.surprise.empty())
      said.push_back(fmt::format("control {}: {}", row.key, row.surprise));
    if (!control && row.requests_failed == 0)
      said.push_back(fmt::format("{}: the fault never occurred", row.key));
    if (!row.lasting || row.failed != "data-overwrite") continue;
    lasting_data = true;
    reported |= row.first == "EIO" || row.second == "EIO" || row.after_sync == "EIO";
  }
  if (lasting_data && !reported)
    said.emplace_back("data writes failed permanently, but no fsync failed with EIO");
  return said;
}

std::string answers(const IoErrorRow& row) {
  return fmt::format("{} {} {} {}", row.first, row.second, row.reopened, row.after_sync);
}
std::string contents(const IoErrorRow& row) {
  return fmt::format("{} {} {}", row.cached, row.reread, row.recovered);
}
std::string later_answers(const IoErrorRow& row) {
  return fmt::format("{} {} {}", row.later, row.other, row.new_file);
}

std::string table_of(const std::vector<IoErrorRow>& rows) {
  std::string text =
      fmt::format("{:46} {:22} {:6} {:18} {:11} {:22} {}\n", "cell", "fsync: 1st 2nd re sync",
                  "syncfs", "later fsync: a b c", "mount", "a: cache reread end", "after recovery");
  for (const IoErrorRow& row : rows) {
    if (!row.measured()) {
      text += fmt::format("{:46} {}: {}\n", row.key, row.verdict, row.why);
      continue;
    }
    text += fmt::format("{:46} {:22} {:6} {:18} {:11} {:22} {}\n", row.key, answers(row),
                        row.syncfs, later_answers(row), row.state, contents(row), row.check);
    if (!row.surprise.empty()) text += fmt::format("    {}\n", row.surprise);
    if (!row.documented.empty()) text += fmt::format("    documented: {}\n", row.documented);
  }
  return text;
}

std::string steps_html(const IoErrorRow& row) {
  std::vector<std::vector<std::string>> lines;
  lines.reserve(row.steps.size());
  for (const auto& [step, result] : row.steps)
    lines.push_back({"<code>" + escape(step) + "</code>", escape(result)});
  return html_table({{"step"}, {"result"}}, lines);
}

std::vector<Section> sections_of(const std::vector<IoErrorRow>& rows, std::int64_t run) {
  std::vector<std::vector<std::string>> table;
  std::string lists;
  for (const IoErrorRow& row : rows) {
    const std::string name =
        fmt::format("<span id=\"{}\">{}</span>", anchor("cell", row.key), escape(row.key));
    if (!row.measured()) {
      table.push_back({name, escape(row.verdict + ": " + row.why), "", "", "", "", "", "", ""});
      continue;
    }
    const std::string documented =
        row.documented.empty() ? ""
                               : "<br><small>documented: " + escape(row.documented) + "</small>";
    table.push_back({name, escape(row.block), escape(answers(row)), escape(row.syncfs),
                     escape(later_answers(row)), escape(row.state), escape(contents(row)),
                     escape(row.check), escape(row.surprise) + documented});
    if (!row.surprise.empty())
      lists += folded({.summary = fmt::format("{} {}: <b>{}</b>", filesystem_dot(row.filesystem),
                                              escape(row.key), escape(row.surprise)),
                       .html = steps_html(row),
                       .id = anchor("surprise", row.key),
                       .css_class = "cell"});
  }
  const std::string all = html_table({{"cell"},
                                      {"first failed request"},
                                      {"fsync: first, second, reopened, after sync"},
                                      {"syncfs"},
                                      {"later fsync: same file, another file, new file"},
                                      {"mount"},
                                      {"the written data: page cache, read again, at the end"},
                                      {"after recovery"},
                                      {"surprise"}},
                                     table, "cards");
  return {
      {.id = "surprises",
       .title = "Surprises and their operations",
       .html = (lists.empty() ? "<p>None.</p>\n" : lists) + query_note("io_error_steps", run)},
      {.id = "cells",
       .title = "Every cell",
       .html = details(fmt::format("{} cells", rows.size()), all) + query_note("io_errors", run)}};
}

json json_of(const IoErrorRow& row) {
  return {{"key", row.key},
          {"verdict", row.verdict},
          {"failed", valid_utf8(row.block)},
          {"requests_failed", row.requests_failed},
          {"fsync", {row.first, row.second, row.reopened, row.after_sync}},
          {"syncfs", row.syncfs},
          {"later", {row.later, row.other, row.new_file}},
          {"mount", row.state},
          {"cached", row.cached},
          {"reread", row.reread},
          {"recovered", row.recovered},
          {"check", valid_utf8(row.check)},
          {"surprise", valid_utf8(row.surprise)},
          {"documented", row.documented}};
}

}  // namespace

Result<bool> is_io_errors(db::Database& database, std::optional<std::int64_t> run) {
  TRY(auto select,
      db::Statement::prepare(database.handle(),
                             "SELECT count(*) FROM io_error JOIN trial ON trial.id = trial_id "
                             "WHERE run_id = coalesce(?, (SELECT max(id) FROM run))"));
  TRY(const auto row, select.bind(run).step());
  return row && select.integer(0) > 0;
}

Result<IoErrorsReport> io_errors_report(db::Database& database, std::optional<std::int64_t> run) {
  IoErrorsReport report;
  report.run = run.value_or(0);
  if (!run) {
    TRY(const auto newest, db::query_integer(database.handle(), "SELECT max(id) FROM run"));
    report.run = newest;
  }
  TRY(const auto table, run_query(database, "io_errors", report.run));
  TRY(const auto steps, run_query(database, "io_error_steps", report.run));
  const std::vector<IoErrorRow> rows = rows_of(table, steps);
  const std::vector<std::string> invalid = invalidities(rows);
  report.valid = invalid.empty();
  report.cells = static_cast<std::int64_t>(rows.size());
  json cells = json::array();
  std::int64_t surprising = 0;
  for (const IoErrorRow& row : rows) {
    report.not_measured += row.measured() ? 0 : 1;
    surprising += row.measured() && !row.surprise.empty() ? 1 : 0;
    cells.push_back(json_of(row));
  }
  std::string verdict;
  for (const std::string& each : invalid) verdict += "INVALID: " + each + "\n";
  const std::string counts = fmt::format("cells: {}; surprising: {}; not measured: {}",
                                         report.cells, surprising, report.not_measured);
  report.text = table_of(rows) + verdict + counts + "\n";
  report.summary = {{"run", report.run},        {"cells", cells},
                    {"valid", report.valid},    {"invalid", invalid},
                    {"surprising", surprising}, {"not_measured", report.not_measured}};
  report.html = framed_page(
      {.title = "io-errors",
       .opening = fmt::format(
           "<header>\n<p class=\"kind\">A survey of failing requests</p>\n<h1>io-errors</h1>\n"
           "<p class=\"answer\">{}</p>\n<p>{}</p>\n</header>\n",
           escape(counts), escape(verdict)),
       .sections = sections_of(rows, report.run)});
  return report;
}

}  // namespace headcrash::report
