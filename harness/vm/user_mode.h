#pragma once
// User-mode Linux as a guest in virtual time. The kernel runs as a program of the host, and a
// server provides its disks and clock (plugin/servers/timetravel/calendar.h).

#include <memory>

#include "harness/vm/machine.h"

namespace headcrash::vm {

/// Returns the command line. glibc's rseq is disabled because user-mode Linux unmaps the rseq area
/// underneath the guest's programs, which the host's kernel would then kill.
std::vector<std::string> user_mode_command(const GuestSpec& spec,
                                           const std::filesystem::path& scratch);

/// Boots the guest and waits until its agent responds. `scratch` receives the logs. Errors quote
/// the last output.
Result<std::unique_ptr<GuestProcess>> launch_user_mode(const GuestSpec& spec,
                                                       const std::filesystem::path& scratch);

}  // namespace headcrash::vm
