#pragma once
// Runs a program on the host under strace(1) to find out what it prints and which files it needs.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::check {

struct HostCommand {
  std::string name;  ///< for errors, such as "--verify"
  std::vector<std::string> argv;
  /// The environment of the program. HEADCRASH_FOLDER is added and has the value of `folder`;
  /// headcrash's own environment variables are not passed on.
  std::vector<std::pair<std::string, std::string>> environment;
  std::filesystem::path folder;  ///< the working directory; it must exist
  std::string input;             ///< standard input
  std::chrono::seconds limit{60};
  const std::atomic<bool>* interrupted = nullptr;  ///< may be null; true ends the run
};

struct HostRun {
  int exit_code = 0;  ///< exit code, or 128 + signal
  std::string output, errors;
  double seconds = 0;
  /// Absolute paths of the files, symbolic links and directories that the program used. They may
  /// contain "." and "..", as in the program's system calls. Excludes the program's working
  /// directory, /proc, /sys and /dev.
  std::set<std::filesystem::path> paths;
  std::uint64_t preallocated = 0;            ///< number of bytes reserved with fallocate(2)
  std::filesystem::path program_of_32_bits;  ///< one that was executed; may be empty
};

/// Runs the command and waits for it. `scratch` receives its output and the trace. Fails if strace
/// is missing or is not permitted to trace, if the program cannot be started, if it prints more
/// than 64 MB, or if the time limit is exceeded. No process of the command is running afterwards.
Result<HostRun> run_on_host(const HostCommand& command, const std::filesystem::path& scratch);

/// Returns the paths in the output of `strace -f -y -z -e trace=%file`. Relative paths are resolved
/// against the directory that strace prints with them; relative paths without such a directory are
/// ignored.
std::set<std::filesystem::path> traced_paths(std::istream&& trace);

/// Like traced_paths(), but returns only the programs that execve(2) started.
std::set<std::filesystem::path> executed_paths(std::istream&& trace);

/// Parses the output of `strace -y -e trace=fallocate`. For each file, takes the largest offset up
/// to which fallocate(2) reserved space, and returns the sum. Ignores calls that release space.
std::uint64_t preallocated_bytes(std::istream&& trace);

}  // namespace headcrash::check
