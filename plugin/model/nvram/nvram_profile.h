#pragma once
// The parameters of a battery-backed write cache, as plain data. Sectors are 512 bytes.

#include <cstdint>
#include <string>

#include "plugin/base/result.h"
#include "plugin/model/core/simulation.h"

namespace headcrash::model {

struct NvramProfile {
  static constexpr std::uint32_t kBlockSectorsMax = 64;
  static constexpr std::uint32_t kDestageDepthMax = 256;

  std::string name, title;
  std::uint32_t capacity_sectors = 0;  ///< a multiple of block_sectors
  std::uint32_t block_sectors = 16;    ///< unit of replacement, at most kBlockSectorsMax
  std::uint64_t range_lba = 0;         ///< first sector of the cached part of the device below
  /// Length of the cached part; 0 if the part extends to the end of the device.
  std::uint64_t range_sectors = 0;
  TimeNs command_ns = 0;  ///< time that one request takes
  TimeNs sector_ns = 0;   ///< time to copy one sector
  /// Write-back begins when this fraction of the blocks is dirty; 0 to write back at once.
  std::uint32_t high_water_permille = 0;
  std::uint32_t low_water_permille = 0;  ///< fraction of dirty blocks at which write-back ends
  /// Write-back also begins after this time without a request; 0 disables this.
  TimeNs idle_delay_ns = 0;
  /// Maximum size of a write-back that combines adjacent blocks; at least one block.
  std::uint32_t destage_sectors_max = 0;
  std::uint32_t destage_depth = 1;  ///< maximum number of write-backs in flight at the same time
  TimeNs battery_hold_ns = 0;       ///< time for which the contents survive without power
};

/// Returns an error for the first invalid value. The error names the value as in a profile file,
/// such as "[nvram] block-sectors".
Result<void> validate(const NvramProfile& profile);

}  // namespace headcrash::model
