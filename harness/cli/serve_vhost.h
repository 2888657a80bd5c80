#pragma once
// Implements `headcrash serve --vhost-user`. It runs the emulated machine in this process, with a
// vhost-user socket for each disk, and serves a QEMU guest in real time or a user-mode Linux guest
// in virtual time.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "plugin/servers/emulation/settings.h"

namespace headcrash::cli {

struct ServeVhost {
  emulation::Settings machine;  ///< must name a control socket
  /// Socket of the first disk. For the sockets of the other disks, see
  /// plugin/servers/vhost/machine_server.h.
  std::filesystem::path socket;
  /// Size of the guest's memory in MiB. QEMU shares this memory with the server.
  std::uint64_t guest_memory_mib = 0;
  /// Guest seconds charged for each second of host processor time; 0 for no charge.
  double charge = 0;
  std::string name;  ///< name of the machine in messages
  bool as_json = false;
  /// Command that starts the guest. The options that attach the disks are appended to the command.
  /// If the command is empty, serve_vhost() prints the options.
  std::vector<std::string> command;

  /// True if the server controls the guest's clock (plugin/servers/timetravel/calendar.h).
  bool virtual_time() const { return machine.clock.kind == emulation::Clock::Kind::virtual_time; }
};

/// Serves until it is interrupted or until the command has exited. Returns the exit code.
int serve_vhost(const ServeVhost& what);

}  // namespace headcrash::cli
