#pragma once
// Implements `headcrash serve --vhost-user`, which runs the emulated machine in this process with a
// vhost-user socket for each disk. Serves a QEMU guest in real time, or a user-mode Linux guest in
// virtual time.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/device/served_device.h"

namespace headcrash::cli {

struct ServeVhost {
  device::ServedDeviceSpec machine;  ///< the spec's `socket` is unused
  /// Socket of the first disk; see plugin/servers/vhost/machine_server.h.
  std::filesystem::path socket;
  /// Size of the guest's memory, which QEMU shares with the server.
  std::uint64_t guest_memory_mib = 0;
  /// Serves in virtual time: the server controls the guest's clock
  /// (plugin/servers/timetravel/calendar.h).
  bool virtual_time = false;
  double charge = 0;  ///< guest seconds charged per second of host processor time; 0 for no charge
  std::string name;   ///< the machine's displayed name
  bool as_json = false;
  /// Command that starts the guest, run with the options appended. If empty, prints the options.
  std::vector<std::string> command;
};

/// Serves until interrupted or until the command has exited. Returns the exit code.
int serve_vhost(const ServeVhost& what);

}  // namespace headcrash::cli
