#include "plugin/model/nvram/nvram_profile.h"

#include <fmt/core.h>

namespace headcrash::model {

Result<void> validate(const NvramProfile& p) {
  const auto wrong = [](const char* key, const char* problem, std::string hint) -> Result<void> {
    return fail(std::string("[nvram] ") + key, problem, std::move(hint));
  };
  if (p.block_sectors == 0 || p.block_sectors > NvramProfile::kBlockSectorsMax) {
    return wrong("block-sectors", "the block size is invalid",
                 fmt::format("use 1 to {} sectors", NvramProfile::kBlockSectorsMax));
  }
  if (p.capacity_sectors == 0 || p.capacity_sectors % p.block_sectors != 0) {
    return wrong("capacity-sectors", "the memory is not a whole number of blocks",
                 fmt::format("use a multiple of {} sectors", p.block_sectors));
  }
  if (p.low_water_permille > p.high_water_permille || p.high_water_permille > 1000) {
    return wrong("low-water-permille", "the watermarks are not in order",
                 "use low-water-permille <= high-water-permille <= 1000");
  }
  if (p.destage_sectors_max < p.block_sectors) {
    return wrong("destage-sectors-max", "a write-back must hold at least one block",
                 fmt::format("use at least {} sectors", p.block_sectors));
  }
  if (p.destage_depth == 0 || p.destage_depth > NvramProfile::kDestageDepthMax) {
    return wrong("destage-depth", "the number of concurrent write-backs is invalid",
                 fmt::format("use 1 to {}", NvramProfile::kDestageDepthMax));
  }
  if (p.command_ns < 0 || p.sector_ns < 0 || p.idle_delay_ns < 0 || p.battery_hold_ns < 0) {
    return wrong("command", "a time is negative", "use times of 0 or more");
  }
  return {};
}

}  // namespace headcrash::model
