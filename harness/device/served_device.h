#pragma once
// An emulated device being served by a child process: over NBD in real time, or over vhost-user to
// a guest in virtual time (plugin/servers/timetravel/calendar.h names the sockets beside its own).
//
// The child dies with this process, however that ends. Destroying a ServedDevice stops the server
// and waits for it, so that its recording is complete afterwards.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/server_child.h"

namespace headcrash::device {

struct ServedDeviceSpec {
  std::string profile;  ///< name or path of a .toml file; empty when there is a machine
  std::optional<std::filesystem::path> machine;  ///< file of several devices
  std::uint64_t size_bytes = 0;                  ///< 0: the whole drive
  std::optional<bool> write_cache;               ///< none: as the profile has it
  std::string
      /// what a cut leaves under the head (plugin/model/core/tear.h); empty: as the profile has it
      tear{};
  bool virtual_time = false;  ///< `clock` is not used then
  double charge =
      0;  ///< with it: of the guest's processor time (plugin/servers/timetravel/calendar.h)
  std::string clock = "real";
  std::uint64_t seed = 1;
  std::string cut;                                 ///< trigger in text form; empty for none
  std::vector<std::string> faults{};               ///< in text form
  std::optional<std::filesystem::path> store;      ///< folder; memory when absent
  std::optional<std::filesystem::path> recording;  ///< must not exist yet beside a store
  std::optional<std::filesystem::path>
      socket;  ///< of the disks; default: nbd.sock or vhost.sock in the scratch folder
  std::optional<std::filesystem::path>
      control_socket;  ///< default: control.sock in the scratch folder
};

class ServedDevice {
 public:
  /// `scratch` is an existing folder for the sockets (its name short enough for one). Errors are
  /// the server's own last words when it refuses the configuration.
  static Result<std::unique_ptr<ServedDevice>> start(const ServedDeviceSpec& spec,
                                                     const std::filesystem::path& scratch);
  ~ServedDevice();

  std::filesystem::path socket() const;
  std::filesystem::path control_socket() const;
  ControlClient& control();
  /// From now on: "off", "real", "real:K". In virtual time there is nothing to set, and nothing is.
  Result<void> set_clock(const std::string& clock);
  bool alive() const;

  /// Ends the server in order (SIGTERM, then SIGKILL after 10 s) and waits. Errors: it had died on
  /// its own before.
  Result<void> stop();

 private:
  struct State;
  explicit ServedDevice(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::device
