#pragma once
// What a server in virtual time (plugin/servers/timetravel) and those who are in a guest or start
// one agree about.

#include <cstddef>
#include <cstdint>

namespace headcrash::virtual_guest {

/// The guest's wall clock at model time 0, in nanoseconds since 1970: 2026-01-01, whenever it is
/// run.
inline constexpr std::int64_t kTimeOfDayNs = 1'767'225'600'000'000'000;

/// The serial number of the agent's disk, and the name of its port where there is one.
inline constexpr const char* kAgentName = "headcrash.agent";
/// The one place of that disk where is spoken, and how much at once: [bytes] text, the length 32
/// bits, little endian.
inline constexpr std::size_t kStreamOffset = 64 << 10;
inline constexpr std::size_t kTransferBytes = 64 << 10;
inline constexpr std::size_t kLengthBytes = 4;

/// What is added to the first disk's socket with a dot (plugin/servers/timetravel/calendar.h).
inline constexpr const char* kMarkSuffix = "mark";
inline constexpr const char* kPortSuffix = "port";
inline constexpr const char* kTimeSuffix = "time";
inline constexpr const char* kAgentSuffix = "agent";
/// A second disk, for a file system's log (plugin/servers/timetravel/served_stages.h).
inline constexpr const char* kLogSuffix = "log";

}  // namespace headcrash::virtual_guest
