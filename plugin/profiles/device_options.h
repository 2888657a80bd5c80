#pragma once
// Options that override settings of a device's profile. The table has one row for each option. The
// plugin, `headcrash serve` and `simulate`, machine files, campaigns and benchmarks take their keys,
// values and help texts from it.
//
// To add an option, add a member and a row, and use the member in build.cc.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/base/strict_table.h"
#include "plugin/model/core/tear.h"

namespace headcrash::profiles {

/// A member that is nullopt leaves the profile's setting unchanged.
struct DeviceOptions {
  std::optional<bool> write_cache{};  ///< of all drives below the device
  std::optional<model::Tear> tear{};  ///< of all drives below the device
};

struct DeviceOption {
  std::string_view name;   ///< the key in TOML files, the parameter and the command-line option
  std::string_view value;  ///< the possible values, separated by '|'
  std::string_view help;
  bool boolean = false;  ///< "on" or "off" on a command line, true or false in TOML
  /// Whether the option has an effect even if the power is never cut. Benchmarks and `simulate`
  /// offer only these options.
  bool without_cut = false;
  /// Parses a value. The error names `subject`.
  Result<void> (*set)(DeviceOptions&, std::string_view value, const std::string& subject);
  /// Returns the value in text form; nullopt if the option is unset.
  std::optional<std::string> (*text)(const DeviceOptions&);
};

enum class PowerCuts : bool { never, possible };

/// Returns the options. With PowerCuts::never, returns only those with `without_cut`.
std::vector<DeviceOption> device_options(PowerCuts cuts = PowerCuts::possible);

/// Parses "on" or "off", and the other words that nbdkit accepts for a switch.
Result<bool> parse_switch(std::string_view text, const std::string& subject);
/// Parses a tear word (plugin/model/core/tear.h). The error suggests the nearest word.
Result<model::Tear> parse_tear(std::string_view word, const std::string& subject);

/// Appends the names of the options to `keys`, for StrictTable::only().
std::vector<std::string> with_device_options(std::vector<std::string> keys,
                                             PowerCuts cuts = PowerCuts::possible);
/// Reads the options that the table has.
Result<void> read_device_options(const base::StrictTable& table, DeviceOptions& into,
                                 PowerCuts cuts = PowerCuts::possible);
/// Returns the options that are set as lines of TOML.
std::string toml_of(const DeviceOptions& options);

}  // namespace headcrash::profiles
