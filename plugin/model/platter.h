#pragma once
// What is on the medium: the one place where a disk's bytes reach the store and the witness hears of it.

#include <cstdint>
#include <span>
#include <vector>

#include "plugin/model/device.h"
#include "plugin/model/write_cache.h"

namespace headcrash::model {

class Platter {
 public:
  /// `store` may be null: only times matter. `seed` decides how sectors tear.
  Platter(SectorStore* store, Witness& witness, DeviceId device, std::uint64_t seed,
          std::uint32_t physical_sectors);

  /// Writes all extents at model time `at`.
  void write(TimeNs at, std::span<const Extent> extents);

  /// The power goes at `at` while `extents`, which adjoin, are being written: `passed` sectors are done and,
  /// when `under_head`, the next one is half done. All of a physical sector is torn when any of it was begun.
  void write_cut_short(TimeNs at, std::span<const Extent> extents, std::uint64_t passed, bool under_head);

  void read(std::uint64_t lba, std::span<std::byte> into);

  /// The store has failed once: nothing that follows can be trusted.
  bool failed() const { return failed_; }
  std::uint64_t sectors_written() const { return sectors_written_; }

 private:
  void put(TimeNs at, const Extent& extent);
  void tear(TimeNs at, const Extent& extent, std::uint64_t new_bytes);
  std::uint64_t random();

  SectorStore* store_;
  Witness& witness_;
  DeviceId device_;
  std::uint64_t random_state_;
  std::uint32_t physical_sectors_;
  std::uint64_t sectors_written_ = 0;
  bool failed_ = false;
  std::vector<std::byte> torn_;
};

}  // namespace headcrash::model
