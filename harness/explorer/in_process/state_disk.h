#pragma once
// The single disk of the in-process lab: the formatted image, and the current state on it.
//
//   base      the formatted image, shared, never written
//   current   a flat copy, created once; the source of each sector is known:
//             b b b 3 3 5 5 b b * b      b the base, 3 and 5 writes of the run, * changed by the
//             disk's user
//
// Showing another state copies only sectors whose source differs; consecutive states of a run share
// nearly all. A read is one memcpy, so a checker reads megabytes of inode tables at the speed of
// memory. The content of a state equals states::RunHistory::image, but the recording is not read
// again. Each sector has a digest, so callers that remember a digest's meaning need not read the
// bytes.
//
// If the log of a file system has a separate device, both are here, with the log after the disk:
// sectors from log_at on are the driver's second device (os/device_address.h). One recording then
// has the writes of both disks in one order of issue. A cut leaves any subset of the writes in
// flight on both, as far as the driver's order permits. This corresponds to two drives with one
// power supply.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fs-adapters/substrate/os/device_address.h"
#include "plugin/model/core/store.h"
#include "plugin/states/run_history.h"

namespace headcrash::in_process {

class StateDisk final : public model::SectorStore {
 public:
  /// `base` has whole sectors and must outlive this object. `log_at` is the first sector of the
  /// second device; 0 if none.
  explicit StateDisk(std::span<const std::byte> base, std::uint64_t log_at = 0);

  /// Returns the sectors of the first device. Reads and writes use the driver's addresses; all
  /// other functions count the sectors of both.
  std::uint64_t sectors() const override { return log_at_ == 0 ? all_sectors() : log_at_; }
  std::uint64_t second_sectors() const { return log_at_ == 0 ? 0 : all_sectors() - log_at_; }
  /// Returns the number of a sector among those of both devices.
  std::uint64_t sector_of(std::uint64_t address) const {
    return os::device_of(address) == 0 ? address : log_at_ + (address & os::kSectorMask);
  }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  void show_base();
  /// Prepares for states of this run: reads the bytes of its writes once. Fails if the recording
  /// cannot be read.
  Result<void> begin_run(std::shared_ptr<const states::RunHistory> run);
  /// Shows a state of writes of the run (not physical, not of members).
  void show(const states::CrashState& state);

  std::span<const std::byte> bytes() const { return current_; }
  /// Returns the digest of each current sector. Equal digests mean equal bytes, in all runs; 0
  /// means zeroes.
  std::span<const std::uint64_t> digests() const { return digests_; }
  /// Returns the number of the run's written sector that is there, counted over all its writes.
  /// Knowledge about that sector applies to this one. Returns nullopt for other sectors.
  std::optional<std::size_t> written_sector(std::uint64_t sector) const {
    const std::uint32_t source = source_[sector];
    if (source == kBase || source == kChanged) return {};
    return payload_at_[source - 1] / model::kSectorBytes +
           (sector - run_->writes(0)[source - 1].lba);
  }
  std::size_t written_sectors() const { return payloads_.size() / model::kSectorBytes; }

 private:
  // otherwise 1 + index of the write
  static constexpr std::uint32_t kBase = 0, kChanged = 0xffffffffU;
  std::uint64_t all_sectors() const { return current_.size() / model::kSectorBytes; }
  Result<std::uint64_t> place(std::uint64_t address, std::uint64_t count) const;
  void changed(std::uint64_t lba, std::uint64_t count);
  void put(std::uint64_t sector, std::uint32_t source);
  void want(std::size_t write, std::uint32_t first, std::uint32_t count);

  std::span<const std::byte> base_;
  std::uint64_t log_at_;
  std::vector<std::byte> current_;
  std::vector<std::uint64_t> base_digests_, digests_;  ///< by sector
  std::vector<std::uint32_t> source_;                  ///< by sector
  std::vector<std::uint32_t> changed_;                 ///< sectors with kChanged
  std::shared_ptr<const states::RunHistory> run_;
  std::vector<std::byte> payloads_;
  std::vector<std::uint64_t> payload_digests_;  ///< by sector of the payloads
  std::vector<std::size_t> payload_at_;         ///< by write
  std::vector<std::uint32_t> touched_;          ///< sectors touched by any write of the run
  std::vector<std::uint32_t> wanted_;  ///< by sector; kBase except while a state is assembled
  std::vector<std::uint8_t> fates_;    ///< of unflushed writes
};

}  // namespace headcrash::in_process
