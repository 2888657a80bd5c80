// Parses litmus tests, and finds them by number, name or free text (litmus_test.h).
#include "harness/contract/litmus_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "headcrash_contract_embedded.h"
#include "plugin/base/named_file.h"
#include "plugin/base/names.h"
#include "plugin/base/nearest.h"
#include "plugin/base/strict_table.h"

namespace headcrash::contract {
namespace {

using base::StrictTable;
using workload::Operation;

constexpr std::int64_t kLargestNumber = 999;
constexpr auto kPromises = base::names<PromiseKind>(
    {"posix", "man", "documented", "list", "literature", "de-facto", "none"});
constexpr auto kPromiseTitles = base::names<PromiseKind>(
    {"POSIX", "man page", "documented", "mailing list", "literature", "de facto", "not promised"});

Result<PromiseKind> parse_promise_kind(const std::string& word, const std::string& subject) {
  if (const auto kind = kPromises.parse(word)) return *kind;
  const std::vector<std::string> known{"posix",      "man",      "documented", "list",
                                       "literature", "de-facto", "none"};
  return fail(subject, fmt::format("unknown source of a promise \"{}\"", word),
              base::suggest(word, known));
}

Result<std::vector<Operation>> parse_list(const std::vector<std::string>& lines,
                                          const std::string& subject) {
  std::vector<Operation> operations;
  for (const std::string& line : lines) {
    TRY(auto operation, workload::parse_operation(line, subject));
    operations.push_back(std::move(operation));
  }
  return operations;
}

/// Parses the promises of a test. A value in [test.promises] is a kind, optionally followed by a
/// colon and the source of the promise.
Result<void> read_promises(const StrictTable& table, LitmusTest& test) {
  std::string word;
  TRY(table.take("promise", word));
  TRY(table.take("source", test.promise.source));
  TRY(test.promise.kind, parse_promise_kind(word, table.subject("promise")));
  TRY(const auto families, table.table("promises"));
  if (!families) return {};
  for (const std::string& family : families->keys()) {
    std::string text;
    TRY(families->take(family, text));
    const std::size_t colon = std::min(text.find(": "), text.size());
    Promise& promise = test.promises[family];
    TRY(promise.kind, parse_promise_kind(text.substr(0, colon), families->subject(family)));
    if (colon < text.size()) promise.source = text.substr(colon + 2);
  }
  return {};
}

Result<void> read_literature(const StrictTable& table, LitmusTest& test) {
  TRY(const auto systems, table.table("literature"));
  if (!systems) return {};
  for (const std::string& system : systems->keys()) {
    std::string& text = test.literature[system];
    TRY(systems->take(system, text));
    if (!text.starts_with("kept: ") && !text.starts_with("broken: "))
      return fail(systems->subject(system), fmt::format("has no answer: \"{}\"", text),
                  "begin with \"kept: \" or \"broken: \", followed by the source");
  }
  return {};
}

Result<void> read_rows(const StrictTable& table, LitmusTest& test) {
  std::vector<std::string> texts, steps;
  TRY(table.take("allowed", texts));
  TRY(table.take("broken-by", steps));
  RowLimits limits{.operations = test.operations.size()};
  for (std::size_t i = 0; i < test.operations.size(); ++i)
    if (workload::is_persistence_point(test.operations[i])) limits.last_persistent = i;
  std::vector<Row> rows;
  for (const std::string& text : texts) {
    TRY(auto row, parse_row(text, limits, table.subject("allowed")));
    rows.push_back(std::move(row));
  }
  TRY(auto states, states_of(test.initial, test.operations, table.subject("operations")));
  test.allowed = AllowedSet(std::move(rows), std::move(states));
  for (const std::string& text : steps) {
    TRY(auto step, parse_defect_step(text, test.operations.size(), table.subject("broken-by")));
    test.defect.push_back(std::move(step));
  }
  return {};
}

Result<LitmusTest> parse_test(const StrictTable& table, const std::string& group) {
  TRY(table.only({"number", "name", "title", "relies", "initial", "operations", "allowed",
                  "promise", "source", "promises", "literature", "broken-by"}));
  for (const char* key :
       {"number", "name", "title", "relies", "operations", "allowed", "promise", "broken-by"})
    if (!table.has(key)) return fail(table.subject(key), "is missing", "every test needs this key");
  LitmusTest test{.group = group};
  std::int64_t number = 0;
  TRY(table.take("number", number, {1, kLargestNumber}));
  test.number = static_cast<int>(number);
  TRY(table.take("name", test.name));
  TRY(table.take("title", test.title));
  TRY(table.take("relies", test.relies));
  std::vector<std::string> initial, operations;
  TRY(table.take("initial", initial));
  TRY(table.take("operations", operations));
  TRY(test.initial, parse_list(initial, table.subject("initial")));
  TRY(test.operations, parse_list(operations, table.subject("operations")));
  TRY(read_promises(table, test));
  TRY(read_literature(table, test));
  TRY(read_rows(table, test));
  return test;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char letter) { return std::tolower(letter); });
  return result;
}

