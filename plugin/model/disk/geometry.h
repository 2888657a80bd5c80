#pragma once
// The mapping from LBN to track and angular slot: zones, skews, spares, slipped tracks and sectors.

#include <cstdint>
#include <vector>

#include "plugin/model/disk/disk_profile.h"

namespace headcrash::model {

struct TrackRun {
  std::uint32_t cylinder = 0;
  std::uint32_t head = 0;
  /// Angular position: slot / track_sectors of a revolution after the index mark.
  std::uint32_t slot = 0;
  /// Number of consecutive LBNs in consecutive slots, at least 1. More of the track's LBNs may
  /// follow.
  std::uint32_t sectors = 0;
  std::uint32_t track_sectors = 0;
};

class Geometry {
 public:
  explicit Geometry(const DiskProfile& profile);
  std::uint64_t sectors() const { return sectors_; }
  TrackRun locate(std::uint64_t lbn) const;  ///< REQUIRES: lbn < sectors()

 private:
  /// A bad sector or track, which displaces later data in the same spare area.
  struct Slip {
    std::uint32_t from = 0;  ///< the zone's first logical sector after the bad one
    /// Number of physical sectors by which this slip and the earlier ones in the same spare area
    /// displace the data.
    std::uint32_t moved = 0;
    std::uint32_t stretch = 0;  ///< index of the spare area
  };
  struct Zone {
    std::uint64_t first_lbn;
    ZoneProfile profile;
    std::uint32_t stretch_sectors;       ///< physical
    std::uint32_t stretch_data_sectors;  ///< without spares
    /// Includes the unused sectors at the front, but no spare sectors.
    std::uint64_t data_sectors;
    std::vector<Slip> slips;
  };
  Zone make_zone(const ZoneProfile& profile, std::uint32_t tracks) const;

  std::vector<Zone> zones_;
  std::uint32_t heads_;
  Sparing sparing_;
  std::uint32_t sparing_cylinders_;
  HeadOrder head_order_;
  std::uint64_t sectors_ = 0;
};

}  // namespace headcrash::model
