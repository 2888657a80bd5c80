#pragma once
// What kind of flash device it is, as plain data. Simple, and honest about being simple: no garbage
// collection beyond an average cost, no wear. Sectors are of 512 bytes.

#include <cstdint>
#include <string>

#include "plugin/model/simulation.h"

namespace headcrash::model {

struct FlashProfile {
  std::string name, title;
  std::uint64_t capacity_sectors = 0;
  std::uint32_t physical_sector_sectors = 8;
  std::uint32_t queue_depth = 32;
  std::uint32_t channels = 1;
  std::uint32_t luns_per_channel = 1;
  std::uint32_t page_sectors = 8;     ///< unit of reading and programming
  std::uint32_t pages_per_block = 0;  ///< unit of erasing
  TimeNs read_ns = 0;                 ///< one page, NAND to register
  TimeNs program_ns = 0;              ///< one page
  TimeNs erase_ns = 0;                ///< one block; its share is paid by every page programmed
  TimeNs channel_sector_ns = 0;       ///< register to controller
  TimeNs command_ns = 0;              ///< firmware, each request
  TimeNs host_sector_ns = 0;          ///< host interface
  std::uint32_t buffer_sectors = 0;   ///< write buffer
  TimeNs buffer_write_ns = 0;         ///< a write that finds room
  TimeNs flush_ns = 0;                ///< on top of programming what is buffered
  TimeNs trim_ns = 0;
  bool power_loss_protection = false;  ///< the buffer survives: no flush is needed for durability
  bool trim = false;
};

}  // namespace headcrash::model
