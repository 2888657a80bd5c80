#pragma once
// Runs one program to its end, with limits on time and retained output.
//
// The program runs in a separate process group; at the time limit the whole group is killed. Its
// input is an anonymous file, so that no pipe has to be fed while two others are drained. After a
// normal end, child processes that it left stay alive, but lose the pipes.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

inline constexpr std::size_t kKeptOutputBytes = 64 << 10;

struct Program {
  std::vector<std::string> argv{};  ///< argv[0] is searched in PATH
  std::string input{};
  std::chrono::milliseconds timeout{0};
  /// Receives standard output as it arrives, completely. Returning false ends the program as its
  /// time limit would.
  std::function<bool(std::string_view bytes)> on_output{};
};

struct ProgramEnd {
  int exit = 0;  ///< exit code, or 128 + signal
  bool timed_out = false;
  bool refused = false;        ///< on_output returned false
  std::string output, errors;  ///< last kKeptOutputBytes of each
  std::int64_t wall_ms = 0;
};

/// Runs a program. Errors are reasons why it could not be started (ENOENT, EACCES, ...).
VfsResult<ProgramEnd> run_program(const Program& program);

}  // namespace headcrash::guest
