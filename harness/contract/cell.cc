// Counts states, and formats and parses tables (cell.h).
#include "harness/contract/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/explorer/explain/lost_writes.h"
#include "plugin/base/csv.h"
#include "plugin/base/names.h"

namespace headcrash::contract {
namespace {

using nlohmann::json;

constexpr auto kAnswers =
    base::names<Answer>({"kept", "broken", "unusable", "unsupported", "failed"});
constexpr std::size_t kNameWidth = 36, kColumnMin = 16;

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

/// Returns the second line of a cell: the kind of promise, and whether others found it kept.
std::string promise_line(const Cell& cell) {
  std::string line(name(cell.promise.kind));
  if (!cell.literature.empty())
    line += "; others: " + cell.literature.substr(0, cell.literature.find(':'));
  return line;
}

json as_json(const Cell& cell) {
  return {{"test", cell.test},
          {"system", cell.system},
          {"answer", name(cell.answer)},
          {"states", cell.states},
          {"broken", cell.broken},
          {"unusable", cell.unusable},
          {"unchecked", cell.unchecked},
          {"space", cell.space},
          {"whole", cell.whole},
          {"promise", name(cell.promise.kind)},
          {"source", cell.promise.source},
          {"literature", cell.literature},
          {"state", cell.smallest.state},
          {"missing", cell.smallest.missing},
          {"row", cell.smallest.row},
          {"found", cell.smallest.found},
          {"confirmed", cell.smallest.confirmed},
          {"problem", cell.problem},
          {"recording", cell.recording},
          {"seconds", cell.seconds}};
}

Result<Cell> parse_cell(const json& from, const std::string& subject) {
  Cell cell;
  try {
    cell.test = from.at("test").get<int>();
    cell.system = from.at("system").get<std::string>();
    const auto answer = kAnswers.parse(from.at("answer").get<std::string>());
    if (!answer) return fail(subject, "contains a cell with an unknown answer");
    cell.answer = *answer;
    cell.states = from.at("states").get<std::uint64_t>();
    cell.broken = from.at("broken").get<std::uint64_t>();
    cell.unusable = from.at("unusable").get<std::uint64_t>();
    cell.unchecked = from.at("unchecked").get<std::uint64_t>();
    cell.space = from.at("space").get<double>();
    cell.whole = from.at("whole").get<bool>();
    cell.smallest.state = from.at("state").get<std::string>();
    cell.smallest.missing = from.at("missing").get<std::size_t>();
    cell.smallest.row = from.at("row").get<std::string>();
    cell.smallest.found = from.at("found").get<std::string>();
    cell.smallest.confirmed = from.at("confirmed").get<bool>();
    cell.problem = from.at("problem").get<std::string>();
    cell.recording = from.at("recording").get<std::string>();
    cell.seconds = from.at("seconds").get<double>();
  } catch (const json::exception& error) {
    return fail(subject, error.what(), "use a file that headcrash contract wrote");
  }
  return cell;
}

}  // namespace

std::size_t missing_writes(const states::RunHistory& run, const states::CrashState& state) {
  const auto unflushed = explorer::unflushed_requests(run, state);
  return static_cast<std::size_t>(std::ranges::count_if(unflushed, [&](const auto request) {
    return explorer::missing_write(state, request).has_value();
  }));
}

std::string_view name(Answer answer) {
  return kAnswers[answer];
}

void Cell::add(const oracle::Judgement& judgement, const std::vector<oracle::Finding>& findings,
               const std::string& state, std::size_t missing) {
  if (judgement.verdict == oracle::Verdict::harness_error) {
    ++unchecked;
    problem = judgement.summary;
    return;
  }
  ++states;
  const auto row = std::ranges::find(findings, oracle::Tier::litmus, &oracle::Finding::tier);
  using enum oracle::Verdict;
  if (row != findings.end()) {
    if (++broken == 1 || missing < smallest.missing)
      smallest = {.state = state, .missing = missing, .row = row->expected, .found = row->found};
    return;
  }
  if (judgement.verdict != unmountable && judgement.verdict != not_repairable &&
      judgement.verdict != hang && judgement.verdict != oops)
    return;
  ++unusable;
  if (broken == 0 && (unusable == 1 || missing < smallest.missing))
    smallest = {.state = state,
                .missing = missing,
                .row = "the file system mounts",
                .found = judgement.summary};
}

void Cell::finish(const std::vector<states::Coverage>& coverage) {
  if (states == 0) {
    if (problem.empty()) problem = "the test produced no crash state";
    return;
  }
  whole = unchecked == 0;
  for (const states::Coverage& part : coverage) {
    space += part.space;
    if (!part.bound.empty()) whole = false;
  }
  answer = broken > 0 ? Answer::broken : unusable > 0 ? Answer::unusable : Answer::kept;
}

std::string Cell::text() const {
  if (answer == Answer::unsupported || answer == Answer::failed) return std::string(name(answer));
  return fmt::format("{} {}/{}{}", name(answer), answer == Answer::unusable ? unusable : broken,
                     states, whole ? "" : "+");
}

const Cell* Table::find(int test, std::string_view system) const {
  const auto found = std::ranges::find_if(
      cells, [&](const Cell& cell) { return cell.test == test && cell.system == system; });
  return found == cells.end() ? nullptr : &*found;
}

std::string as_text(const Table& table, std::size_t width) {
  std::size_t column = kColumnMin;
  for (const TableSystem& system : table.systems) column = std::max(column, system.name.size() + 2);
  const std::size_t fitting =
      std::max<std::size_t>(1, width > kNameWidth ? (width - kNameWidth) / column : 1);
  std::string text;
  for (std::size_t first = 0; first < table.systems.size(); first += fitting) {
    const std::size_t end = std::min(first + fitting, table.systems.size());
    text += fmt::format("{:<{}}", "", kNameWidth);
    for (std::size_t i = first; i < end; ++i)
      text += fmt::format("{:<{}}", table.systems[i].name, column);
    while (text.ends_with(' ')) text.pop_back();
    for (const LitmusTest& test : table.tests) {
      std::string top = fmt::format("{:>2} {}", test.number, test.title), below;
      top = fmt::format("{:<{}}", shortened(top, kNameWidth - 2), kNameWidth);
      below = fmt::format("   {:<{}}", shortened(test.allowed.rows()[0].text, kNameWidth - 5),
                          kNameWidth - 3);
      for (std::size_t i = first; i < end; ++i) {
        const Cell* const cell = table.find(test.number, table.systems[i].name);
        top += fmt::format("{:<{}}", cell == nullptr ? "-" : cell->text(), column);
        below += fmt::format("{:<{}}", cell == nullptr ? "" : name(cell->promise.kind), column);
      }
      while (top.ends_with(' ')) top.pop_back();
      while (below.ends_with(' ')) below.pop_back();
      text += "\n" + top + "\n" + below;
    }
    text += "\n";
    if (end < table.systems.size()) text += "\n";
  }
  return text;
}

std::string as_markdown(const Table& table) {
  std::string text = "| test | allowed |", line = "|---|---|";
  for (const TableSystem& system : table.systems) {
    text += fmt::format(" {} |", system.name);
    line += "---|";
  }
  text += "\n" + line + "\n";
  for (const LitmusTest& test : table.tests) {
    std::string rows;
    for (const Row& row : test.allowed.rows()) {
      std::string escaped = row.text;
      for (std::size_t at = 0; (at = escaped.find('|', at)) != std::string::npos; at += 2)
        escaped.insert(at, 1, '\\');
      rows += (rows.empty() ? "" : "; ") + escaped;
    }
    text += fmt::format("| {} {} | `{}` |", test.number, test.title, rows);
    for (const TableSystem& system : table.systems) {
      const Cell* const cell = table.find(test.number, system.name);
      text += cell == nullptr ? " - |"
                              : fmt::format(" {0}{1}{0}<br>{2} |", cell->lost() ? "**" : "",
                                            cell->text(), promise_line(*cell));
    }
    text += "\n";
  }
  return text;
}

std::string as_csv(const Table& table) {
  std::string text =
      "test,name,system,answer,broken,unusable,states,space,whole,promise,source,literature,"
      "state,missing,confirmed,row,found,problem\n";
  for (const Cell& cell : table.cells) {
    const auto test = std::ranges::find(table.tests, cell.test, &LitmusTest::number);
    const auto yes = [](bool holds) { return std::string(holds ? "yes" : "no"); };
    text += base::csv_line(base::CsvLine{
        std::to_string(cell.test), test == table.tests.end() ? "" : test->name, cell.system,
        std::string(name(cell.answer)), std::to_string(cell.broken), std::to_string(cell.unusable),
        std::to_string(cell.states), fmt::format("{:.0f}", cell.space), yes(cell.whole),
        std::string(name(cell.promise.kind)), cell.promise.source, cell.literature,
        cell.smallest.state, std::to_string(cell.smallest.missing), yes(cell.smallest.confirmed),
        cell.smallest.row, cell.smallest.found, cell.problem});
  }
  return text;
}

json as_json(const Table& table) {
  json systems = json::array(), cells = json::array(), tests = json::array();
  for (const TableSystem& system : table.systems)
    systems.push_back({{"name", system.name}, {"kernel", system.kernel}});
  for (const Cell& cell : table.cells) cells.push_back(as_json(cell));
  for (const LitmusTest& test : table.tests) {
    json rows = json::array(), operations = json::array(), initial = json::array();
    for (const Row& row : test.allowed.rows()) rows.push_back(row.text);
    for (const auto& each : test.initial) initial.push_back(workload::format(each));
    for (const auto& each : test.operations) operations.push_back(workload::format(each));
    tests.push_back({{"number", test.number},
                     {"name", test.name},
                     {"group", test.group},
                     {"title", test.title},
                     {"relies", test.relies},
                     {"initial", initial},
                     {"operations", operations},
                     {"allowed", rows}});
  }
  return {{"contract", 1},
          {"commit", table.commit},
          {"systems", systems},
          {"tests", tests},
          {"cells", cells}};
}

Result<Table> parse_table(const std::string& text, const std::string& file_name) {
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded() || !root.is_object() || !root.contains("contract"))
    return fail(file_name, "is not a contract table", "use a file that headcrash contract wrote");
  Table table;
  TRY(auto known, all_tests());
  try {
    table.commit = root.at("commit").get<std::string>();
    for (const json& each : root.at("systems"))
      table.systems.push_back(
          {each.at("name").get<std::string>(), each.at("kernel").get<std::string>()});
    for (const json& each : root.at("tests")) {
      const auto test = std::ranges::find(known, each.at("number").get<int>(), &LitmusTest::number);
      if (test == known.end() || test->name != each.at("name").get<std::string>())
        return fail(file_name,
                    fmt::format("contains test {}, which this version of headcrash does not have",
                                each.at("number").get<int>()),
                    "use the version of headcrash that wrote the file");
      table.tests.push_back(*test);
    }
    for (const json& each : root.at("cells")) {
      TRY(auto cell, parse_cell(each, file_name));
      const auto test = std::ranges::find(table.tests, cell.test, &LitmusTest::number);
      if (test == table.tests.end())
        return fail(file_name, "contains a cell whose test is missing");
      cell.promise = test->promise_of(cell.system);
      cell.literature = test->literature_on(cell.system);
      table.cells.push_back(std::move(cell));
    }
  } catch (const json::exception& error) {
    return fail(file_name, error.what(), "use a file that headcrash contract wrote");
  }
  return table;
}

std::vector<Difference> differences(const Table& one, std::string_view system, const Table& other,
                                    std::string_view other_system) {
  std::vector<Difference> list;
  for (const LitmusTest& test : one.tests) {
    const Cell* const first = one.find(test.number, system);
    const Cell* const second = other.find(test.number, other_system);
    if (first == nullptr || second == nullptr || first->answer == second->answer) continue;
    list.push_back({test.number, first, second});
  }
  return list;
}

}  // namespace headcrash::contract
