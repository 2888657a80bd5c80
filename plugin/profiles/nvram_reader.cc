// Reads battery-backed caches from TOML (netra-raid5-presto.toml explains the keys) and validates
// them.
#include <fmt/core.h>

#include <cmath>
#include <tuple>

#include "plugin/model/array/array.h"
#include "plugin/profiles/profile_reader.h"

namespace headcrash::profiles {
namespace {

using model::NvramProfile;

constexpr std::uint32_t kCapacityKibMax = 64U << 20;
constexpr std::uint32_t kBlockKibMax = NvramProfile::kBlockSectorsMax / 2;
constexpr double kHoursMax = 24.0 * 3650;
constexpr double kSecondsPerHour = 3600;

/// Reads the range that is cached: "all", "prewrite" or [first sector, number of sectors].
void read_range(ProfileTable& memory, const model::ArrayProfile* above, NvramProfile& p,
                ReadErrors& errors) {
  if (!memory.require("range")) return;
  std::string word;
  std::vector<std::int64_t> pair;
  if (memory.values().take("range", word) && word == "all") return;
  if (word == "prewrite") {
    if (above == nullptr || above->prewrite_sectors == 0) {
      errors.add(memory.full("range"),
                 "\"prewrite\" needs a cache that is a member of an array with a prewrite log",
                 "make the cache a member of the array, and set the array's prewrite-kib");
      return;
    }
    std::tie(p.range_lba, p.range_sectors) = model::Array::prewrite_range(*above);
  } else if (memory.values().take("range", pair, {INT64_MIN, INT64_MAX}) && pair.size() == 2) {
    const auto [first, sectors] = std::pair(pair[0], pair[1]);
    if (first < 0 || sectors <= 0) {
      errors.add(memory.full("range"), "begins before sector 0 or has no sectors", "correct it");
      return;
    }
    p.range_lba = static_cast<std::uint64_t>(first);
    p.range_sectors = static_cast<std::uint64_t>(sectors);
  } else {
    errors.add(memory.full("range"), "must be \"all\", \"prewrite\" or [first sector, sectors]",
               "correct it");
  }
}

}  // namespace

CacheBox read_nvram(ProfileTable& top, const model::ArrayProfile* above, ReadErrors& errors) {
  CacheBox box;
  NvramProfile& p = box.profile;
  const auto open = [&](const char* name) {
    ProfileTable table = top.open(name);
    if (auto origin = table.origin()) box.origins.push_back(*std::move(origin));
    return table;
  };
  ProfileTable memory = open("memory");
  p.capacity_sectors = memory.kib_as_sectors("capacity-kib", 1, kCapacityKibMax);
  p.block_sectors = memory.kib_as_sectors("block-kib", 1, kBlockKibMax);
  read_range(memory, above, p, errors);
  memory.finish();

  ProfileTable timing = open("timing");
  p.command_ns = timing.milliseconds("command-ms");
  p.sector_ns = timing.microseconds("sector-us");
  timing.finish();

  ProfileTable back = open("write-back");
  p.high_water_permille = back.integer32("high-water-permille", 0, 1000);
  p.low_water_permille = back.integer32("low-water-permille", 0, 1000);
  p.idle_delay_ns = back.milliseconds("idle-delay-ms");
  p.destage_sectors_max = back.kib_as_sectors("destage-kib-max", 1, kCapacityKibMax);
  p.destage_depth = back.integer32("destage-depth", 1, NvramProfile::kDestageDepthMax);
  back.finish();

  ProfileTable battery = open("battery");
  p.battery_hold_ns = std::llround(battery.number("hold-hours", 0, kHoursMax) * kSecondsPerHour *
                                   static_cast<double>(model::kSecondNs));
  battery.finish();

  if (errors.first) return box;
  if (p.capacity_sectors % p.block_sectors != 0) {
    errors.add(memory.full("capacity-kib"), "is not a whole number of blocks",
               "use a multiple of block-kib");
  } else if (p.low_water_permille > p.high_water_permille) {
    errors.add(back.full("low-water-permille"), "is above high-water-permille", "correct it");
  } else if (p.destage_sectors_max < p.block_sectors) {
    errors.add(back.full("destage-kib-max"), "is less than a block", "use at least block-kib");
  } else if (const auto valid = model::validate(p); !valid) {
    errors.add(top.full("memory"), valid.error().problem, valid.error().hint);
  }
  return box;
}

void check_nvram(const NvramProfile& profile, std::uint64_t below_sectors, ReadErrors& errors) {
  if (profile.range_lba >= below_sectors ||
      profile.range_sectors > below_sectors - profile.range_lba) {
    errors.add("memory.range",
               fmt::format("exceeds the {} sectors of the device below", below_sectors),
               "correct it");
  }
}

}  // namespace headcrash::profiles
