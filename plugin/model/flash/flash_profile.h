#pragma once
// The parameters of a flash device, as plain data. The model is simple: it has no wear, and garbage
// collection is included only as an average cost. Sectors are 512 bytes.

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
  /// Unit of programming, across all planes of a LUN. It must consist of whole physical sectors.
  std::uint32_t page_sectors = 8;
  /// Pages per erase block; 0 if erasing costs nothing.
  std::uint32_t pages_per_block = 0;
  TimeNs read_ns = 0;     ///< time from NAND to register, for up to one page
  TimeNs program_ns = 0;  ///< time for one page
  /// Time to erase one block. Each programmed page is charged a share of this time.
  TimeNs erase_ns = 0;
  TimeNs channel_sector_ns = 0;      ///< transfer time between register and controller
  TimeNs command_ns = 0;             ///< firmware time of reads, flushes and trims
  TimeNs host_sector_ns = 0;         ///< transfer time at the host interface
  std::uint32_t buffer_sectors = 0;  ///< size of the write buffer, at least one page
  TimeNs buffer_write_ns = 0;        ///< firmware time of a write
  TimeNs buffer_sector_ns = 0;       ///< additional firmware time for each sector of a write
  /// A partial page is programmed after this time without a write; 0 to program it at once.
  TimeNs buffer_idle_ns = 0;
  TimeNs flush_ns = 0;  ///< time that a flush takes in addition to programming the buffered data
  TimeNs trim_ns = 0;   ///< time for a trim, and for write_zeroes if trim is supported
  /// If true, the buffer survives a power cut, so no flush is needed for durability.
  bool power_loss_protection = false;
  bool trim = false;
  Tear tear = Tear::silent;  ///< may be overridden by FlashOptions
};

/// Returns an error for the first invalid value. The error names the value as in a profile file,
/// such as "[buffer] sectors".
Result<void> validate(const FlashProfile& profile);

}  // namespace headcrash::model
