#pragma once
// Summaries of all profiles, and the profiles of single drives as model::DiskProfile. For stacks of
// drives, see stack.h. Built-in profiles are compiled into the program; other profiles are read
// from files.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/disk/disk_profile.h"
#include "plugin/profiles/origin.h"

namespace headcrash::profiles {

/// A summary of a profile. Numbers that do not apply to the profile's kind are 0.
struct ProfileSummary {
  std::string name;
  std::string title;
  std::string kind;  ///< disk, flash, array or nvram
  std::uint64_t capacity_sectors = 0;
  double rpm = 0;  ///< nominal; disks only
  /// Time of a seek between two random cylinders before a read; disks only.
  double average_seek_ms = 0;
  /// Read rate, excluding switches and overheads. For a disk: the rate at the head in the first
  /// zone. For an array: the sum over the members that hold data. For a flash device: the rate of
  /// the slowest of host interface, channels and chips.
  double outer_bytes_per_second = 0;
  double inner_bytes_per_second = 0;  ///< read rate in a disk's last zone
  std::vector<Origin> origins;
};

/// These functions load a built-in profile by name, or a profile file by path (which contains '/'
/// or ends in ".toml"). The suffix "+VARIANT" selects a variant. Both functions fail if the profile
/// or its variant does not exist. load_profile() also fails if the profile does not describe a
/// disk.
Result<model::DiskProfile> load_profile(std::string_view name_or_path);
Result<ProfileSummary> summarise_profile(std::string_view name_or_path);

/// Parses a drive profile; `file` names the profile in errors.
Result<model::DiskProfile> parse_profile(std::string_view text, std::string_view file);

/// Returns all built-in profiles, each followed by its variants.
std::vector<ProfileSummary> list_profiles();

}  // namespace headcrash::profiles
