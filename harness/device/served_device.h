#pragma once
// An emulated device served by a child process: over NBD in real time, or over vhost-user to a
// guest in virtual time (plugin/servers/timetravel/calendar.h names the additional sockets).
//
// The child dies with this process, even if this process is killed. The destructor stops the server
// and waits for it; the recording is then complete.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/server_child.h"

namespace headcrash::device {

struct ServedDeviceSpec {
  std::string profile;  ///< name or path of a .toml file; empty if `machine` is set
  std::optional<std::filesystem::path> machine;  ///< file that describes several devices
  std::uint64_t size_bytes = 0;                  ///< 0 for the drive's full size
  std::optional<bool> write_cache;               ///< nullopt for the profile's setting
  /// The fate of a sector that is being written when the power is cut (plugin/model/core/tear.h).
  /// If empty, the profile's setting applies.
  std::string tear{};
  bool virtual_time = false;  ///< ignores `clock`
  /// Virtual nanoseconds charged per nanosecond of host processor time (timetravel/calendar.h).
  double charge = 0;
  std::string clock = "real";
  std::uint64_t seed = 1;
  std::string cut;                    ///< trigger in its text form; empty for no cut
  std::vector<std::string> faults{};  ///< each in its text form
  /// Directory for the disks' contents; unset to keep the contents in memory.
  std::optional<std::filesystem::path> store;
  /// File for the recording. Must not exist yet if `store` is also set.
  std::optional<std::filesystem::path> recording;
  /// Socket through which the disks are served; by default nbd.sock or vhost.sock in the scratch
  /// directory.
  std::optional<std::filesystem::path> socket;
  /// The control socket; by default control.sock in the scratch directory.
  std::optional<std::filesystem::path> control_socket;
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
