#pragma once
// Runs one program to its end, with limits on time and retained output.
//
// The program runs in a separate process group; at the time limit the whole group is killed.
// Standard input is an anonymous file, so only the two output pipes need service. If the program
// ends normally, its remaining child processes stay alive, but the other ends of their pipes are
// closed.

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
  /// Receives all standard output as it arrives. If it returns false, the program is killed, as at
  /// the time limit.
  std::function<bool(std::string_view bytes)> on_output{};
};

struct ProgramEnd {
  int exit = 0;  ///< exit code, or 128 + signal
  bool timed_out = false;
  bool refused = false;        ///< on_output returned false, so the program was killed
  std::string output, errors;  ///< the last kKeptOutputBytes of each stream
  std::int64_t wall_ms = 0;
};

/// Runs a program. Fails with an errno (ENOENT, EACCES, ...) if the program cannot be started.
VfsResult<ProgramEnd> run_program(const Program& program);

}  // namespace headcrash::guest
