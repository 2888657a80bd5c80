// LBN -> cylinder, head, slot.
//
// LBNs run along a track, then through the heads of a cylinder, then inward. A zone leaves
// `front_unused_sectors` at its start and `spare_tracks` at its end. A slipped track holds no data: all later
// data of the zone moves on by one track, into the spares. Sector 0 of a track lies later on the platter than
// that of the track before it by the track skew (cylinder skew at the turn of a cylinder), so that the head
// arrives just in time after a switch:
//
//   slot = offset + sector + track_skew * (head + (heads - 1) * c) + cylinder_skew * c    (mod sectors per
//   track)
//
// with c counted from the zone's first cylinder.
#include "plugin/model/geometry.h"

#include "plugin/model/invariant.h"

namespace headcrash::model {

Geometry::Geometry(const DiskProfile& profile) : heads_(profile.heads) {
  invariant(profile.heads > 0 && !profile.zones.empty(), "a disk has heads and zones");
  for (std::size_t i = 0; i < profile.zones.size(); ++i) {
    const ZoneProfile& zone = profile.zones[i];
    const std::uint32_t end =
        i + 1 < profile.zones.size() ? profile.zones[i + 1].first_cylinder : profile.cylinders;
    invariant(end > zone.first_cylinder, "zones rise in cylinders");
    const std::uint64_t tracks = std::uint64_t{end - zone.first_cylinder} * heads_;
    invariant(tracks > zone.spare_tracks && zone.slipped_tracks.size() <= zone.spare_tracks,
              "a zone has room for its slipped tracks");
    const std::uint64_t all = (tracks - zone.spare_tracks) * zone.track_sectors;
    invariant(all > zone.front_unused_sectors, "a zone has data");
    zones_.push_back({sectors_, zone});
    sectors_ += all - zone.front_unused_sectors;
  }
}

TrackRun Geometry::locate(std::uint64_t lbn) const {
  std::size_t z = zones_.size() - 1;
  while (zones_[z].first_lbn > lbn) --z;
  const ZoneProfile& zone = zones_[z].profile;
  const auto in_zone = static_cast<std::uint32_t>(lbn - zones_[z].first_lbn) + zone.front_unused_sectors;
  std::uint32_t track = in_zone / zone.track_sectors;
  const std::uint32_t sector = in_zone % zone.track_sectors;
  for (const std::uint32_t slipped : zone.slipped_tracks) {
    if (slipped > track) break;
    ++track;
  }
  const std::uint32_t cylinder = track / heads_;
  const std::uint32_t head = track % heads_;
  const std::uint64_t skew =
      std::uint64_t{zone.track_skew_sectors} * (head + std::uint64_t{heads_ - 1} * cylinder) +
      std::uint64_t{zone.cylinder_skew_sectors} * cylinder;
  TrackRun run;
  run.cylinder = zone.first_cylinder + cylinder;
  run.head = head;
  run.slot = static_cast<std::uint32_t>((zone.start_offset_sectors + sector + skew) % zone.track_sectors);
  run.sectors = zone.track_sectors - sector;
  run.track_sectors = zone.track_sectors;
  // A slipped last track or the end of the zone cannot cut a run short: whole tracks only hold data or hold
  // none.
  return run;
}

}  // namespace headcrash::model
