// Maps an LBN to cylinder, head and slot.
//
// LBNs run along a track, then through the heads of a cylinder, then inward. Sector 0 of a track is
// later on the platter than that of the preceding track by the track skew (at a change of cylinder,
// the cylinder skew), so the head arrives just in time after a switch:
//
//   slot = offset + sector + track_skew * (t + (heads - 1) * c) + cylinder_skew * c    (mod track)
//
// where c is the cylinder, counted from the zone's first, and t is the position of the track in its
// cylinder.
//
// A zone begins with `front_unused_sectors` unused sectors. The remaining sectors are divided into
// spare areas (the whole zone, a track, a cylinder, a range of cylinders), each with spare sectors
// at its end. A bad sector (or track) is slipped: it holds no data, and all later data of the area
// moves further back, into the spare sectors:
//
//   area 0                           area 1
//   |0 1 2 3 X 4 5 6 7 8 9 X 10 .|   |11 12 13 ...          X bad   . unused spare
//
// The schemes and their names follow the extracted parameters of DiskSim (Bucy and others, "The
// DiskSim simulation environment reference manual", 2008, sparing schemes 1, 2, 3, 7, 8 and 9).
#include "plugin/model/disk/geometry.h"

#include <algorithm>

#include "plugin/base/invariant.h"

namespace headcrash::model {

Geometry::Geometry(const DiskProfile& profile)
    : heads_(profile.heads),
      sparing_(profile.sparing),
      sparing_cylinders_(profile.sparing_cylinders),
      head_order_(profile.head_order) {
  invariant(profile.heads > 0 && !profile.zones.empty(), "a disk must have heads and zones");
  for (std::size_t i = 0; i < profile.zones.size(); ++i) {
    const ZoneProfile& zone = profile.zones[i];
    const std::uint32_t end =
        i + 1 < profile.zones.size() ? profile.zones[i + 1].first_cylinder : profile.cylinders;
    invariant(end > zone.first_cylinder && zone.cylinders <= end - zone.first_cylinder,
              "zones must be in ascending order of cylinder and must not overlap");
    const std::uint32_t cylinders = zone.cylinders > 0 ? zone.cylinders : end - zone.first_cylinder;
    zones_.push_back(make_zone(zone, cylinders * heads_));
    sectors_ += zones_.back().data_sectors - zone.front_unused_sectors;
  }
  invariant(profile.tail_unused_sectors < sectors_, "a disk must have room for data");
  sectors_ -= profile.tail_unused_sectors;
}

Geometry::Zone Geometry::make_zone(const ZoneProfile& profile, std::uint32_t tracks) const {
  const std::uint64_t all = std::uint64_t{tracks} * profile.track_sectors;
  std::uint64_t stretch = all;
  if (sparing_ == Sparing::track) stretch = profile.track_sectors;
  if (sparing_ == Sparing::cylinder) stretch = std::uint64_t{heads_} * profile.track_sectors;
  if (sparing_ == Sparing::cylinder_range)
    stretch = std::uint64_t{heads_} * sparing_cylinders_ * profile.track_sectors;
  stretch = std::min(stretch, all);
  const std::uint64_t spares =
      std::uint64_t{profile.spare_tracks} * profile.track_sectors + profile.spare_sectors;
  const std::uint64_t stretches = (all + stretch - 1) / stretch;
  const std::uint64_t last_stretch = all - (stretches - 1) * stretch;
  invariant(last_stretch > spares && all < (std::uint64_t{1} << 32),
            "spare sectors must leave room for data");

  Zone zone{sectors_,
            profile,
            static_cast<std::uint32_t>(stretch),
            static_cast<std::uint32_t>(stretch - spares),
            all - stretches * spares,
            {}};
  const auto slip = [&zone](std::uint64_t at, std::uint32_t sectors) {
    const auto number = static_cast<std::uint32_t>(at / zone.stretch_sectors);
    const bool first = zone.slips.empty() || zone.slips.back().stretch != number;
    const std::uint32_t moved = first ? 0 : zone.slips.back().moved;
    const auto from = static_cast<std::uint32_t>(std::uint64_t{number} * zone.stretch_data_sectors +
                                                 at % zone.stretch_sectors - moved);
    // A bad spare sector displaces no data.
    if (from >= (number + 1) * zone.stretch_data_sectors) return;
    zone.slips.push_back({from, moved + sectors, number});
    invariant(moved + sectors <= zone.stretch_sectors - zone.stretch_data_sectors,
              "a spare area must have room for slipped sectors");
  };
  for (const std::uint32_t track : profile.slipped_tracks)
    slip(std::uint64_t{track} * profile.track_sectors, profile.track_sectors);
  for (const std::uint32_t sector : profile.slipped_sectors) slip(sector, 1);
  invariant(zone.data_sectors > profile.front_unused_sectors, "a zone must have room for data");
  return zone;
}

TrackRun Geometry::locate(std::uint64_t lbn) const {
  std::size_t z = zones_.size() - 1;
  while (zones_[z].first_lbn > lbn) --z;
  const Zone& place = zones_[z];
  const ZoneProfile& zone = place.profile;
  const auto in_zone =
      static_cast<std::uint32_t>(lbn - place.first_lbn) + zone.front_unused_sectors;
  const std::uint32_t stretch = in_zone / place.stretch_data_sectors;
  const auto stretch_end = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      std::uint64_t{stretch + 1} * place.stretch_data_sectors, place.data_sectors));
  std::uint32_t together = stretch_end - in_zone;
  std::uint32_t physical = in_zone + stretch * (place.stretch_sectors - place.stretch_data_sectors);
  if (!place.slips.empty()) {
    const auto next =
        std::upper_bound(place.slips.begin(), place.slips.end(), in_zone,
                         [](std::uint32_t at, const Slip& slip) { return at < slip.from; });
    if (next != place.slips.begin() && std::prev(next)->stretch == stretch)
      physical += std::prev(next)->moved;
    if (next != place.slips.end()) together = std::min(together, next->from - in_zone);
  }
  const std::uint32_t track = physical / zone.track_sectors;
  const std::uint32_t sector = physical % zone.track_sectors;
  const std::uint32_t cylinder = track / heads_;
  const std::uint32_t in_cylinder = track % heads_;
  const std::uint64_t skew = std::uint64_t{zone.track_skew_sectors} *
                                 (in_cylinder + std::uint64_t{heads_ - 1} * cylinder) +
                             std::uint64_t{zone.cylinder_skew_sectors} * cylinder;
  const bool downwards = head_order_ == HeadOrder::serpentine && cylinder % 2 == 1;
  TrackRun run;
  run.cylinder = zone.first_cylinder + cylinder;
  run.head = downwards ? heads_ - 1 - in_cylinder : in_cylinder;
  run.slot =
      static_cast<std::uint32_t>((zone.start_offset_sectors + sector + skew) % zone.track_sectors);
  run.sectors = std::min(zone.track_sectors - sector, together);
  run.track_sectors = zone.track_sectors;
  return run;
}

}  // namespace headcrash::model
