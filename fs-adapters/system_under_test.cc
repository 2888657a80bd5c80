// What is the same for every type (system_under_test.h): paths and trees over an ImageReader, names of
// systems.
#include "fs-adapters/system_under_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace headcrash::adapters {
namespace {

constexpr std::size_t kEntriesMax = 1U << 24U;  // of one walk

tl::unexpected<Error> damaged(std::uint64_t inode, std::string problem) {
  return fail(fmt::format("inode {}", inode), std::move(problem), "check the image");
}

}  // namespace

Result<std::uint64_t> ImageReader::lookup(std::string_view path) const {
  std::uint64_t at = root();
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view component = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (component.empty()) continue;
    const auto names = list(at);
    if (!names) return pass_on(names);
    const auto match = std::ranges::find(*names, component, &ImageName::name);
    if (match == names->end()) return fail(std::string(component), "no such name", "look with ls");
    at = match->inode;
  }
  return at;
}

Result<void> ImageReader::walk(
    const std::function<void(const std::string& path, const ImageInode&)>& visit) const {
  struct Open {
    std::string path;
    std::uint64_t number = 0;
  };
  std::unordered_set<std::uint64_t> directories{root()};
  std::vector<Open> open{{.path = "", .number = root()}};
  std::size_t seen = 0;
  while (!open.empty()) {
    const Open directory = std::move(open.back());
    open.pop_back();
    const auto names = list(directory.number);
    if (!names) return pass_on(names);
    for (const ImageName& entry : *names) {
      if (++seen > kEntriesMax) return damaged(directory.number, "the tree has too many names");
      const auto child = inode(entry.inode);
      if (!child) return pass_on(child);
      if (!child->allocated)
        return damaged(entry.inode, fmt::format("is not allocated, but named '{}'", entry.name));
      std::string path = directory.path.empty() ? entry.name : directory.path + '/' + entry.name;
      visit(path, *child);
      if (child->type != FileType::directory) continue;
      if (!directories.insert(entry.inode).second)
        return damaged(entry.inode, fmt::format("is a directory with a second name, '{}'", path));
      open.push_back({.path = std::move(path), .number = entry.inode});
    }
  }
  return {};
}

std::string SystemUnderTest::full_name() const {
  return fmt::format("{}-{}", type_->name(), description_.name);
}

bool FileSystemType::left_by_a_cut(const CheckReport& report) const {
  const auto may_be_left = [&](const CheckFinding& finding) {
    return std::ranges::any_of(systems(), [&](const std::unique_ptr<const SystemUnderTest>& system) {
      return !system->control() && system->may_leave(finding.kind);
    });
  };
  return report.more_findings == 0 && std::ranges::all_of(report.findings, may_be_left);
}

Result<std::unique_ptr<RepairTrials>> FileSystemType::repair_trials(std::span<const std::byte>) const {
  return fail(std::string(name()), "has no trials of repairs");
}

Result<const SystemUnderTest*> FileSystemType::find_system(std::string_view system) const {
  std::string names;
  for (const std::unique_ptr<const SystemUnderTest>& one : systems()) {
    if (one->name() == system) return one.get();
    names += (names.empty() ? "" : ", ") + one->name();
  }
  return fail(std::string(name()), "there is no variant called '" + std::string(system) + "'",
              "there are " + names);
}

}  // namespace headcrash::adapters
