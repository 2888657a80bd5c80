#pragma once
// Where a device's bytes lie when they are on the medium. The model decides when bytes reach the
// medium, a store keeps them: memory, a sparse file (plugin/media), a log with an extent index, an
// overlay, or nothing at all when only times matter. What is in a volatile cache is the device's
// own and never in the store.

#include <cstddef>
#include <cstdint>
#include <span>

#include "plugin/base/result.h"

namespace headcrash::model {

/// All LBAs and sector counts are in sectors of 512 bytes, as in Linux and in dm-log-writes,
/// whatever the physical sector of a drive is (that one is the unit of tearing:
/// Characteristics::physical_sector_sectors).
inline constexpr std::uint32_t kSectorBytes = 512;

/// The bytes of one medium.
///
///  * Ownership: buffers are the caller's and are not kept after a call returns. The store outlives
///    its
///    device.
///  * Failure: an Error names the store, the host's reason (no space, I/O error) and what to do. A
///    range that
///    is not whole sectors inside the medium is an Error, too. After an error the contents of the
///    range are undefined; the device reports store_error and the run is not to be trusted.
///  * Threads: calls for one store must not overlap, unless the implementation says otherwise.
///  * TRIM: a store has no such call. A device that carries out a trim, or a write of zeroes, calls
///    write_zeroes().
///  * Durability: contents outlive the store only where the implementation says so. None is
///    promised to
///    survive a crash of the host.
class SectorStore {
 public:
  virtual ~SectorStore() = default;

  /// Capacity; does not change.
  virtual std::uint64_t sectors() const = 0;

  /// Fills `into` from sector `lba` on. Sectors that were never written read as zeroes.
  virtual Result<void> read(std::uint64_t lba, std::span<std::byte> into) const = 0;
  virtual Result<void> write(std::uint64_t lba, std::span<const std::byte> data) = 0;
  /// As write() of `count` sectors of zeroes; may give the host its space back.
  virtual Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) = 0;
};

}  // namespace headcrash::model
