#pragma once
// What kind of battery-backed write cache it is, as plain data. Sectors are of 512 bytes.

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
  std::uint64_t range_lba = 0;         ///< part of the device below that is cached
  std::uint64_t range_sectors = 0;     ///< 0: from range_lba to the end
  TimeNs command_ns = 0;               ///< work for one request
  TimeNs sector_ns = 0;                ///< copying one sector
  std::uint32_t high_water_permille =
      0;  ///< dirty share of the blocks at which write-back begins; 0: always
  std::uint32_t low_water_permille = 0;  ///< and at which it ends
  TimeNs idle_delay_ns =
      0;  ///< write-back begins after so long without a request; 0: never for that reason
  std::uint32_t destage_sectors_max =
      0;  ///< longest write made by joining neighbours; at least one block
  std::uint32_t destage_depth = 1;  ///< write-backs in flight together
  TimeNs battery_hold_ns = 0;       ///< contents survive a power-off this long
};

/// The first number that is invalid, named as in a profile file: "[nvram] block-sectors".
Result<void> validate(const NvramProfile& profile);

}  // namespace headcrash::model
