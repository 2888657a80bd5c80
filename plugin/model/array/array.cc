// Checks the parameters of a new array and computes its sizes. For the rest of the public interface
// (array.h), calls ArrayController.
#include "plugin/model/array/array.h"

#include <fmt/core.h>

#include <algorithm>

#include "plugin/model/array/array_controller.h"

namespace headcrash::model {
namespace {

constexpr std::uint32_t kPrewriteSectorsMax =
    1U << 17;  // 64 MiB, because recovery reads a member's whole area into memory
constexpr std::uint64_t kBitmapSectorsMax = 1U << 15;      // 16 MiB, enough for 128 million regions
constexpr std::uint32_t kStripeUnitSectorsMax = 1U << 14;  // 8 MiB

std::uint32_t members_min(RaidLevel level) {
  switch (level) {
    case RaidLevel::raid6:
      return 4;
    default:  // like md, allows RAID-4 and RAID-5 of two members, whose parity is a copy
      return 2;
  }
}

Result<void> check_profile(const ArrayProfile& p, std::uint32_t physical) {
  if (p.members < members_min(p.level) || p.members > kArrayMembersMax)
    return fail(p.name + ": members",
                fmt::format("{} members are invalid for this level", p.members),
                fmt::format("use {} to {}", members_min(p.level), kArrayMembersMax));
  if (p.level != RaidLevel::raid1 &&
      (p.stripe_unit_sectors == 0 || p.stripe_unit_sectors > kStripeUnitSectorsMax))
    return fail(p.name + ": stripe unit",
                fmt::format("{} sectors is invalid", p.stripe_unit_sectors),
                fmt::format("use 1 to {} sectors", kStripeUnitSectorsMax));
  if (p.level != RaidLevel::raid1 && p.stripe_unit_sectors % physical != 0)
    return fail(p.name + ": stripe unit", "is not a multiple of the members' physical sector size",
                fmt::format("use a multiple of {} sectors", physical));
  if (physical > kSuperblockSectors)
    return fail(
        p.name + ": members",
        fmt::format(
            "have {}-byte physical sectors, so a cut could destroy both superblocks of a member",
            physical * kSectorBytes),
        fmt::format("use drives with physical sectors of at most {} bytes",
                    kSuperblockSectors * kSectorBytes));
  const bool parity = p.level != RaidLevel::raid0 && p.level != RaidLevel::raid1;
  if (p.recovery == ArrayRecovery::prewrite) {
    if (!parity)
      return fail(p.name + ": recovery", "a prewrite log requires a level with parity",
                  "choose another recovery");
    if (p.prewrite_sectors > kPrewriteSectorsMax ||
        PrewriteLog::payload_max(p.prewrite_sectors, physical) < p.stripe_unit_sectors)
      return fail(
          p.name + ": prewrite area", fmt::format("{} sectors is invalid", p.prewrite_sectors),
          fmt::format(
              "use at least the size of four stripe units with headers, and at most {} sectors",
              kPrewriteSectorsMax));
  }
  if (p.recovery == ArrayRecovery::dirty_regions &&
      (p.region_sectors == 0 || p.level == RaidLevel::raid0))
    return fail(p.name + ": recovery", "dirty regions require a region size and redundancy",
                "set the region size, or choose another recovery");
  if (p.region_idle_ns < kMillisecondNs)
    return fail(p.name + ": region idle time", "is too short", "use at least one millisecond");
  return {};
}

}  // namespace

// ---- creation and sizes

Result<std::unique_ptr<Array>> Array::create(ArrayOptions options) {
  const ArrayProfile& p = options.profile;
  if (options.members.size() != p.members)
    return fail(
        p.name,
        fmt::format("has {} members, but its profile needs {}", options.members.size(), p.members),
        "use the profile's number of drives");
  std::uint32_t physical = 1;
  for (const auto& member : options.members) {
    const Characteristics& c = member->characteristics();
    physical = std::max(physical, c.physical_sector_sectors);
    if (c.sectors != options.members.front()->characteristics().sectors)
      return fail(p.name, "the members differ in size", "use drives of equal size");
  }
  TRY(check_profile(p, physical));
  const auto layout = RaidLayout::of(p, options.members.front()->characteristics().sectors);
  if (layout.stripes == 0)
    return fail(p.name, "the members are too small for one stripe and the array's metadata",
                "use larger drives or a smaller prewrite area");
  if (layout.bitmap_sectors > kBitmapSectorsMax)
    return fail(p.name + ": region size", "results in too many regions", "choose larger regions");
  auto controller = std::make_unique<ArrayController>(std::move(options), layout);
  TRY(controller->assemble_now());
  return std::unique_ptr<Array>(new Array(std::move(controller)));
}

Array::Array(std::unique_ptr<ArrayController> controller) : controller_(std::move(controller)) {}
Array::~Array() = default;

std::uint64_t Array::data_sectors(const ArrayProfile& profile, std::uint64_t member_sectors) {
  return RaidLayout::of(profile, member_sectors).capacity();
}

std::uint64_t Array::member_sectors(const ArrayProfile& profile, std::uint64_t data_sectors) {
  const RaidLayout empty = RaidLayout::of(profile, 0);
  if (empty.stripe_sectors() == 0) return 0;
  const std::uint64_t stripes =
      (data_sectors + empty.stripe_sectors() - 1) / empty.stripe_sectors();
  std::uint64_t sectors = 0;
  // The size of the region map and the size of the data area depend on each other. The loop
  // converges after a few iterations.
  for (std::uint64_t need = empty.data_first + stripes * empty.unit; need > sectors;) {
    sectors = need;
    need = RaidLayout::of(profile, sectors).data_first + stripes * empty.unit;
  }
  return sectors;
}

std::pair<std::uint64_t, std::uint64_t> Array::prewrite_range(const ArrayProfile& profile) {
  return {kSuperblockSectors * kSuperblockSlots, profile.prewrite_sectors};
}

// ---- calls forwarded to the controller

const Characteristics& Array::characteristics() const {
  return controller_->characteristics;
}
DeviceCounters Array::counters() const {
  return controller_->counters();
}
void Array::submit(const Request& request, Initiator& initiator) {
  controller_->submit(request, initiator);
}
void Array::power_cut() {
  controller_->power_cut();
}
void Array::power_on() {
  controller_->power_on();
}
void Array::shut_down() {
  controller_->shut_down();
}
ArrayStatus Array::status() const {
  return controller_->status();
}
std::optional<TimeNs> Array::quiet_since() const {
  return controller_->quiet_since();
}

ArrayCounters Array::array_counters() const {
  return controller_->array_counters;
}
Device& Array::member(std::size_t index) {
  return *controller_->members.at(index);
}
Result<void> Array::fail_member(std::size_t index) {
  return controller_->fail_member(index);
}
Result<void> Array::rebuild(std::size_t index) {
  return controller_->rebuild(index);
}
Result<void> Array::scrub(bool repair) {
  return controller_->scrub(repair);
}
void Array::set_rebuild_rate(std::uint64_t bytes_per_second) {
  controller_->rebuild_bytes_per_second = bytes_per_second;
}
Result<void> Array::accept_dirty_degraded() {
  return controller_->accept_dirty_degraded();
}

}  // namespace headcrash::model
