// Reads arrays from TOML (netra-raid5.toml explains the keys) and validates them.
#include <fmt/core.h>

#include <array>
#include <cmath>

#include "plugin/model/array/array.h"
#include "plugin/model/array/raid_layout.h"
#include "plugin/profiles/profile_reader.h"

namespace headcrash::profiles {
namespace {

using model::ArrayProfile;
using model::ArrayRecovery;
using model::RaidLevel;

constexpr std::uint32_t kMembersMax = 64;
constexpr std::uint32_t kGibInKib = 1U << 20;
constexpr double kBytesPerMb = 1e6;
constexpr std::array<Choice<RaidLevel>, 5> kLevels = {{{"raid0", RaidLevel::raid0},
                                                       {"raid1", RaidLevel::raid1},
                                                       {"raid4", RaidLevel::raid4},
                                                       {"raid5", RaidLevel::raid5},
                                                       {"raid6", RaidLevel::raid6}}};
constexpr std::array<std::uint32_t, 5> kMembersMin = {2, 2, 2, 2, 4};
constexpr std::array<Choice<ArrayRecovery>, 4> kRecoveries = {
    {{"none", ArrayRecovery::none},
     {"resync", ArrayRecovery::resync},
     {"dirty-regions", ArrayRecovery::dirty_regions},
     {"prewrite", ArrayRecovery::prewrite}}};

bool has_parity(RaidLevel level) {
  return level == RaidLevel::raid4 || level == RaidLevel::raid5 || level == RaidLevel::raid6;
}

}  // namespace

ArrayBox read_array(ProfileTable& top, ReadErrors& errors) {
  ArrayBox box;
  ArrayProfile& p = box.profile;
  const auto open = [&](const char* name) {
    ProfileTable table = top.open(name);
    if (auto origin = table.origin()) box.origins.push_back(*std::move(origin));
    return table;
  };
  ProfileTable layout = open("layout");
  p.level = layout.one_of("level", kLevels);
  p.members =
      layout.integer32("members", kMembersMin[static_cast<std::size_t>(p.level)], kMembersMax);
  p.stripe_unit_sectors = layout.kib_as_sectors("stripe-unit-kib", 1, kGibInKib);
  p.synchronised_spindles = layout.boolean("synchronised-spindles");
  layout.finish();

  ProfileTable controller = open("controller");
  p.command_ns = controller.milliseconds("command-ms");
  p.parity_sector_ns = controller.microseconds("parity-sector-us");
  p.stripe_cache_stripes = controller.integer32("stripe-cache-stripes", 0, 1U << 20);
  controller.finish();

  ProfileTable safety = open("safety");
  p.volatile_cache = safety.boolean("volatile-cache");
  p.prewrite_sectors = safety.kib_as_sectors("prewrite-kib", 0, kGibInKib);
  p.recovery = safety.one_of("recovery", kRecoveries);
  p.region_sectors = safety.kib_as_sectors("region-kib", 0, kGibInKib);
  if (safety.has("region-idle-ms")) p.region_idle_ns = safety.milliseconds("region-idle-ms");
  p.accept_dirty_degraded = safety.boolean("accept-dirty-degraded");
  p.rebuild_bytes_per_second = static_cast<std::uint64_t>(
      std::llround(safety.number("rebuild-mb-per-s", 0, 1e6) * kBytesPerMb));
  safety.finish();

  if (errors.first) return box;
  if (p.prewrite_sectors > 0 && !has_parity(p.level)) {
    errors.add(safety.full("prewrite-kib"), "needs an array with parity", "set it to 0");
  } else if (p.recovery == ArrayRecovery::prewrite && p.prewrite_sectors == 0) {
    errors.add(safety.full("prewrite-kib"), "prewrite recovery needs a log",
               "set the log's size on each member");
  } else if (p.recovery == ArrayRecovery::dirty_regions && p.region_sectors == 0) {
    errors.add(safety.full("region-kib"), "dirty-region recovery needs a region size",
               "set the amount of data that one bit covers");
  } else if (p.region_idle_ns < model::kMillisecondNs) {
    errors.add(safety.full("region-idle-ms"), "is too short", "use at least 1 ms");
  }
  return box;
}

void check_array(const ArrayProfile& profile, std::uint64_t member_sectors,
                 std::uint32_t physical_sectors, ReadErrors& errors) {
  if (profile.level != RaidLevel::raid1 && profile.stripe_unit_sectors % physical_sectors != 0) {
    errors.add("layout.stripe-unit-kib",
               fmt::format("is not a multiple of the members' physical sector size of {} bytes",
                           physical_sectors * model::kSectorBytes),
               "use a multiple");
  } else if (physical_sectors > model::kSuperblockSectors) {
    errors.add("layout.member",
               fmt::format("has physical sectors of {} bytes, larger than a superblock",
                           physical_sectors * model::kSectorBytes),
               fmt::format("use a member with physical sectors of at most {} bytes",
                           model::kSuperblockSectors * model::kSectorBytes));
  } else if (model::Array::data_sectors(profile, member_sectors) == 0) {
    errors.add("layout.stripe-unit-kib",
               fmt::format("members of {} sectors have no room for the prewrite log and one stripe",
                           member_sectors),
               "use a smaller stripe unit or log");
  }
}

}  // namespace headcrash::profiles
