#pragma once
// The parameters of an array, as plain data. Sectors are 512 bytes.

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
  /// If false, each member's starting angle is derived from the seed.
  bool synchronised_spindles = false;
  TimeNs command_ns = 0;        ///< controller time per host request
  TimeNs parity_sector_ns = 0;  ///< time to compute one sector of parity from one sector of data
  /// Number of stripes whose old data and parity are cached; 0 disables the cache.
  std::uint32_t stripe_cache_stripes = 0;
  std::uint32_t prewrite_sectors = 0;  ///< log area on each member; 0 if absent
  ArrayRecovery recovery = ArrayRecovery::none;
  std::uint32_t region_sectors = 0;  ///< for dirty_regions: data covered by one bit
  /// How long after the last write a bit is cleared (md: 5 s).
  TimeNs region_idle_ns = 5 * kSecondNs;
  /// Starts the array even if parity may be inconsistent and a member is missing.
  bool accept_dirty_degraded = false;
  /// limit for rebuild, resync and scrub; 0 for no limit
  std::uint64_t rebuild_bytes_per_second = 0;
  /// If false, member caches are off, as in real arrays. If true, flushes are passed to the
  /// members.
  bool volatile_cache = false;
};

}  // namespace headcrash::model
