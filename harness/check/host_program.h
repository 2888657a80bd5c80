#pragma once
// Runs a program on the host under strace(1), to learn what it prints and which files it needs.

#include <chrono>
#include <filesystem>
#include <istream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::check {

struct HostCommand {
  std::vector<std::string> argv;
  /// The whole environment. The variables of headcrash itself are not passed on.
  std::vector<std::pair<std::string, std::string>> environment;
  std::filesystem::path folder;  ///< the working folder; it must exist
  std::string input;             ///< for standard input
  std::chrono::seconds limit{60};
};

struct HostRun {
  int exit_code = 0;  ///< 128 + signal if a signal ended it
  std::string output, errors;
  double seconds = 0;
  /// Absolute paths of files, symbolic links and folders that it used, as it named them. Its
  /// working folder, /proc, /sys and /dev are left out.
  std::set<std::filesystem::path> paths;
};

/// Runs the command and waits for it. `scratch` takes its output and the trace. Fails if strace is
/// missing or may not trace, if the program cannot be started, or if it exceeds the limit.
Result<HostRun> run_on_host(const HostCommand& command, const std::filesystem::path& scratch);

/// Returns the paths in the output of `strace -f -y -z -e trace=%file`. Relative names are relative
/// to the folder that strace prints with them; names without one are ignored.
std::set<std::filesystem::path> traced_paths(std::istream&& trace);

/// Returns `text` as one word for sh.
std::string shell_word(std::string_view text);

}  // namespace headcrash::check
