#pragma once
// What the readers of profiles share, inside this folder.

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
/// Everything but the members, whose keys the caller takes. `top` is not finished.
ArrayBox read_array(ProfileTable& top, ReadErrors& errors);
/// What an array can be made of: `member_sectors` of each, written whole in `physical_sectors`.
void check_array(const model::ArrayProfile& profile, std::uint64_t member_sectors,
                 std::uint32_t physical_sectors, ReadErrors& errors);

struct CacheBox {
  model::NvramProfile profile;
  std::vector<Origin> origins;
};
/// Everything but the device below. `above`: the array that the cache is a member of; null when it
/// is none.
CacheBox read_nvram(ProfileTable& top, const model::ArrayProfile* above, ReadErrors& errors);
void check_nvram(const model::NvramProfile& profile, std::uint64_t below_sectors,
                 ReadErrors& errors);

/// Where a profile's text was found.
struct FoundProfile {
  std::string file;              ///< name in errors
  std::string identity;          ///< equal for equal files, however they were spelt
  std::filesystem::path folder;  ///< paths in the file are relative to it; empty for a built-in one
  std::string text;
  std::string variant;  ///< empty: the profile itself
};
/// `name_or_path` as in load_profile(); a path is relative to `folder`.
Result<FoundProfile> find_profile(std::string_view name_or_path,
                                  const std::filesystem::path& folder = {});

std::vector<std::string> built_in_profiles();

/// The names of the variants of the profile whose top is `root`.
Result<std::vector<std::string>> variants_of(const base::StrictTable& root);
/// What such a variant consists of: its own tables over those of the profile; empty: the profile
/// itself. Errors: there is no such variant, or it changes nothing.
Result<base::StrictTable> in_variant(const base::StrictTable& root, const std::string& variant);

}  // namespace headcrash::profiles
