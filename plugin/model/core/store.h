#pragma once
// Storage for the bytes of a medium. The model decides when bytes reach the medium; the store holds
// them. A store is memory, a sparse file (plugin/media), a log with an extent index, or an overlay.
// A run in which only timing matters has no store. The contents of a volatile cache belong to its
// device and are never in the store.

#include <cstddef>
#include <cstdint>
#include <span>

#include "plugin/base/result.h"

namespace headcrash::model {

/// All LBAs and sector counts are in units of 512 bytes, as in Linux and dm-log-writes, regardless
/// of a drive's physical sector size. The physical sector is the unit of tearing
/// (Characteristics::physical_sector_sectors).
inline constexpr std::uint32_t kSectorBytes = 512;

/// The bytes of one medium.
///
///  * Ownership: the caller owns the buffers, and the store keeps no reference to them after a call
///    has returned. The store must outlive its device.
///  * Failure: an Error names the store, the host's reason (no space, I/O error) and a hint. A
///    range that is not whole sectors inside the medium is also an Error. After an error the
///    contents of the range are undefined, the device reports store_error, and the results are
///    invalid.
///  * Threads: calls for one store must not overlap, unless the implementation says otherwise.
///  * Trim: there is no separate call. A device implements a trim, or a write of zeroes, with
///    write_zeroes().
///  * Durability: contents outlive the store only if the implementation says so. No store promises
///    to survive a crash of the host.
class SectorStore {
 public:
  virtual ~SectorStore() = default;

  /// Returns the capacity, which is constant.
  virtual std::uint64_t sectors() const = 0;

  /// Fills `into` with the sectors from `lba` on. Sectors that have never been written read as
  /// zeroes.
  virtual Result<void> read(std::uint64_t lba, std::span<std::byte> into) const = 0;
  virtual Result<void> write(std::uint64_t lba, std::span<const std::byte> data) = 0;
  /// Has the same effect as writing `count` sectors of zeroes with write(). May release space on
  /// the host.
  virtual Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) = 0;
};

}  // namespace headcrash::model
