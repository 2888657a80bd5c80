#pragma once
// Helpers for commands that serve disks: format QEMU's options for a shell, run a command with
// these options, and report power changes.

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/model/core/simulation.h"

namespace headcrash::cli {

/// Joins words into a shell command line, with quotes where a POSIX shell needs them.
std::string shell_line(const std::vector<std::string>& words);

/// Runs the user's command with the disks' options as additional arguments. Returns the command's
/// exit code.
int run_command(std::vector<std::string> command, const std::vector<std::string>& disk);

/// Prints a line to standard error whenever the power is cut or returns.
class PowerReport {
 public:
  void observe(bool on, std::uint64_t cuts, model::TimeNs last_cut_at);

 private:
  std::uint64_t cuts_ = 0;
  bool on_ = true;
};

}  // namespace headcrash::cli
