#pragma once
// headcrash serve --vhost-user: the emulated machine in this process, with a vhost-user socket for
// each of its disks: for a QEMU guest in real time, or for a guest of user-mode Linux in virtual
// time.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/device/served_device.h"

namespace headcrash::cli {

struct ServeVhost {
  device::ServedDeviceSpec machine;    ///< its NBD socket is not used
  std::filesystem::path socket;        ///< of the first disk; plugin/servers/vhost/machine_server.h
  std::uint64_t guest_memory_mib = 0;  ///< which QEMU shares with the server
  bool virtual_time =
      false;          ///< the machine owns its guest's clock (plugin/servers/timetravel/calendar.h)
  double charge = 0;  ///< of its processor time; 0: it takes none
  std::string name;   ///< what is served, for people
  bool as_json = false;
  std::vector<std::string>
      command;  ///< the guest to run with the options added; empty: they are printed
};

/// Serves until it is interrupted or the command has ended; the exit code.
int serve_vhost(const ServeVhost& what);

}  // namespace headcrash::cli
