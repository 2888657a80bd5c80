#pragma once
// The usage of the host's resources.

#include <cstdint>
#include <string>

namespace headcrash::cli {

/// Returns the CPU time of this process, its exited children, and its running children (fields 14
/// and 15 of /proc/PID/stat).
double cpu_seconds_used();

/// Returns the largest amount of memory that this process has used so far. Guests are other
/// processes, and are not included.
std::uint64_t peak_memory_bytes();
std::string peak_memory_text();  ///< "at most 123 MiB of memory"

}  // namespace headcrash::cli
