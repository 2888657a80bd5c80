#pragma once
// Kernel errors on a guest's console.
//
// Two kinds of lines must be distinguished. An oops is a defect of the kernel regardless of the
// disk: a panic, a failed assertion, a lockup, or a warning with a stack. A damage message is a
// file system's report that its structures are damaged. After a crash it is a finding about the
// file system's promises; after injected read errors it is expected. The caller knows which
// applies. Plain I/O errors, and a file system that shuts down or becomes read-only because of
// them, are neither.

#include <optional>
#include <string>
#include <string_view>

namespace headcrash::vm {

/// Returns the first line that shows a kernel defect.
std::optional<std::string> find_oops(std::string_view console);
/// Returns the first line in which a file system reports damage.
std::optional<std::string> find_damage_message(std::string_view console);

}  // namespace headcrash::vm
