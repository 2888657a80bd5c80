#pragma once
// User-mode Linux as a guest in virtual time: a program of the host whose disks and clock are a
// server's (plugin/servers/timetravel/calendar.h).

#include <memory>

#include "harness/vm/machine.h"

namespace headcrash::vm {

/// The words that start it. Without randomness of addresses, so that equal runs are equal; without
/// glibc's rseq, whose memory user-mode Linux unmaps below its guest's programs, for which the
/// host's kernel kills them.
std::vector<std::string> user_mode_command(const GuestSpec& spec,
                                           const std::filesystem::path& scratch);

/// Boots it; the agent answers when this returns. `scratch` takes the logs. Errors name what it
/// said last.
Result<std::unique_ptr<GuestProcess>> launch_user_mode(const GuestSpec& spec,
                                                       const std::filesystem::path& scratch);

}  // namespace headcrash::vm
