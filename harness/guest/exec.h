#pragma once
// Runs one program to its end. The time and the size of the output that is kept are limited.
//
// The program runs in its own process group, and at the time limit the whole group is killed.
// Standard input is an anonymous file, so only the two pipes for output need attention. If the
// program ends normally, its remaining child processes stay alive, but the other ends of their
// pipes are closed.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

inline constexpr std::size_t kKeptOutputBytes = 64 << 10;
inline constexpr int kCannotStart = 126, kNotFound = 127;  // exit codes of env(1)

struct Program {
  std::vector<std::string> argv{};  ///< argv[0] is searched for in PATH
  std::string input{};
  std::chrono::milliseconds timeout{0};
  std::vector<std::string> environment{};  ///< "NAME=VALUE"; if empty, the caller's environment
  /// If set, the program runs in a new process namespace, and this function is called in the child
  /// just before the program is executed. The child still shares the caller's memory at that time.
  /// If the program cannot be executed, the child prints the reason on standard error, and exits
  /// with kNotFound or kCannotStart.
  std::function<void()> enter{};
  /// Receives all standard output as it arrives. If it returns false, the program is killed in the
  /// same way as at the time limit.
  std::function<bool(std::string_view bytes)> on_output{};
};

struct ProgramEnd {
  int exit = 0;  ///< exit code, or 128 plus the number of the signal
  bool timed_out = false;
  bool refused = false;  ///< the program was killed because on_output returned false
  /// the last kKeptOutputBytes of standard output and of standard error
  std::string output, errors;
  std::int64_t wall_ms = 0;
};

/// Runs a program. If the program cannot be started, returns an errno (ENOENT, EACCES, ...).
VfsResult<ProgramEnd> run_program(const Program& program);

}  // namespace headcrash::guest
