#pragma once
// Stacks of profiles, in TOML. `kind` is "disk" (the default), "flash", "array" or "nvram". An
// array or a cache names the profile below it: the name of a built-in profile, or a path relative
// to the file. A machine file lists several named devices, each with a profile, and faults.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plugin/model/array/array_profile.h"
#include "plugin/model/disk/disk_profile.h"
#include "plugin/model/faults/faults.h"
#include "plugin/model/flash/flash_profile.h"
#include "plugin/model/nvram/nvram_profile.h"
#include "plugin/profiles/device_options.h"
#include "plugin/profiles/profile.h"

namespace headcrash::profiles {

struct Stack {
  std::string name, title;
  std::variant<model::DiskProfile, model::FlashProfile, model::ArrayProfile, model::NvramProfile>
      profile;
  /// The stacks of an array's members, or the stack below NVRAM; empty for a drive or a flash
  /// device.
  std::vector<std::shared_ptr<const Stack>> below;
  std::vector<Origin> origins;
  double nominal_rpm = 0;  ///< disks only
};

/// Returns the capacity visible to the host, in sectors.
std::uint64_t capacity_sectors(const Stack& stack);
/// Returns the size of the unit that the drives write atomically.
std::uint32_t physical_sector_sectors(const Stack& stack);
/// Returns the drive or flash device at the bottom of the stack. At each array, follows the first
/// member.
const Stack& lowest(const Stack& stack);

/// Loads a built-in stack by name or a file by path (relative to `folder`), optionally with
/// "+VARIANT". Errors name the file and the key. A circular reference is an error.
Result<std::shared_ptr<const Stack>> load_stack(std::string_view name_or_path,
                                                const std::filesystem::path& folder = {});

/// Parses a profile of any kind; `file` names the profile in errors.
Result<std::shared_ptr<const Stack>> parse_stack(std::string_view text, std::string_view file);

/// A named top-level device of a machine.
struct MachineDevice {
  std::string name;  ///< letters, digits, '-', '_'; "hd0" without a machine file
  std::shared_ptr<const Stack> stack;
  std::optional<std::uint64_t> size_bytes = {};  ///< nullopt for the full capacity
  DeviceOptions options = {};
};

struct MachineFile {
  std::vector<MachineDevice> devices;
  std::vector<model::FaultSpec> faults;
};
/// Loads a machine file with at least one device. Profiles are built-in names or paths relative to
/// the file. Faults are not yet checked against the devices.
///
///   fault = ["dead:log,after-ms=5000"]      # optional; as in plugin/model/faults/faults.h
///   [[device]]
///   name = "data"
///   profile = "netra-raid5"
///   size = "1G"                             # optional; default: full capacity
///   write-cache = true                      # optional, as all options of device_options.h
Result<MachineFile> load_machine_file(const std::string& path);

}  // namespace headcrash::profiles
