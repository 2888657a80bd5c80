#pragma once
// What a guest's console says about the kernel's health.
//
// Two kinds of lines matter and must not be mixed up. An oops is a defect of the kernel whatever
// the disk
// did: a panic, a failed assertion, a lockup, a warning with a stack. A message is a file system
// that says its own structures are damaged: after a crash that is a finding about its promises,
// after injected read errors it is what it should say; the caller knows which. Plain I/O errors,
// and a file system that shuts down or turns read-only because of them, are neither.

#include <optional>
#include <string>
#include <string_view>

namespace headcrash::vm {

/// The first line that shows a kernel defect.
std::optional<std::string> find_oops(std::string_view console);
/// The first line in which a file system reports damage.
std::optional<std::string> find_damage_message(std::string_view console);

}  // namespace headcrash::vm
