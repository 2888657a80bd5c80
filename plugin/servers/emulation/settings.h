#pragma once
// The parameters of a server of emulated hardware or of crash states. parameters() is the table
// that the plugin's configuration and help, the options of `headcrash serve`, and the command lines
// of child processes are made from.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/model/core/machine.h"
#include "plugin/model/faults/faults.h"
#include "plugin/profiles/device_options.h"
#include "plugin/servers/emulation/clock.h"
#include "plugin/stages/stage_server.h"

namespace headcrash::emulation {

/// The values of the parameters. A caller fills the members, or set() parses them. Paths are kept
/// as given.
struct Settings {
  std::string profile{};  ///< name or path; exactly one of `profile` and `machine` is required
  std::optional<std::filesystem::path> machine{};
  std::optional<std::uint64_t> size_bytes{};  ///< nullopt for the full capacity
  profiles::DeviceOptions options{};
  std::optional<std::filesystem::path> store{};
  std::optional<std::filesystem::path> record{};
  std::optional<std::filesystem::path> control{};
  Clock clock{};
  std::optional<WallNs> lead_ns{};  ///< nullopt if the lead is to be calibrated at start-up
  std::uint64_t seed = 1;
  std::optional<std::string> cut{};  ///< text of a valid trigger
  std::vector<model::FaultSpec> faults{};

  // ---- for a crash-state server instead of hardware
  std::optional<std::size_t> states{};  ///< number of stages to serve
  std::optional<std::filesystem::path> recording{};
  std::uint64_t overlay_bytes_max = stages::kOverlayBytesDefault;
  /// SOCKET in the names of the sockets for guests in virtual time (served_stages.h); nullopt to
  /// serve no such guests.
  std::optional<std::filesystem::path> virtual_time{};

  std::vector<std::string_view> given{};  ///< names of the parameters that set() has parsed

  /// Parses one parameter. Errors name `prefix` and the key, and suggest a valid value. Each key
  /// except `fault` may be set only once.
  Result<void> set(std::string_view key, std::string_view value, const std::string& prefix = "");
  /// Checks the combination of parameters. Must be called after the last set().
  Result<void> check(const std::string& prefix = "") const;
  /// Returns name and value of each parameter that differs from its default, for the command line
  /// of a child process. Paths are absolute. Lead and control socket are not included.
  std::vector<std::pair<std::string, std::string>> texts() const;
};

struct Parameter {
  enum class Server : std::uint8_t { hardware, one_device, states, any };

  std::string_view name;
  std::string_view value;  ///< form of the value, such as "SIZE"
  std::string_view help;
  /// The servers that accept the parameter. For `one_device`, only without a machine file, where
  /// each device has its own setting.
  Server server = Server::hardware;
  /// False if `headcrash serve` determines the value, or does not offer the option.
  bool in_serve = true;
  bool repeats = false;
  bool boolean = false;
  std::optional<std::filesystem::path> Settings::* path = nullptr;  ///< null if not a path
  /// Parses a value. Errors name `subject`.
  std::function<Result<void>(Settings&, std::string_view value, const std::string& subject)> set;
  /// Returns the values in text form, for texts(); empty if the parameter has its default.
  std::function<std::vector<std::string>(const Settings&)> texts;
};

/// Returns all parameters, in the order in which help texts list them.
const std::vector<Parameter>& parameters();

}  // namespace headcrash::emulation
