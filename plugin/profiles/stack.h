#pragma once
// Stacks: profiles composed, as TOML. `kind` says what a file describes: "disk" (the default),
// "flash", "array" or "nvram"; arrays and caches name the profile below them, built-in or a path
// relative to the file. A machine file lists several named devices, each with a profile, and
// faults.

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
#include "plugin/profiles/profile.h"

namespace headcrash::profiles {

struct Stack {
  std::string name, title;
  std::variant<model::DiskProfile, model::FlashProfile, model::ArrayProfile, model::NvramProfile>
      profile;
  std::vector<std::shared_ptr<const Stack>>
      below;  ///< array: one for each member; nvram: one; else none
  std::vector<Origin> origins;
  double nominal_rpm = 0;  ///< disk
};

/// Capacity as the host sees it, in sectors.
std::uint64_t capacity_sectors(const Stack& stack);
/// Unit that its drives write whole, or tear.
std::uint32_t physical_sector_sectors(const Stack& stack);
/// The drive or flash device that one comes to by going down, in an array to the first member.
const Stack& lowest(const Stack& stack);

/// A built-in name or a path, which is relative to `folder`, with or without "+VARIANT". Errors
/// name file and key; also when profiles refer to each other in a circle.
Result<std::shared_ptr<const Stack>> load_stack(std::string_view name_or_path,
                                                const std::filesystem::path& folder = {});

/// The text of a profile of any kind; `file` is its name in errors.
Result<std::shared_ptr<const Stack>> parse_stack(std::string_view text, std::string_view file);

/// One of the named devices of a machine.
struct MachineDevice {
  std::string name;  ///< letters, digits, '-', '_'; "hd0" when there is no machine file
  std::shared_ptr<const Stack> stack;
  std::optional<std::uint64_t> size_bytes;  ///< none: all of it
  std::optional<bool> write_cache = {};     ///< of its drives; none: as the profile says
  std::optional<model::Tear> tear = {};     ///< of its drives; none: as the profile says
};

/// A word of plugin/model/core/tear.h, for parameters and keys that are not read by ProfileTable.
/// Errors name `subject` and the nearest word.
Result<model::Tear> parse_tear(std::string_view word, const std::string& subject);

struct MachineFile {
  std::vector<MachineDevice> devices;
  std::vector<model::FaultSpec> faults;
};
/// At least one device. Profiles are built-in names or paths relative to the file; faults are not
/// yet checked against the devices.
///
///   fault = ["dead:log,after-ms=5000"]      # optional; as in plugin/model/faults/faults.h
///   [[device]]
///   name = "data"
///   profile = "netra-raid5"
///   size = "1G"                             # optional; all of it
///   write-cache = true                      # optional; as the profile says
///   tear = "unreadable"                     # optional; as the profile says (plugin/model/core/tear.h)
Result<MachineFile> load_machine_file(const std::string& path);

}  // namespace headcrash::profiles
