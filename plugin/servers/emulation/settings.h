#pragma once
// The plugin's parameters: texts in, values out. Paths are taken as they are given; the plugin
// makes them absolute.

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
  std::string profile;  ///< name or path; this one or `machine` must be given
  std::optional<std::filesystem::path> machine;
  std::optional<std::uint64_t> size_bytes;
  std::optional<std::filesystem::path> store;
  std::optional<std::filesystem::path> record;
  std::optional<std::filesystem::path> control;
  Clock clock;
  std::optional<WallNs> lead_ns;  ///< none: calibrated at the start
  std::optional<bool> write_cache;
  std::optional<model::Tear> tear;
  std::uint64_t seed = 1;
  std::optional<std::string> cut;  ///< text of a trigger that parses
  std::vector<model::FaultSpec> faults;

  // A server of crash states instead of hardware:
  std::optional<std::size_t> states;  ///< stages
  std::optional<std::filesystem::path> recording;
  std::uint64_t overlay_bytes_max = stages::kOverlayBytesDefault;
  std::optional<std::filesystem::path>
      virtual_time;  ///< sockets for guests in virtual time, a stage each

  /// One `key=value`. Errors name the key and say what to give; each key but `fault` may be given
  /// once.
  Result<void> set(std::string_view key, std::string_view value);
  /// All keys there are, each followed by a space.
  static std::string_view keys();
  /// What can only be said when all are there.
  Result<void> check() const;

 private:
  Result<void> check_states() const;
  std::string seen_;  ///< keys so far, each followed by a space
};

}  // namespace headcrash::emulation
