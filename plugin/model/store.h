#pragma once
// Where a device's bytes lie when they are on the medium. The model decides when bytes reach the medium, a
// store keeps them: memory, a sparse file (plugin/media), a log with an extent index, an overlay, or nothing
// at all when only times matter. What is in a volatile cache is the device's own and never in the store.

#include <cstddef>
#include <cstdint>
#include <span>

#include "plugin/base/result.h"

namespace headcrash::model {

/// All LBAs and sector counts are in sectors of 512 bytes, as in Linux and in dm-log-writes, whatever the
/// physical sector of a drive is (that one is the unit of tearing: Characteristics::physical_sector_sectors).
inline constexpr std::uint32_t kSectorBytes = 512;

class SectorStore {
 public:
  virtual ~SectorStore() = default;

  virtual std::uint64_t sectors() const = 0;

  /// Never-written sectors read as zeroes. `into.size()` is a multiple of kSectorBytes and the range lies
  /// inside.
  virtual Result<void> read(std::uint64_t lba, std::span<std::byte> into) const = 0;
  virtual Result<void> write(std::uint64_t lba, std::span<const std::byte> data) = 0;
  virtual Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) = 0;
};

}  // namespace headcrash::model