/// Splits text into words of letters and digits, in lower case.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char letter : lower(text) + " ") {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      word += letter;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  return words;
}

/// Returns the score of a test for `words`. Words that occur in its name, title or group count more
/// than words that occur elsewhere.
int rating(const LitmusTest& test, const std::vector<std::string>& words) {
  constexpr int kTitle = 8, kElsewhere = 1;
  std::string elsewhere = test.relies;
  for (const Operation& operation : test.operations) elsewhere += " " + workload::format(operation);
  const auto titled = words_of(test.name + " " + test.title + " " + test.group);
  const auto others = words_of(elsewhere);
  int rated = 0;
  for (const std::string& word : words) {
    if (std::ranges::find(titled, word) != titled.end()) {
      rated += kTitle;
    } else if (std::ranges::find(others, word) != others.end()) {
      rated += kElsewhere;
    }
  }
  return rated;
}

}  // namespace

std::string_view name(PromiseKind kind) {
  return kPromiseTitles[kind];
}

std::vector<Operation> LitmusTest::whole_list() const {
  std::vector<Operation> list = initial;
  list.push_back({.kind = Operation::Kind::sync});
  list.insert(list.end(), operations.begin(), operations.end());
  return list;
}

const Promise& LitmusTest::promise_of(std::string_view filesystem) const {
  const Promise* best = &promise;
  std::size_t longest = 0;
  for (const auto& [prefix, each] : promises) {
    if (!filesystem.starts_with(prefix) || prefix.size() < longest) continue;
    best = &each;
    longest = prefix.size();
  }
  return *best;
}

std::string LitmusTest::literature_on(std::string_view filesystem) const {
  const auto found = literature.find(filesystem);
  return found == literature.end() ? "" : found->second;
}

LitmusTest LitmusTest::with_initial_fsyncs() const {
  LitmusTest test = *this;
  for (const oracle::ObservedObject& object : allowed.states().front()) {
    if (object.type == FileType::regular)
      test.initial.push_back({.kind = Operation::Kind::fsync, .path = object.path});
    if (object.type == FileType::directory)
      test.initial.push_back({.kind = Operation::Kind::fsync_directory, .path = object.path});
  }
  test.initial.push_back({.kind = Operation::Kind::fsync_directory, .path = "."});
  return test;
}

Result<std::vector<LitmusTest>> parse_tests(std::string_view text, const std::string& file_name,
                                            const std::string& group) {
  TRY(const auto root, StrictTable::parse(text, file_name));
  TRY(root.only({"test"}));
  TRY(const auto tables, root.tables("test"));
  std::vector<LitmusTest> tests;
  for (const StrictTable& table : tables) {
    TRY(auto test, parse_test(table, group));
    tests.push_back(std::move(test));
  }
  return tests;
}

Result<std::vector<LitmusTest>> all_tests() {
  std::vector<LitmusTest> tests;
  for (const base::BuiltInFile& file : base::built_in(embedded_files())) {
    const std::string group(file.name.substr(0, file.name.rfind('.')));
    TRY(auto some, parse_tests(file.text, std::string(file.name), group));
    std::ranges::move(some, std::back_inserter(tests));
  }
  std::ranges::sort(tests, {}, &LitmusTest::number);
  return tests;
}

Result<std::vector<LitmusTest>> select_tests(std::span<const std::string> words) {
  TRY(auto tests, all_tests());
  if (words.empty()) return tests;
  std::set<int> chosen;
  for (const std::string& word : words) {
    const std::size_t before = chosen.size();
    bool known = false;
    for (const LitmusTest& test : tests) {
      if (word != std::to_string(test.number) && word != test.name && word != test.group) continue;
      chosen.insert(test.number);
      known = true;
    }
    if (known || chosen.size() > before) continue;
    std::vector<std::string> names;
    for (const LitmusTest& test : tests) {
      names.push_back(test.name);
      if (std::ranges::find(names, test.group) == names.end()) names.push_back(test.group);
    }
    const std::string near = base::nearest(word, names);
    return fail("--test", fmt::format("there is no litmus test or group \"{}\"", word),
                near.empty() ? "headcrash contract --list lists them"
                             : fmt::format("did you mean \"{}\"?", near));
  }
  std::erase_if(tests, [&](const LitmusTest& test) { return !chosen.contains(test.number); });
  return tests;
}

std::vector<LitmusTest> find_tests(std::string_view text, std::size_t most) {
  auto tests = all_tests();
  if (!tests) return {};
  const std::vector<std::string> words = words_of(text);
  std::vector<std::pair<int, LitmusTest>> rated;
  for (LitmusTest& test : *tests)
    if (const int points = rating(test, words); points > 0) rated.emplace_back(-points, test);
  std::ranges::stable_sort(rated, {}, [](const auto& each) { return each.first; });
  std::vector<LitmusTest> found;
  for (auto& [points, test] : rated)
    if (found.size() < most) found.push_back(std::move(test));
  return found;
}

}  // namespace headcrash::contract
