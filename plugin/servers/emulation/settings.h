#pragma once
// Parses the plugin's parameters. Paths are kept as given; the plugin makes them absolute.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/model/core/machine.h"
#include "plugin/model/core/tear.h"
#include "plugin/model/faults/faults.h"
#include "plugin/servers/emulation/clock.h"
#include "plugin/stages/stage_server.h"

namespace headcrash::emulation {

struct Settings {
  std::string profile;  ///< name or path; exactly one of `profile` and `machine` is required
  std::optional<std::filesystem::path> machine;
  std::optional<std::uint64_t> size_bytes;
  std::optional<std::filesystem::path> store;
  std::optional<std::filesystem::path> record;
  std::optional<std::filesystem::path> control;
  Clock clock;
  std::optional<WallNs> lead_ns;  ///< nullopt if the lead is to be calibrated at start-up
  std::optional<bool> write_cache;
  std::optional<model::Tear> tear;
  std::uint64_t seed = 1;
  std::optional<std::string> cut;  ///< text of a valid trigger
  std::vector<model::FaultSpec> faults;

  // ---- for a crash-state server instead of hardware
  std::optional<std::size_t> states;  ///< number of stages to serve
  std::optional<std::filesystem::path> recording;
  std::uint64_t overlay_bytes_max = stages::kOverlayBytesDefault;
  /// SOCKET in the names of the sockets for guests in virtual time (served_stages.h); nullopt to
  /// serve no such guests.
  std::optional<std::filesystem::path> virtual_time;

  /// Sets one parameter. Errors name the key and suggest a valid value. Each key except `fault` may
  /// be set only once.
  Result<void> set(std::string_view key, std::string_view value);
  /// Returns all keys, each followed by a space.
  static std::string_view keys();
  /// Checks the combination of parameters. Must be called after the last set().
  Result<void> check() const;

 private:
  Result<void> check_states() const;
  std::string seen_;  ///< the keys set so far, each followed by a space
};

}  // namespace headcrash::emulation
