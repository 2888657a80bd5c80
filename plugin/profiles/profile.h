#pragma once
// Profiles: what people want to know about one, and single drives as model::DiskProfile. Anything
// composed of drives is in stack.h. Built-in profiles are compiled into the program; others are
// files.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/disk/disk_profile.h"
#include "plugin/profiles/origin.h"

namespace headcrash::profiles {

/// A profile with what people want to know about it. Numbers that do not apply to its kind are 0.
struct ProfileSummary {
  std::string name;
  std::string title;
  std::string kind;  ///< disk, flash, array or nvram
  std::uint64_t capacity_sectors = 0;
  double rpm = 0;              ///< nominal; disk
  double average_seek_ms = 0;  ///< between two random cylinders, for reading; disk
  /// Of reading, without switches and overheads. Disk: past the head in the first zone; array: that
  /// of all members that hold data; flash: the slowest of host interface, channels and chips.
  double outer_bytes_per_second = 0;
  double inner_bytes_per_second = 0;  ///< in the last zone
  std::vector<Origin> origins;
};

/// `name_or_path`: the name of a built-in profile, or a path (anything with a '/' or ending in
/// ".toml"); with "+VARIANT" behind it one of the variants that its file describes. Of another kind
/// than disk: an error.
Result<model::DiskProfile> load_profile(std::string_view name_or_path);
Result<ProfileSummary> summarise_profile(std::string_view name_or_path);

/// The text of a drive's profile; `file` is its name in errors.
Result<model::DiskProfile> parse_profile(std::string_view text, std::string_view file);

/// All built-in profiles, each followed by its variants.
std::vector<ProfileSummary> list_profiles();

}  // namespace headcrash::profiles
