#pragma once
// A folder of fstests (xfstests): its tests, their groups, and lists of tests that are not run.
//
// The suite is part of a root file system, in which it runs in a guest. The build of the suite
// creates the lists of groups that are read here.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::fstests {

struct Suite {
  std::filesystem::path rootfs;  ///< folder of the root file system on this host
  std::string check;             ///< path of the suite's program `check` in this root file system
  /// The folder of `check` on this host.
  std::filesystem::path folder() const;
};

/// Finds the suite. `command` is the path of `check`, either on this host, in the folder `rootfs`,
/// or inside the root file system. Fails if there is no such program, or no folder `tests` next to
/// it.
Result<Suite> find_suite(const std::filesystem::path& rootfs, const std::string& command);

struct Selection {
  std::vector<std::string> groups;  ///< such as "quick"
  std::vector<std::string> tests;   ///< such as "generic/034"
  std::set<std::string> expunged;   ///< tests that are not run
};

/// Returns the named tests and the tests of the named groups that apply to a type of file system,
/// sorted. Omits tests of "dangerous*" groups unless they are named individually, because such
/// tests damage their file system on purpose. Fails if a group or a named test is unknown.
Result<std::vector<std::string>> select_tests(const Suite& suite, const std::string& type,
                                              const Selection& selection);

/// Reads a list of tests in the format of `check -E`: one test on each line; "#" begins a comment.
/// Fails if the file cannot be read or if a line is not the name of a test.
Result<std::set<std::string>> read_expunged(const std::filesystem::path& file);

}  // namespace headcrash::fstests
