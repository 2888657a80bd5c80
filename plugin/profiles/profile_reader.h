#pragma once
// Declarations shared by the profile readers in this directory.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/array/array_profile.h"
#include "plugin/model/disk/disk_profile.h"
#include "plugin/model/flash/flash_profile.h"
#include "plugin/model/nvram/nvram_profile.h"
#include "plugin/profiles/origin.h"
#include "plugin/profiles/profile_table.h"

namespace headcrash::profiles {

struct Drive {
  model::DiskProfile profile;
  double nominal_rpm = 0;
  std::vector<Origin> origins;
};
Result<Drive> read_drive(const base::StrictTable& root);

struct FlashDrive {
  model::FlashProfile profile;
  std::vector<Origin> origins;
};
Result<FlashDrive> read_flash(const base::StrictTable& root);

struct ArrayBox {
  model::ArrayProfile profile;
  std::vector<Origin> origins;
};
/// Reads the keys of an array. The caller must read the keys of the array's members. Does not call
/// top.finish().
ArrayBox read_array(ProfileTable& top, ReadErrors& errors);
/// Checks an array. Each member has `member_sectors` sectors, and a physical sector consists of
/// `physical_sectors` sectors.
void check_array(const model::ArrayProfile& profile, std::uint64_t member_sectors,
                 std::uint32_t physical_sectors, ReadErrors& errors);

struct CacheBox {
  model::NvramProfile profile;
  std::vector<Origin> origins;
};
/// Parses a cache, but not the device below it. `above` is the array of which the cache is a
/// member, or null.
CacheBox read_nvram(ProfileTable& top, const model::ArrayProfile* above, ReadErrors& errors);
void check_nvram(const model::NvramProfile& profile, std::uint64_t below_sectors,
                 ReadErrors& errors);

/// The text of a profile and its origin.
struct FoundProfile {
  std::string file;  ///< name to use in error messages
  /// Identifies the file; equal for all paths to the same file.
  std::string identity;
  std::filesystem::path folder;  ///< relative paths in the file start here; empty if built in
  std::string text;
  std::string variant;  ///< empty for the profile itself
};
/// Finds a profile. `name_or_path` has the form that load_profile() expects; a path is relative to
/// `folder`.
Result<FoundProfile> find_profile(std::string_view name_or_path,
                                  const std::filesystem::path& folder = {});

std::vector<std::string> built_in_profiles();

/// Returns the names of the variants that a profile's root table defines.
Result<std::vector<std::string>> variants_of(const base::StrictTable& root);
/// Returns the profile's tables, merged with the variant's tables, which take precedence. ""
/// selects the profile itself. Fails if the variant does not exist or changes nothing.
Result<base::StrictTable> in_variant(const base::StrictTable& root, const std::string& variant);

}  // namespace headcrash::profiles
