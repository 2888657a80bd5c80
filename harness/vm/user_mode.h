#pragma once
// User-mode Linux as a guest in virtual time. The kernel runs as a program on the host. A server
// provides its disks and its clock (plugin/servers/timetravel/calendar.h).

#include <memory>

#include "harness/vm/machine.h"

namespace headcrash::vm {

/// Returns the command line. It disables glibc's rseq, because user-mode Linux unmaps the rseq area
/// of the guest's programs, and the host's kernel would then kill the programs.
std::vector<std::string> user_mode_command(const GuestSpec& spec,
                                           const std::filesystem::path& scratch);

/// Boots the guest and waits until its agent responds. The logs are in `scratch`. Errors quote the
/// last output.
Result<std::unique_ptr<GuestProcess>> launch_user_mode(const GuestSpec& spec,
                                                       const std::filesystem::path& scratch);

}  // namespace headcrash::vm
