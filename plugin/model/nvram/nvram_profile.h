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
  std::uint64_t range_lba = 0;         ///< cached part of the device below
  std::uint64_t range_sectors = 0;     ///< 0 if it extends from range_lba to the end
  TimeNs command_ns = 0;               ///< time for one request
  TimeNs sector_ns = 0;                ///< time to copy one sector
  /// Write-back begins when this fraction of the blocks is dirty; 0 for always.
  std::uint32_t high_water_permille = 0;
  std::uint32_t low_water_permille = 0;  ///< dirty fraction at which write-back ends
  /// Write-back begins after this long without a request; 0 disables this trigger.
  TimeNs idle_delay_ns = 0;
  /// Limit for a write that merges neighbours; at least one block.
  std::uint32_t destage_sectors_max = 0;
  std::uint32_t destage_depth = 1;  ///< number of write-backs in flight at once
  TimeNs battery_hold_ns = 0;       ///< how long the contents survive without power
};

/// Returns an error for the first invalid value, named as in a profile file: "[nvram]
/// block-sectors".
Result<void> validate(const NvramProfile& profile);

}  // namespace headcrash::model
