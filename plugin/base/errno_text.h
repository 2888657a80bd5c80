#pragma once
// What a system call's error means, in words, with the name that a kernel's source has for it.

#include <string>

namespace headcrash::base {

/// "No space left on device (ENOSPC)". What file systems answer to a wrong checksum or a damaged
/// structure is said as that: glibc's own words for it are "Bad message".
std::string errno_text(int error);

}  // namespace headcrash::base
