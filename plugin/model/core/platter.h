#pragma once
// What is on the medium: the one place where a disk's bytes reach the store and the observer hears
// of it.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "plugin/base/random.h"
#include "plugin/model/core/device.h"
#include "plugin/model/core/tear.h"
#include "plugin/model/disk/write_cache.h"
#include "plugin/model/faults/faults.h"

namespace headcrash::model {

struct PlatterOptions {
  SectorStore* store = nullptr;  ///< null: only times matter
  Observer& observer;
  DeviceId device = 0;
  std::uint64_t seed = 0;  ///< decides how sectors tear
  std::uint64_t sectors = 0;
  std::uint32_t physical_sectors = 1;
  DeviceFaults* faults =
      nullptr;  ///< null: no fault ever, and no sector becomes unreadable (it tears)
  Tear tear = Tear::silent;
};

class Platter {
 public:
  explicit Platter(const PlatterOptions& options);

  /// Writes all extents at model time `at`; each may meet a write fault.
  void write(TimeNs at, std::span<const Extent> extents);

  /// The range reads as zeroes from now on; the drive's books say so, the mechanism has no part in
  /// it.
  void trim(TimeNs at, const Extent& extent);

  /// The power goes at `at` while `extents`, which adjoin, are being written: `passed` sectors are
  /// done and, when `under_head`, the next one is half done. What becomes of a physical sector of
  /// which any was begun says Tear.
  void write_cut_short(TimeNs at, std::span<const Extent> extents, std::uint64_t passed,
                       bool under_head);

  /// Fills `into`, unless it is empty. Returns the first sector that cannot be read, of those for
  /// which `cached` is not true; `into` is left alone then.
  std::optional<std::uint64_t> read(std::uint64_t lba, std::uint32_t sectors,
                                    std::span<std::byte> into,
                                    const std::function<bool(std::uint64_t)>& cached = {});

  /// The store has failed once: nothing that follows can be trusted.
  bool failed() const { return failed_; }
  std::uint64_t sectors_written() const { return sectors_written_; }

 private:
  void put(TimeNs at, const Extent& extent);
  void put_faulty(TimeNs at, const Extent& extent, const WriteFault& fault);
  void put_corrupted(TimeNs at, const Extent& extent, const WriteFault& fault);
  void put_changed(TimeNs at, const Extent& extent, MediaWrite::Outcome outcome,
                   std::span<const std::byte> bytes);
  void tear(TimeNs at, const Extent& extent, std::uint64_t new_bytes, MediaWrite::Outcome outcome);
  void spoil_neighbours(TimeNs at, RequestId source, std::uint64_t begin, std::uint64_t end);
  enum class Left : std::uint8_t { old_bytes, new_bytes, mix, unreadable };
  Left draw_left();
  void heal(std::uint64_t lba, std::uint32_t sectors);
  bool moves_bytes(const Extent& extent) const {
    return store_ != nullptr && (extent.zeroes || !extent.bytes.empty());
  }

  SectorStore* store_;
  Observer& observer_;
  DeviceId device_;
  Random random_;
  std::uint64_t sectors_;
  std::uint32_t physical_sectors_;
  DeviceFaults* faults_;
  Tear tear_;
  std::uint64_t sectors_written_ = 0;
  bool failed_ = false;
  std::vector<std::byte> changed_;
};

}  // namespace headcrash::model
