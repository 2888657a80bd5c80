#pragma once
// An emulated device served by a child process: over NBD in real time, or over vhost-user to a
// guest in virtual time (plugin/servers/timetravel/calendar.h names the additional sockets).
//
// The child dies with this process, even if this process is killed. The destructor stops the server
// and waits for it; the recording is then complete.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "harness/device/server_child.h"
#include "plugin/servers/emulation/settings.h"

namespace headcrash::device {

struct ServedDeviceSpec {
  /// The parameters of the server. `control` is by default control.sock in the scratch directory.
  /// In virtual time, `clock` is ignored.
  emulation::Settings machine;
  bool virtual_time = false;
  /// Virtual nanoseconds charged per nanosecond of host processor time (timetravel/calendar.h).
  double charge = 0;
  /// Socket through which the disks are served; by default nbd.sock or vhost.sock in the scratch
  /// directory.
  std::optional<std::filesystem::path> socket{};
};

class ServedDevice {
 public:
  /// Starts the server. `scratch` is an existing directory for the sockets; its path must be short
  /// enough for a socket address. If the server rejects the configuration, the error quotes its
  /// last output.
  static Result<std::unique_ptr<ServedDevice>> start(const ServedDeviceSpec& spec,
                                                     const std::filesystem::path& scratch);
  ~ServedDevice();

  std::filesystem::path socket() const;
  std::filesystem::path control_socket() const;
  ControlClient& control();
  /// Sets the clock: "off", "real" or "real:K". Has no effect in virtual time.
  Result<void> set_clock(const std::string& clock);
  bool alive() const;

  /// Stops the server cleanly (SIGTERM, then SIGKILL after 10 s) and waits for it. Fails if the
  /// server had already died.
  Result<void> stop();

 private:
  struct State;
  explicit ServedDevice(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::device
