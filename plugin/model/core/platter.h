#pragma once
// The bytes of a disk's medium. All writes to the store, and the reports of these writes to the
// observer, go through this class.

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
  SectorStore* store = nullptr;  ///< null if only timing matters
  Observer& observer;
  DeviceId device = 0;
  std::uint64_t seed = 0;  ///< determines how sectors tear
  std::uint64_t sectors = 0;
  std::uint32_t physical_sectors = 1;
  /// Null if faults cannot occur; an interrupted sector is then torn, never unreadable.
  DeviceFaults* faults = nullptr;
  Tear tear = Tear::silent;
};

class Platter {
 public:
  explicit Platter(const PlatterOptions& options);

  /// Writes all extents at model time `at`. A write fault may affect any extent.
  void write(TimeNs at, std::span<const Extent> extents);

  /// Makes the range read as zeroes. Only the drive's mapping changes; the mechanism does not move.
  void trim(TimeNs at, const Extent& extent);

  /// Applies a power cut at `at`, during a write of the contiguous `extents`. The first `passed`
  /// sectors are written. If `under_head` is true, half of the next sector is written, too. Tear
  /// determines the contents of the physical sector that is only partly written.
  void write_cut_short(TimeNs at, std::span<const Extent> extents, std::uint64_t passed,
                       bool under_head);

  /// Reads the range into `into`, or only checks the range if `into` is empty. Skips sectors for
  /// which `cached` returns true. If any sector is unreadable, returns the first such sector and
  /// leaves `into` unchanged.
  std::optional<std::uint64_t> read(std::uint64_t lba, std::uint32_t sectors,
                                    std::span<std::byte> into,
                                    const std::function<bool(std::uint64_t)>& cached = {});

  /// Returns true if the store has failed. All results since then are invalid.
  bool failed() const { return failed_; }
  std::uint64_t sectors_written() const { return sectors_written_; }

 private:
  void put(TimeNs at, const Extent& extent);
  void store_faulty(TimeNs at, const Extent& extent, const WriteFault& fault);
  void store_corrupted(TimeNs at, const Extent& extent, const WriteFault& fault);
  void store_changed(TimeNs at, const Extent& extent, MediaWrite::Outcome outcome,
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
