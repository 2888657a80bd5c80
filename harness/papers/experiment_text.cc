// Formats an experiment as text and as JSON (experiment.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/papers/experiment.h"
#include "plugin/base/csv.h"
#include "results/report/frame/text_table.h"

namespace headcrash::experiment {
namespace {

using nlohmann::json;

std::string figure_text(const Figure& value) {
  if (!value) return "-";
  const double size = std::abs(*value);
  if (size >= 1000) return fmt::format("{:.0f}", *value);
  return size >= 100 ? fmt::format("{:.1f}", *value) : fmt::format("{:.3g}", *value);
}

json figure_json(const Figure& value) {
  return value ? json(*value) : json();
}

/// Formats a table. All columns except the first are right-aligned.
std::string text_of(const Table& table) {
  std::vector<std::string> titles;
  titles.reserve(table.columns.size());
  for (const std::string& column : table.columns)
    titles.push_back((titles.empty() ? "" : ">") + column);
  report::TextTable rows(titles);
  for (const auto& row : table.rows) rows.add(row);
  return fmt::format("  {}\n{}", table.title, rows.text(4));
}

bool any_interval(const ExperimentOutcome& outcome) {
  return std::ranges::any_of(outcome.answers, [](const ClaimAnswer& answer) {
    return std::ranges::any_of(answer.numbers,
                               [](const ClaimNumber& n) { return n.low.has_value(); });
  });
}

/// Returns the headings of the number columns.
const char* columns_of(const ExperimentOutcome& outcome) {
  const bool listed = std::ranges::any_of(outcome.answers, [](const ClaimAnswer& answer) {
    return !answer.numbers.empty() && !answer.tables_tell_all;
  });
  if (listed) return "paper      ours";
  return any_interval(outcome) ? "means over seeds" : "";
}

/// Returns the prefix of a rule in the text: its class, or an empty string if the rule compares a
/// run with the paper.
std::string mark_of(const ClaimRule& rule) {
  return rule.kind == RuleClass::paper ? "" : fmt::format("({}) ", name(rule.kind));
}

std::string text_of(const ClaimAnswer& answer) {
  std::string text = fmt::format("{}  {}\n", answer.id, answer.title);
  std::size_t width = 0;
  for (const ClaimNumber& n : answer.numbers) width = std::max(width, n.cell.size());
  for (const ClaimNumber& n : answer.numbers) {
    if (answer.tables_tell_all) break;
    const Figure ratio = n.ratio();
    text += fmt::format("  {:<{}}  {:<18} {:>9} {:>9} {:<9} {}\n", n.cell, width, n.quantity,
                        figure_text(n.paper), n.ours ? figure_text(n.ours) : "", n.unit,
                        n.ours ? (ratio ? fmt::format("x{:.2f}", *ratio) : "") : n.remark);
  }
  for (const ClaimRule& rule : answer.rules)
    text +=
        fmt::format("  [{}] {}{}: {}\n", name(rule.verdict), mark_of(rule), rule.text, rule.detail);
  for (const Table& table : answer.tables) text += text_of(table);
  for (const std::string& remark : answer.remarks) text += fmt::format("  {}\n", remark);
  return text + "\n";
}

json json_of(const Table& table) {
  return {{"table", table.name},
          {"title", table.title},
          {"columns", table.columns},
          {"rows", table.rows}};
}

json json_of(const Plot& plot) {
  json all = json::array();
  for (const Series& series : plot.series)
    all.push_back({{"series", series.name},
                   {"from", series.from_paper ? "paper" : "here"},
                   {"points", series.points}});
  return {
      {"plot", plot.name}, {"title", plot.title}, {"x", plot.x}, {"y", plot.y}, {"series", all}};
}

json json_of(const ClaimAnswer& answer) {
  json numbers = json::array(), rules = json::array();
  for (const ClaimNumber& n : answer.numbers)
    numbers.push_back({{"cell", n.cell},
                       {"quantity", n.quantity},
                       {"unit", n.unit},
                       {"paper", figure_json(n.paper)},
                       {"ours", figure_json(n.ours)},
                       {"ratio", figure_json(n.ratio())},
                       {"remark", n.ours ? "" : n.remark}});
  if (std::ranges::any_of(answer.numbers, [](const ClaimNumber& n) { return n.low.has_value(); })) {
    for (std::size_t i = 0; i < answer.numbers.size(); ++i) {
      numbers[i]["low"] = figure_json(answer.numbers[i].low);
      numbers[i]["high"] = figure_json(answer.numbers[i].high);
    }
  }
  for (const ClaimRule& r : answer.rules)
    rules.push_back({{"rule", r.text},
                     {"class", name(r.kind)},
                     {"verdict", name(r.verdict)},
                     {"executions", r.executions},
                     {"detail", r.detail}});
  json tables = json::array(), plots = json::array();
  for (const Table& table : answer.tables) tables.push_back(json_of(table));
  for (const Plot& plot : answer.plots) plots.push_back(json_of(plot));
  return {{"claim", answer.id}, {"part", answer.part}, {"title", answer.title},
          {"numbers", numbers}, {"rules", rules},      {"remarks", answer.remarks},
          {"tables", tables},   {"plots", plots}};
}

}  // namespace

namespace {

/// Formats the number of rules by class and verdict. Only rules of the first class compare runs
/// with the paper.
std::string totals_of(const ExperimentOutcome& outcome) {
  std::vector<std::string> titles{"rules, by class"};
  for (const Verdict verdict : kVerdicts) titles.push_back(fmt::format(">{}", name(verdict)));
  report::TextTable table(titles);
  bool any = false;
  for (const RuleClass kind : kRuleClasses) {
    std::vector<std::string> row{name(kind)};
    std::size_t sum = 0;
    for (const Verdict verdict : kVerdicts) {
      const std::size_t count = outcome.count(verdict, kind);
      sum += count;
      row.push_back(fmt::format("{}", count));
    }
    if (sum > 0) table.add(row);
    any = any || sum > 0;
  }
  return any ? table.text(0) : "";
}

json totals_json(const ExperimentOutcome& outcome) {
  json totals = json::object();
  for (const RuleClass kind : kRuleClasses)
    for (const Verdict verdict : kVerdicts)
      totals[name(kind)][name(verdict)] = outcome.count(verdict, kind);
  return totals;
}

}  // namespace

std::string as_text(const ExperimentOutcome& outcome) {
  std::string text =
      fmt::format("{:<40}{}   (seed {})\n\n", outcome.name, columns_of(outcome), outcome.seed);
  for (const ClaimAnswer& answer : outcome.answers) text += text_of(answer);
  std::uint64_t executions = 0;
  for (const Cell& cell : outcome.cells) executions += cell.executions;
  if (!outcome.cells.empty())
    text += fmt::format("{} cells, {} of them failed, {} executions; {:.0f} s of model time\n",
                        outcome.cells.size(), outcome.failed(), executions, outcome.modelled_s);
  const auto widest = std::ranges::max_element(outcome.cells, {}, &Cell::spread);
  if (executions > outcome.cells.size())
    text += fmt::format("executions of a cell differ by {:.1f} % at most: {}\n",
                        100 * widest->spread, widest->key);
  return text + totals_of(outcome);
}

std::string as_csv(const ExperimentOutcome& outcome) {
  const auto number = [](const Figure& value) {
    return value ? fmt::format("{:.6g}", *value) : std::string();
  };
  const std::vector<std::string> titles{
      "claim",      "kind",  "cell or rule",      "quantity", "unit", "paper",
      "ours",       "ratio", "verdict or remark", "low",      "high", "class",
      "executions", "detail"};
  std::string text = base::csv_line(titles);
  for (const ClaimAnswer& answer : outcome.answers) {
    for (const ClaimNumber& n : answer.numbers)
      text += base::csv_line(std::vector<std::string>{
          answer.id, "number", n.cell, n.quantity, n.unit, number(n.paper), number(n.ours),
          number(n.ratio()), n.ours ? "" : n.remark, number(n.low), number(n.high), "", "", ""});
    for (const ClaimRule& r : answer.rules)
      text += base::csv_line(std::vector<std::string>{answer.id, "rule", r.text, "", "", "", "", "",
                                                      name(r.verdict), "", "", name(r.kind),
                                                      fmt::format("{}", r.executions), r.detail});
  }
  return text;
}

json as_json(const ExperimentOutcome& outcome) {
  json answers = json::array();
  for (const ClaimAnswer& answer : outcome.answers) answers.push_back(json_of(answer));
  return {{"experiment", outcome.name},
          {"seed", outcome.seed},
          {"claims", answers},
          {"cells", outcome.cells.size()},
          {"failed", outcome.failed()},
          {"modelled_s", outcome.modelled_s},
          {"rules", totals_json(outcome)},
          {"interrupted", outcome.interrupted}};
}

}  // namespace headcrash::experiment
