#pragma once
// The parameters of an array, as plain data. Sectors have 512 bytes.

#include <cstdint>
#include <string>

#include "plugin/model/core/simulation.h"

namespace headcrash::model {

enum class RaidLevel : std::uint8_t { raid0, raid1, raid4, raid5, raid6 };

/// Recovery at power-on after an unclean shutdown.
enum class ArrayRecovery : std::uint8_t {
  none,           ///< no recovery; leaves the write hole open
  resync,         ///< recomputes all parity in the background
  dirty_regions,  ///< recomputes the parity of regions that were marked dirty before the power cut
  prewrite,       ///< completes logged prewrites (needs prewrite_sectors)
};

struct ArrayProfile {
  std::string name, title;
  RaidLevel level = RaidLevel::raid5;
  std::uint32_t members = 0;
  std::uint32_t stripe_unit_sectors = 0;  ///< ignored for raid1
  /// If false, each member's start angle is derived from the seed.
  bool synchronised_spindles = false;
  TimeNs command_ns = 0;        ///< controller time per host request
  TimeNs parity_sector_ns = 0;  ///< time to compute one sector of parity from one sector of data
  /// Number of stripes whose old data and parity are cached; 0: none.
  std::uint32_t stripe_cache_stripes = 0;
  std::uint32_t prewrite_sectors = 0;  ///< log area on each member; 0: none
  ArrayRecovery recovery = ArrayRecovery::none;
  std::uint32_t region_sectors = 0;  ///< dirty_regions: data covered by one bit
  /// A bit is cleared this long after the last write (md: 5 s).
  TimeNs region_idle_ns = 5 * kSecondNs;
  /// Starts even if parity may be inconsistent and a member is missing.
  bool accept_dirty_degraded = false;
  std::uint64_t rebuild_bytes_per_second = 0;  ///< limit for rebuild, resync and scrub; 0: no limit
  /// If false, member caches are off, as in real arrays. If true, flushes go to the members.
  bool volatile_cache = false;
};

}  // namespace headcrash::model
