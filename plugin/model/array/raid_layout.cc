#include "plugin/model/array/raid_layout.h"

namespace headcrash::model {
namespace {

constexpr std::uint64_t kBitsPerSector = 4096;
constexpr std::uint64_t kAreaAlignment =
    8;  // in sectors: no two areas share a physical sector of 4 KiB

std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}
std::uint64_t aligned_area(std::uint64_t sectors) {
  return divided_up(sectors, kAreaAlignment) * kAreaAlignment;
}

}  // namespace

RaidLayout RaidLayout::of(const ArrayProfile& profile, std::uint64_t member_sectors) {
  RaidLayout l;
  l.level = profile.level;
  l.members = profile.members;
  switch (profile.level) {
    case RaidLevel::raid0:
      l.parity = 0;
      break;
    case RaidLevel::raid1:
      l.parity = profile.members - 1;
      break;
    case RaidLevel::raid4:
    case RaidLevel::raid5:
      l.parity = 1;
      break;
    case RaidLevel::raid6:
      l.parity = 2;
      break;
  }
  l.data = l.members - l.parity;
  l.unit = l.mirrored() ? kMirrorUnitSectors : profile.stripe_unit_sectors;
  l.bitmap_first = kSuperblockSectors * kSuperblockSlots + aligned_area(profile.prewrite_sectors);
  if (profile.recovery == ArrayRecovery::dirty_regions && profile.region_sectors > 0) {
    const std::uint64_t regions = divided_up(member_sectors * l.data, profile.region_sectors);
    l.bitmap_sectors = aligned_area(divided_up(regions, kBitsPerSector));
  }
  l.data_first = l.bitmap_first + l.bitmap_sectors;
  if (member_sectors > l.data_first && l.unit > 0)
    l.stripes = (member_sectors - l.data_first) / l.unit;
  return l;
}

}  // namespace headcrash::model
