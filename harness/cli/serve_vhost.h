#pragma once
// headcrash serve --vhost-user: runs the emulated machine in this process, with a vhost-user socket
// for each disk. Serves a QEMU guest in real time, or a guest of user-mode Linux in virtual time.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/device/served_device.h"

namespace headcrash::cli {

struct ServeVhost {
  device::ServedDeviceSpec machine;  ///< its NBD socket is unused
  std::filesystem::path socket;  ///< of the first disk; see plugin/servers/vhost/machine_server.h
  std::uint64_t guest_memory_mib = 0;  ///< shared by QEMU with the server
  /// The machine owns its guest's clock (plugin/servers/timetravel/calendar.h).
  bool virtual_time = false;
  double charge = 0;  ///< guest seconds per second of the host's processor; 0 for none
  std::string name;   ///< displayed name of the machine
  bool as_json = false;
  /// The guest to run with the options appended; if empty, prints the options.
  std::vector<std::string> command;
};

/// Serves until interrupted or until the command has ended; returns the exit code.
int serve_vhost(const ServeVhost& what);

}  // namespace headcrash::cli
