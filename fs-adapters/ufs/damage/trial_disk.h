#pragma once
// In-memory images as stores: a read-only one, and one that is damaged and repaired repeatedly.

#include <cstdint>
#include <span>
#include <vector>

#include "plugin/model/core/store.h"

namespace headcrash::ufs::damage {

/// A read-only view of the bytes of an image.
class ImageBytes final : public model::SectorStore {
 public:
  /// The bytes must be whole sectors and outlive this object.
  explicit ImageBytes(std::span<const std::byte> image) : image_(image) {}
  std::uint64_t sectors() const override { return image_.size() / model::kSectorBytes; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

 private:
  std::span<const std::byte> image_;
};

/// A copy of a sound image that can be changed and reset, with a digest of each sector
/// (FsckOptions::contents). The time for a reset is proportional to the number of writes. If there
/// is an external log, reads and writes use driver addresses (os/device_address.h); all other
/// functions number the sectors of both devices consecutively.
class TrialDisk final : public model::SectorStore {
 public:
  /// The bytes must be whole sectors and must outlive this object. `log_at` is the log's first
  /// sector; 0 if there is no log.
  explicit TrialDisk(std::span<const std::byte> sound, std::uint64_t log_at = 0);

  /// Size of the first device.
  std::uint64_t sectors() const override { return log_at_ == 0 ? all_sectors() : log_at_; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  /// Undoes all writes, so that the disk contains the sound image again.
  void show_base();
  std::span<const std::byte> bytes() const { return current_; }
  /// Returns a digest of each sector. Sectors with equal digests have equal bytes; 0 means zeroes.
  std::span<const std::uint64_t> digests() const { return digests_; }

 private:
  std::uint64_t all_sectors() const { return current_.size() / model::kSectorBytes; }
  /// Converts a driver address to the number of the sector in `current_`, which contains the
  /// sectors of both devices.
  Result<std::uint64_t> place(std::uint64_t address, std::uint64_t count) const;
  void changed(std::uint64_t lba, std::uint64_t count);

  std::span<const std::byte> sound_;
  std::uint64_t log_at_;
  std::vector<std::byte> current_;
  std::vector<std::uint64_t> sound_digests_, digests_;
  std::vector<bool> is_changed_;
  std::vector<std::uint64_t> changed_;  ///< sectors that differ from the sound image
};

}  // namespace headcrash::ufs::damage
