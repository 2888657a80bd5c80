#include "plugin/model/flash/flash_profile.h"

#include <fmt/core.h>

#include <algorithm>

namespace headcrash::model {

Result<void> validate(const FlashProfile& p) {
  const auto wrong = [](const char* key, const char* problem, std::string hint) -> Result<void> {
    return fail(key, problem, std::move(hint));
  };
  if (p.physical_sector_sectors == 0 || p.physical_sector_sectors > 1024) {
    return wrong("[nand] physical-sector-sectors", "the physical sector size is invalid",
                 "use 1 to 1024");
  }
  if (p.page_sectors == 0 || p.page_sectors % p.physical_sector_sectors != 0) {
    return wrong("[nand] page-sectors", "the page is not a whole number of physical sectors",
                 fmt::format("use a multiple of {}", p.physical_sector_sectors));
  }
  // The capacity need not be a whole number of pages, because the capacities of real drives follow
  // IDEMA LBA1-03. The last page may therefore be incomplete.
  if (p.capacity_sectors == 0 || p.capacity_sectors % p.physical_sector_sectors != 0) {
    return wrong("[nand] capacity-sectors",
                 "the capacity is not a whole number of physical sectors",
                 fmt::format("use a multiple of {}", p.physical_sector_sectors));
  }
  if (p.channels == 0 || p.luns_per_channel == 0 ||
      std::uint64_t{p.channels} * p.luns_per_channel > FlashProfile::kLunsMax) {
    return wrong("[nand] channels", "the number of LUNs is invalid",
                 fmt::format("use 1 to {}", FlashProfile::kLunsMax));
  }
  if (p.queue_depth == 0 || p.queue_depth > FlashProfile::kQueueDepthMax) {
    return wrong("[host] queue-depth", "the queue depth is invalid",
                 fmt::format("use 1 to {}", FlashProfile::kQueueDepthMax));
  }
  if (p.buffer_sectors < p.page_sectors) {
    return wrong("[buffer] sectors", "the buffer must hold at least one page",
                 fmt::format("use at least {}", p.page_sectors));
  }
  const TimeNs times[] = {p.read_ns,           p.program_ns,       p.erase_ns,
                          p.channel_sector_ns, p.command_ns,       p.host_sector_ns,
                          p.buffer_write_ns,   p.buffer_sector_ns, p.buffer_idle_ns,
                          p.flush_ns,          p.trim_ns};
  if (std::any_of(std::begin(times), std::end(times), [](TimeNs t) { return t < 0; })) {
    return wrong("", "a time is negative", "use times of 0 or more");
  }
  return {};
}

}  // namespace headcrash::model
