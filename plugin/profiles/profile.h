#pragma once
// Drive profiles: TOML in, model::DiskProfile out. Built-in ones are compiled into the program; others are
// files.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/model/disk_profile.h"
#include "plugin/model/result.h"

namespace headcrash::profiles {

/// Where the numbers of one table of a profile come from.
struct Origin {
  std::string table;  ///< "seek"
  std::string kind;   ///< measured, data-sheet, paper, estimate or calibration
  std::string remark;
};

/// A profile with what people want to know about it.
struct ProfileSummary {
  std::string name;
  std::string title;
  std::uint64_t capacity_sectors = 0;
  double rpm = 0;                     ///< nominal
  double average_seek_ms = 0;         ///< between two random cylinders, for reading
  double outer_bytes_per_second = 0;  ///< past the head in the first zone, without switches
  double inner_bytes_per_second = 0;  ///< in the last zone
  std::vector<Origin> origins;
};

/// `name_or_path`: the name of a built-in profile, or a path (anything with a '/' or ending in ".toml").
Result<model::DiskProfile> load_profile(std::string_view name_or_path);
Result<ProfileSummary> summarise_profile(std::string_view name_or_path);

/// The text of a profile; `file` is its name in errors.
Result<model::DiskProfile> parse_profile(std::string_view text, std::string_view file);

/// All built-in profiles.
std::vector<ProfileSummary> list_profiles();

}  // namespace headcrash::profiles
