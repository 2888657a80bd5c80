#pragma once
// Path lookup and tree walk. They are shared by all image readers and by the functions of
// system_under_test.h that use a reader. The image is untrusted. All damage is reported as an
// Error, including a directory that a walk reaches twice.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::adapters {

/// Limit on the number of names that one walk visits.
inline constexpr std::size_t kImageNamesMax = 1U << 24U;

/// Returns the inode of a path with components separated by '/'; "" is the root. Symbolic links are
/// not followed. `list(inode)` reads a directory and returns a Result that contains a range of
/// names as {name, inode}.
template <typename List>
Result<std::uint64_t> look_up_in_image(std::uint64_t root, std::string_view path,
                                       const List& list) {
  std::uint64_t at = root;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view component = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (component.empty()) continue;
    TRY(const auto names, list(at));
    const auto match =
        std::ranges::find_if(names, [&](const auto& entry) { return entry.name == component; });
    if (match == names.end())
      return fail(std::string(component), "no such name", "use ls to list names");
    at = match->inode;
  }
  return at;
}

/// Visits everything below the root, each directory before its contents. An inode with several
/// names is visited once per name. `list` is the same as in look_up_in_image(), except that it
/// omits "." and "..". `visit(path, entry)` reads an entry's inode and returns a Result that is
/// true for a directory. `damaged(inode, problem)` creates the Error that is returned for damage.
template <typename List, typename Visit, typename Damaged>
Result<void> walk_image(std::uint64_t root, const List& list, const Visit& visit,
                        const Damaged& damaged) {
  struct Open {
    std::string path;
    std::uint64_t inode = 0;
  };
  std::unordered_set<std::uint64_t> directories{root};
  std::vector<Open> open{{.path = "", .inode = root}};
  std::size_t seen = 0;
  while (!open.empty()) {
    const Open directory = std::move(open.back());
    open.pop_back();
    TRY(const auto names, list(directory.inode));
    for (const auto& entry : names) {
      if (++seen > kImageNamesMax) return damaged(directory.inode, "the tree has too many names");
      std::string path = directory.path.empty() ? entry.name : directory.path + '/' + entry.name;
      TRY(const auto is_directory, visit(path, entry));
      if (!is_directory) continue;
      if (!directories.insert(entry.inode).second)
        return damaged(entry.inode, fmt::format("is a directory with a second name, '{}'", path));
      open.push_back({.path = std::move(path), .inode = entry.inode});
    }
  }
  return {};
}

}  // namespace headcrash::adapters
