#pragma once
// What kind of array it is, as plain data. Sectors are of 512 bytes.

#include <cstdint>
#include <string>

#include "plugin/model/core/simulation.h"

namespace headcrash::model {

enum class RaidLevel : std::uint8_t { raid0, raid1, raid4, raid5, raid6 };

/// What happens at power-on when the array was not shut down cleanly.
enum class ArrayRecovery : std::uint8_t {
  none,           ///< nothing: the write hole is there to be found
  resync,         ///< all parity is computed again in the background
  dirty_regions,  ///< only that of regions that were marked as being written
  prewrite,       ///< completed prewrites are written home (needs prewrite_sectors)
};

struct ArrayProfile {
  std::string name, title;
  RaidLevel level = RaidLevel::raid5;
  std::uint32_t members = 0;
  std::uint32_t stripe_unit_sectors = 0;  ///< raid1: ignored
  bool synchronised_spindles =
      false;                    ///< else each member starts at an angle of its own, from the seed
  TimeNs command_ns = 0;        ///< controller's work for one host request
  TimeNs parity_sector_ns = 0;  ///< computing one sector of parity from one sector of data
  std::uint32_t stripe_cache_stripes =
      0;  ///< stripes whose old data and parity are remembered; 0: none
  std::uint32_t prewrite_sectors = 0;  ///< log area on each member; 0: none
  ArrayRecovery recovery = ArrayRecovery::none;
  std::uint32_t region_sectors = 0;  ///< dirty_regions: data that one bit covers
  TimeNs region_idle_ns =
      5 * kSecondNs;  ///< a bit is cleared so long after the last write (md: 5 s)
  bool accept_dirty_degraded =
      false;  ///< start although parity may be wrong and a member is missing
  std::uint64_t rebuild_bytes_per_second = 0;  ///< limit of rebuild, resync and scrub; 0: none
  bool volatile_cache =
      /// false: member caches are switched off, as arrays do; true: flush goes to the members
      false;
};

}  // namespace headcrash::model
