#pragma once
// Images in memory as stores: one that is only looked at, and one that is damaged and repaired
// again and again.

#include <cstdint>
#include <span>
#include <vector>

#include "plugin/model/core/store.h"

namespace headcrash::ufs::damage {

/// Somebody's bytes, read only.
class ImageBytes final : public model::SectorStore {
 public:
  /// Whole sectors; they must outlive it.
  explicit ImageBytes(std::span<const std::byte> image) : image_(image) {}
  std::uint64_t sectors() const override { return image_.size() / model::kSectorBytes; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

 private:
  std::span<const std::byte> image_;
};

/// A copy of a sound image, which becomes sound again at the cost of what was written, with a
/// digest of each sector (FsckOptions::contents). With a log's device behind it reads and writes
/// are at a driver's addresses (os/device_address.h), all else counts the sectors of both.
class TrialDisk final : public model::SectorStore {
 public:
  /// Whole sectors; they must outlive it. `log_at`: the log's first one; 0: there is none.
  explicit TrialDisk(std::span<const std::byte> sound, std::uint64_t log_at = 0);

  /// Of the first device.
  std::uint64_t sectors() const override { return log_at_ == 0 ? all_sectors() : log_at_; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  /// The sound image again.
  void show_base();
  std::span<const std::byte> bytes() const { return current_; }
  /// Equal ones of a sector mean equal bytes; 0: zeroes.
  std::span<const std::uint64_t> digests() const { return digests_; }

 private:
  std::uint64_t all_sectors() const { return current_.size() / model::kSectorBytes; }
  /// Among the sectors of both.
  Result<std::uint64_t> place(std::uint64_t address, std::uint64_t count) const;
  void changed(std::uint64_t lba, std::uint64_t count);

  std::span<const std::byte> sound_;
  std::uint64_t log_at_;
  std::vector<std::byte> current_;
  std::vector<std::uint64_t> sound_digests_, digests_;
  std::vector<bool> is_changed_;
  std::vector<std::uint64_t> changed_;  ///< sectors
};

}  // namespace headcrash::ufs::damage
