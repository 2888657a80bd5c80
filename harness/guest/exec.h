#pragma once
// One program run to its end: bounded in time and in what is kept of its output.
//
// The program gets a process group of its own; at the time limit the whole group is killed. Its
// input is an anonymous file, so that no pipe has to be fed while two others are drained. Children
// it left behind stay alive after a normal end; they merely lose the pipes.

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
  std::vector<std::string> argv{};  ///< argv[0] is looked up in PATH
  std::string input{};
  std::chrono::milliseconds timeout{0};
  /// Gets standard output as it comes, all of it; false ends the program as its time limit would.
  std::function<bool(std::string_view bytes)> on_output{};
};

struct ProgramEnd {
  int exit = 0;  ///< exit code, or 128 + signal
  bool timed_out = false;
  bool refused = false;        ///< on_output said so
  std::string output, errors;  ///< the last kKeptOutputBytes of each
  std::int64_t wall_ms = 0;
};

/// The error is why it could not be started (ENOENT, EACCES, ...).
VfsResult<ProgramEnd> run_program(const Program& program);

}  // namespace headcrash::guest
