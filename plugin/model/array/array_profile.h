#pragma once
// The parameters of an array, as plain data. Sectors are 512 bytes.

#include <cstdint>
#include <string>

#include "plugin/model/core/simulation.h"

namespace headcrash::model {

enum class RaidLevel : std::uint8_t { raid0, raid1, raid4, raid5, raid6 };

/// The recovery that an array performs at power-on after an unclean shutdown.
enum class ArrayRecovery : std::uint8_t {
  none,    ///< no recovery; the write hole remains open
  resync,  ///< recomputes all parity, in the background
  /// Recomputes the parity of the regions that were marked dirty before the power cut.
  dirty_regions,
  prewrite,  ///< completes logged prewrites; requires prewrite_sectors
};

struct ArrayProfile {
  std::string name, title;
  RaidLevel level = RaidLevel::raid5;
  std::uint32_t members = 0;
  std::uint32_t stripe_unit_sectors = 0;  ///< ignored for raid1
  /// If false, the starting angle of each member is derived from the seed.
  bool synchronised_spindles = false;
  TimeNs command_ns = 0;        ///< controller time for each host request
  TimeNs parity_sector_ns = 0;  ///< time to compute one sector of parity from one sector of data
  /// Number of stripes whose old data and parity are cached; 0 for no cache.
  std::uint32_t stripe_cache_stripes = 0;
  std::uint32_t prewrite_sectors = 0;  ///< size of the log area on each member; 0 for no log
  ArrayRecovery recovery = ArrayRecovery::none;
  std::uint32_t region_sectors = 0;  ///< with dirty_regions: sectors of data that one bit covers
  /// A bit is cleared this long after the last write to its region (md: 5 s).
  TimeNs region_idle_ns = 5 * kSecondNs;
  /// If true, the array starts even if a member is missing and parity may be inconsistent.
  bool accept_dirty_degraded = false;
  /// Limit on the rate of rebuild, resync and scrub; 0 for no limit.
  std::uint64_t rebuild_bytes_per_second = 0;
  /// If false, the members' caches are off, as in real arrays. If true, flushes are passed on to
  /// the members.
  bool volatile_cache = false;
};

}  // namespace headcrash::model
