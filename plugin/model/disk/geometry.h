#pragma once
// The mapping from LBN to track and angular slot: zones, skews, spares, slipped tracks and sectors.

#include <cstdint>
#include <vector>

#include "plugin/model/disk/disk_profile.h"

namespace headcrash::model {

/// A run of sectors on one track.
struct TrackRun {
  std::uint32_t cylinder = 0;
  std::uint32_t head = 0;
  std::uint32_t slot = 0;  ///< angular position: slot/track_sectors revolutions from the index mark
  /// Consecutive LBNs in consecutive slots, at least 1; more of the track may follow.
  std::uint32_t sectors = 0;
  std::uint32_t track_sectors = 0;
};

class Geometry {
 public:
  explicit Geometry(const DiskProfile& profile);
  std::uint64_t sectors() const { return sectors_; }
  TrackRun locate(std::uint64_t lbn) const;  ///< REQUIRES: lbn < sectors()

 private:
  /// A bad sector or track. Later data in the same spare area moves on.
  struct Slip {
    std::uint32_t from = 0;  ///< first logical sector of the zone after the bad one
    /// Total displacement, including earlier slips of the same spare area.
    std::uint32_t moved = 0;
    std::uint32_t stretch = 0;  ///< index of the spare area
  };
  struct Zone {
    std::uint64_t first_lbn;
    ZoneProfile profile;
    std::uint32_t stretch_sectors;       ///< physical
    std::uint32_t stretch_data_sectors;  ///< without spares
    std::uint64_t data_sectors;          ///< including the unused front
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
