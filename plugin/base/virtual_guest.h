#pragma once
// Constants shared by the virtual-time server (plugin/servers/timetravel), the agent in a guest,
// and the programs that start a guest.

#include <array>
#include <cstddef>
#include <cstdint>

namespace headcrash::virtual_guest {

/// Wall-clock time in the guest at model time 0, in nanoseconds since 1970: always 2026-01-01.
inline constexpr std::int64_t kTimeOfDayNs = 1'767'225'600'000'000'000;

/// Serial number of the agent's disk. It is also the name of the agent's port in guests that have
/// one.
inline constexpr const char* kAgentName = "headcrash.agent";
/// Byte offset on the agent's disk at which messages are transferred, and the maximum size of a
/// transfer. A message consists of its length in bytes (32 bits, little-endian) and its text.
inline constexpr std::size_t kStreamOffset = 64 << 10;
inline constexpr std::size_t kTransferBytes = 64 << 10;
inline constexpr std::size_t kLengthBytes = 4;

/// Suffixes of the additional sockets. The path of an additional socket is the path of the first
/// disk's socket, a dot and the suffix (plugin/servers/timetravel/calendar.h).
inline constexpr const char* kMarkSuffix = "mark";
inline constexpr const char* kPortSuffix = "port";
inline constexpr const char* kTimeSuffix = "time";
inline constexpr const char* kAgentSuffix = "agent";
/// Names of the disks that a machine may have in addition to its first disk `hd0`: a file system's
/// log, and the other members of a stack. Each name is also the suffix of that disk's socket
/// (plugin/servers/timetravel/served_stages.h).
inline constexpr std::array<const char*, 8> kOtherDisks{"log", "hd1", "hd2", "hd3",
                                                        "hd4", "hd5", "hd6", "hd7"};

}  // namespace headcrash::virtual_guest
