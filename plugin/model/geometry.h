#pragma once
// Which track and which slot under the heads a logical sector is: zones, skews, spares, slipped tracks.

#include <cstdint>
#include <vector>

#include "plugin/model/disk_profile.h"

namespace headcrash::model {

/// The rest of one track from a sector on.
struct TrackRun {
  std::uint32_t cylinder = 0;
  std::uint32_t head = 0;
  std::uint32_t slot = 0;     ///< angular position: slot/track_sectors revolutions from the index mark
  std::uint32_t sectors = 0;  ///< consecutive LBNs to the end of the track, at least 1
  std::uint32_t track_sectors = 0;
};

class Geometry {
 public:
  explicit Geometry(const DiskProfile& profile);
  std::uint64_t sectors() const { return sectors_; }
  TrackRun locate(std::uint64_t lbn) const;  ///< lbn < sectors()

 private:
  struct Zone {
    std::uint64_t first_lbn;
    ZoneProfile profile;
  };
  std::vector<Zone> zones_;
  std::uint32_t heads_;
  std::uint64_t sectors_ = 0;
};

}  // namespace headcrash::model
