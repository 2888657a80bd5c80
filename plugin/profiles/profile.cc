#include "plugin/profiles/profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/model/disk/seek.h"
#include "plugin/profiles/profile_reader.h"
#include "plugin/profiles/stack.h"

namespace headcrash::profiles {
namespace {

constexpr double kNsPerSecond = 1e9;

void describe(const model::DiskProfile& p, ProfileSummary& s) {
  const auto bandwidth = [&p](const model::ZoneProfile& zone) {
    return zone.track_sectors * static_cast<double>(model::kSectorBytes) * 1e12 /
           static_cast<double>(p.revolution_ps);
  };
  s.average_seek_ms =
      static_cast<double>(model::SeekCurve(p.seek, p.cylinders).average_ns()) / model::kNsPerMs;
  s.outer_bytes_per_second = bandwidth(p.zones.front());
  s.inner_bytes_per_second = bandwidth(p.zones.back());
}

void describe(const model::FlashProfile& p, ProfileSummary& s) {
  const double page_bytes = static_cast<double>(p.page_sectors) * model::kSectorBytes;
  const auto rate = [](double bytes, double ns) {
    return ns > 0 ? bytes * kNsPerSecond / ns : 1e18;
  };
  const double host = rate(model::kSectorBytes, static_cast<double>(p.host_sector_ns));
  const double channels =
      p.channels * rate(model::kSectorBytes, static_cast<double>(p.channel_sector_ns));
  const double chips = static_cast<double>(p.channels) * p.luns_per_channel *
                       rate(page_bytes, static_cast<double>(p.read_ns));
  s.outer_bytes_per_second = std::min({host, channels, chips});
}

/// Returns the number of members from which data can be read in parallel, not counting redundancy.
std::uint32_t data_members(const model::ArrayProfile& p) {
  switch (p.level) {
    case model::RaidLevel::raid4:
    case model::RaidLevel::raid5:
      return p.members - 1;
    case model::RaidLevel::raid6:
      return p.members - 2;
    default:
      return p.members;
  }
}

ProfileSummary summary_of(const Stack& stack) {
  ProfileSummary s;
  constexpr std::array<const char*, 4> kKindNames = {"disk", "flash", "array", "nvram"};
  if (const auto* disk = std::get_if<model::DiskProfile>(&stack.profile)) {
    describe(*disk, s);
  } else if (const auto* flash = std::get_if<model::FlashProfile>(&stack.profile)) {
    describe(*flash, s);
  } else {
    const ProfileSummary below = summary_of(*stack.below.front());
    const auto* array = std::get_if<model::ArrayProfile>(&stack.profile);
    const double factor = array == nullptr ? 1 : data_members(*array);
    s.outer_bytes_per_second = below.outer_bytes_per_second * factor;
    s.inner_bytes_per_second = below.inner_bytes_per_second * factor;
  }
  s.name = stack.name;
  s.title = stack.title;
  s.kind = kKindNames.at(stack.profile.index());
  s.capacity_sectors = capacity_sectors(stack);
  s.rpm = stack.nominal_rpm;
  s.origins = stack.origins;
  return s;
}

Result<model::DiskProfile> disk_of(const Stack& stack, const std::string& subject) {
  if (const auto* disk = std::get_if<model::DiskProfile>(&stack.profile)) return *disk;
  return fail(subject,
              fmt::format("is of kind {}, but a single disk is required", summary_of(stack).kind),
              "choose a disk: headcrash list profiles");
}

}  // namespace

Result<model::DiskProfile> load_profile(std::string_view name_or_path) {
  TRY(const auto stack, load_stack(name_or_path));
  return disk_of(*stack, fmt::format("profile '{}'", name_or_path));
}

Result<model::DiskProfile> parse_profile(std::string_view text, std::string_view file) {
  TRY(const auto stack, parse_stack(text, file));
  return disk_of(*stack, std::string(file));
}

Result<ProfileSummary> summarise_profile(std::string_view name_or_path) {
  return load_stack(name_or_path).map([](const auto& stack) { return summary_of(*stack); });
}

std::vector<ProfileSummary> list_profiles() {
  std::vector<ProfileSummary> list;
  const auto add = [&list](const std::string& name) {
    if (const auto stack = load_stack(name)) list.push_back(summary_of(**stack));
  };
  for (const std::string& name : built_in_profiles()) {
    add(name);
    const auto found = find_profile(name);
    const auto root = found.and_then(
        [](const FoundProfile& f) { return base::StrictTable::parse(f.text, f.file); });
    const auto variants =
        root.and_then([](const base::StrictTable& top) { return variants_of(top); });
    for (const std::string& variant : variants.value_or(std::vector<std::string>()))
      add(fmt::format("{}+{}", name, variant));
  }
  return list;
}

}  // namespace headcrash::profiles
