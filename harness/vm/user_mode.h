#pragma once
// User-mode Linux as a guest in virtual time. It is a program of the host; a server provides its
// disks and clock (plugin/servers/timetravel/calendar.h).

#include <memory>

#include "harness/vm/machine.h"

namespace headcrash::vm {

/// Returns its command line. Address randomisation is off, so that equal runs are equal. glibc's
/// rseq is off, because user-mode Linux unmaps its memory below the guest's programs, and the
/// host's kernel would kill them.
std::vector<std::string> user_mode_command(const GuestSpec& spec,
                                           const std::filesystem::path& scratch);

/// Boots the guest and waits until its agent responds. `scratch` holds the logs. Errors contain the
/// last output.
Result<std::unique_ptr<GuestProcess>> launch_user_mode(const GuestSpec& spec,
                                                       const std::filesystem::path& scratch);

}  // namespace headcrash::vm
