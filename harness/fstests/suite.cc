// Reads the lists of groups of fstests (suite.h).
#include "harness/fstests/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "plugin/base/nearest.h"
#include "plugin/base/text_file.h"

namespace headcrash::fstests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDangerous = "dangerous";

/// A test and the groups to which it belongs.
struct ListedTest {
  std::string name;
  std::vector<std::string> groups;
};

/// Returns the text of a line before its comment.
std::string without_comment(const std::string& line) {
  return line.substr(0, line.find('#'));
}

/// Adds the tests of one folder, such as "generic". Does nothing if the folder has no list.
Result<void> add_tests(const Suite& suite, const std::string& folder,
                       std::vector<ListedTest>& tests) {
  const fs::path list = suite.folder() / "tests" / folder / "group.list";
  std::error_code error;
  if (!fs::exists(list, error)) return {};
  TRY(const auto text, base::read_text_file(list.string()));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(without_comment(line));
    ListedTest test;
    if (!(words >> test.name)) continue;
    test.name = folder + "/" + test.name;
    for (std::string group; words >> group;) test.groups.push_back(group);
    tests.push_back(std::move(test));
  }
  return {};
}

bool is_dangerous(const ListedTest& test) {
  return std::ranges::any_of(
      test.groups, [](const std::string& group) { return group.starts_with(kDangerous); });
}

}  // namespace

fs::path Suite::folder() const {
  return (rootfs / fs::path(check).relative_path()).parent_path();
}

Result<Suite> find_suite(const fs::path& rootfs, const std::string& command) {
  std::error_code error;
  if (!fs::is_directory(rootfs, error))
    return fail(rootfs.string(), "is not a folder",
                "set --rootfs to a folder with a root file system that contains the suite");
  const fs::path root = fs::canonical(rootfs, error);
  Suite suite{.rootfs = root, .check = {}};
  const fs::path on_host = fs::weakly_canonical(command, error);
  const fs::path relative = on_host.lexically_relative(root);
  if (fs::is_regular_file(on_host, error) && !relative.empty() && *relative.begin() != "..") {
    suite.check = "/" + relative.string();
  } else if (fs::path(command).is_absolute()) {
    suite.check = fs::path(command).lexically_normal().string();
  }
  if (suite.check.empty() ||
      !fs::is_regular_file(root / fs::path(suite.check).relative_path(), error))
    return fail(command, fmt::format("is not a program in {}", root.string()),
                "copy the built suite into this root file system (docs/fstests.md)");
  if (!fs::is_directory(suite.folder() / "tests", error))
    return fail(suite.folder().string(), "has no folder `tests`",
                "give the path of `check` in the folder of the built suite");
  return suite;
}

Result<std::vector<std::string>> select_tests(const Suite& suite, const std::string& type,
                                              const Selection& selection) {
  std::vector<ListedTest> tests;
  for (const std::string& folder : {std::string("generic"), std::string("shared"), type})
    TRY(add_tests(suite, folder, tests));
  if (tests.empty())
    return fail(suite.folder().string(), "has no lists of test groups",
                "build the suite with `make`, which creates them");
  std::set<std::string> chosen;
  std::vector<std::string> groups, names;
  for (const ListedTest& test : tests) {
    names.push_back(test.name);
    groups.insert(groups.end(), test.groups.begin(), test.groups.end());
    if (is_dangerous(test)) continue;
    if (std::ranges::find_first_of(test.groups, selection.groups) != test.groups.end())
      chosen.insert(test.name);
  }
  for (const std::string& group : selection.groups)
    if (std::ranges::find(groups, group) == groups.end())
      return fail("--group", fmt::format("the suite has no group {} for {}", group, type),
                  base::suggest(group, groups));
  for (const std::string& name : selection.tests) {
    if (std::ranges::find(names, name) == names.end())
      return fail("--test", fmt::format("the suite has no test {} for {}", name, type),
                  base::suggest(name, names));
    chosen.insert(name);
  }
  for (const std::string& name : selection.expunged) chosen.erase(name);
  return std::vector<std::string>(chosen.begin(), chosen.end());
}

Result<std::set<std::string>> read_expunged(const fs::path& file) {
  TRY(const auto text, base::read_text_file(file.string()));
  std::set<std::string> tests;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(without_comment(line));
    std::string name, more;
    if (!(words >> name)) continue;
    if (name.find('/') == std::string::npos || words >> more)
      return fail(fmt::format("{}:{}", file.string(), number), "is not the name of a test",
                  "write one test on each line, such as generic/034");
    tests.insert(name);
  }
  return tests;
}

}  // namespace headcrash::fstests
