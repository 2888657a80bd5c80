#pragma once
// What kind of flash device it is, as plain data. Simple, and honest about being simple: no garbage
// collection beyond an average cost, no wear. Sectors are of 512 bytes.

#include <cstdint>
#include <string>

#include "plugin/base/result.h"
#include "plugin/model/core/simulation.h"
#include "plugin/model/core/tear.h"

namespace headcrash::model {

struct FlashProfile {
  static constexpr std::uint32_t kLunsMax = 4096;
  static constexpr std::uint32_t kQueueDepthMax = 65536;

  std::string name, title;
  std::uint64_t capacity_sectors = 0;
  std::uint32_t physical_sector_sectors = 8;
  std::uint32_t queue_depth = 32;
  std::uint32_t channels = 1;
  std::uint32_t luns_per_channel = 1;
  std::uint32_t page_sectors =
      8;  ///< unit of programming, all planes of a LUN together; of physical sectors
  std::uint32_t pages_per_block = 0;  ///< unit of erasing, in such pages; 0: erasing costs nothing
  TimeNs read_ns = 0;                 ///< NAND to register, up to one page
  TimeNs program_ns = 0;              ///< one page
  TimeNs erase_ns = 0;                ///< one block; its share is paid by every page programmed
  TimeNs channel_sector_ns = 0;       ///< between register and controller
  TimeNs command_ns = 0;              ///< firmware: reads, flushes, trims
  TimeNs host_sector_ns = 0;          ///< host interface
  std::uint32_t buffer_sectors = 0;   ///< write buffer, at least one page
  TimeNs buffer_write_ns = 0;         ///< firmware: a write
  TimeNs buffer_sector_ns = 0;        ///< ... and each of its sectors
  TimeNs buffer_idle_ns =
      0;  ///< less than a page is programmed after so long without another write; 0: at once
  TimeNs flush_ns = 0;                 ///< on top of programming what is buffered
  TimeNs trim_ns = 0;                  ///< also write_zeroes, when trim is there
  bool power_loss_protection = false;  ///< the buffer survives: no flush is needed for durability
  bool trim = false;
  Tear tear = Tear::silent;  ///< unless FlashOptions say otherwise
};

/// The first number that is invalid, named as in a profile file: "[buffer] sectors".
Result<void> validate(const FlashProfile& profile);

}  // namespace headcrash::model
