#pragma once
// What the commands that serve disks share: QEMU's options as a line for a shell, running a command
// with them, and telling of the power.

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/model/core/simulation.h"

namespace headcrash::cli {

/// Quoted where a POSIX shell would read anything else than the words.
std::string shell_line(const std::vector<std::string>& words);

/// Runs the user's command with the disk's options added and returns its exit code.
int run_command(std::vector<std::string> command, const std::vector<std::string>& disk);

/// A line on stderr for each cut, and for each return of the power.
class PowerReport {
 public:
  void look(bool on, std::uint64_t cuts, model::TimeNs last_cut_at);

 private:
  std::uint64_t cuts_ = 0;
  bool on_ = true;
};

}  // namespace headcrash::cli
