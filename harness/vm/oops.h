#pragma once
// Finds kernel errors in a guest's console output.
//
// Two kinds of messages are distinguished. An oops reports a defect of the kernel, which is an
// error whatever the disk contains: a panic, a failed assertion, a lockup, or a warning with a
// stack trace. A damage message is a file system's report that its structures are damaged. After a
// power cut, a damage message is a finding about the file system's promises. After injected read
// errors, it is expected. The caller knows which case applies. A plain I/O error is neither an oops
// nor a damage message, even if the file system then shuts down or becomes read-only.

#include <optional>
#include <string>
#include <string_view>

namespace headcrash::vm {

/// Returns the first line that reports a kernel defect, if any.
std::optional<std::string> find_oops(std::string_view console);
/// Returns the first line in which a file system reports damage, if any.
std::optional<std::string> find_damage_message(std::string_view console);

}  // namespace headcrash::vm
