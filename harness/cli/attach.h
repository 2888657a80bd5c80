#pragma once
// What the commands that serve disks share: QEMU's options as a line for a shell, and running a command with
// them.

#include <string>
#include <vector>

namespace headcrash::cli {

/// Quoted where a POSIX shell would read anything else than the words.
std::string shell_line(const std::vector<std::string>& words);

/// Runs the user's command with the disk's options added and returns its exit code.
int run_command(std::vector<std::string> command, const std::vector<std::string>& disk);

}  // namespace headcrash::cli
