#pragma once
// Finds kernel errors in a guest's console output.
//
// Two kinds of messages are distinguished. An oops reports a kernel defect, which is an error
// regardless of the disk: a panic, a failed assertion, a lockup, or a warning with a stack trace. A
// damage message is a file system's report that its structures are damaged. After a power cut, such
// a message is a finding about the file system's promises. After injected read errors it is
// expected. The caller decides. Plain I/O errors, and a file system that shuts down or becomes
// read-only because of them, count as neither.

#include <optional>
#include <string>
#include <string_view>

namespace headcrash::vm {

/// Returns the first line that reports a kernel defect.
std::optional<std::string> find_oops(std::string_view console);
/// Returns the first line in which a file system reports damage.
std::optional<std::string> find_damage_message(std::string_view console);

}  // namespace headcrash::vm
