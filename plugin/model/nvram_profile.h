#pragma once
// What kind of battery-backed write cache it is, as plain data. Sectors are of 512 bytes.

#include <cstdint>
#include <string>

#include "plugin/model/simulation.h"

namespace headcrash::model {

struct NvramProfile {
  std::string name, title;
  std::uint32_t capacity_sectors = 0;
  std::uint32_t block_sectors = 16;       ///< unit of replacement
  std::uint64_t range_lba = 0;            ///< part of the device below that is cached
  std::uint64_t range_sectors = 0;        ///< 0: all of it
  TimeNs command_ns = 0;                  ///< work for one request
  TimeNs sector_ns = 0;                   ///< copying one sector
  std::uint32_t high_water_permille = 0;  ///< dirty share at which write-back begins
  std::uint32_t low_water_permille = 0;   ///< and at which it ends
  TimeNs idle_delay_ns = 0;  ///< write-back begins after so long without a request; 0: never for that reason
  std::uint32_t destage_sectors_max = 0;  ///< longest write made by joining neighbours
  std::uint32_t destage_depth = 1;        ///< write-backs in flight together
  TimeNs battery_hold_ns = 0;             ///< contents survive a power-off this long
};

}  // namespace headcrash::model
