#pragma once
// The one disk of the in-process lab: the formatted image, and on it whatever state is looked at
// now.
//
//   base      the formatted image, shared, never written
//   current   a flat copy of it, made once; where each sector's bytes come from is known:
//             b b b 3 3 5 5 b b * b      b the base, 3 and 5 writes of the run, * changed by who uses the
//             disk
//
// Showing another state copies only sectors that come from somewhere else than they do now;
// neighbouring states of a run share nearly all of them. Reads are one memcpy, so that a checker
// that reads a megabyte of inode tables does so at the speed of memory. What a state is made of is
// the same as in states::RunHistory::image, only that nothing is read from the recording again. A
// digest of each sector goes with it: who knows what a digest stood for need not look at the bytes.
//
// A file system with its log on a device of its own has both here, the log's behind the other:
// sectors from log_at on are what a driver calls the second device (os/device_address.h). One
// recording then has both disks' writes in one order of issue, and a cut leaves what it leaves on
// both: any subset of the writes under way, whichever disk they are for, as far as the driver's
// order goes over them. That is two drives with one power supply.

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
  /// `base`: whole sectors; must outlive it. `log_at`: the second device's first one; 0: there is
  /// none.
  explicit StateDisk(std::span<const std::byte> base, std::uint64_t log_at = 0);

  /// Of the first device. Reads and writes are at a driver's addresses, all else counts the sectors
  /// of both.
  std::uint64_t sectors() const override { return log_at_ == 0 ? all_sectors() : log_at_; }
  std::uint64_t second_sectors() const { return log_at_ == 0 ? 0 : all_sectors() - log_at_; }
  /// Among the sectors of both.
  std::uint64_t sector_of(std::uint64_t address) const {
    return os::device_of(address) == 0 ? address : log_at_ + (address & os::kSectorMask);
  }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  void show_base();
  /// States of this run follow: its writes' bytes are read once. Errors: the recording cannot be
  /// read.
  Result<void> begin_run(std::shared_ptr<const states::RunHistory> run);
  /// A state by writes (not physical, not of members) of the run.
  void show(const states::CrashState& state);

  std::span<const std::byte> bytes() const { return current_; }
  /// Of each sector as it is now: equal ones mean equal bytes, in all runs; 0: zeroes.
  std::span<const std::uint64_t> digests() const { return digests_; }
  /// Which of the sectors that the run wrote is there, numbered over all its writes: what is known
  /// of that one is known of this. Nothing: it is none of them.
  std::optional<std::size_t> written_sector(std::uint64_t sector) const {
    const std::uint32_t source = source_[sector];
    if (source == kBase || source == kChanged) return {};
    return payload_at_[source - 1] / model::kSectorBytes +
           (sector - run_->writes(0)[source - 1].lba);
  }
  std::size_t written_sectors() const { return payloads_.size() / model::kSectorBytes; }

 private:
  static constexpr std::uint32_t kBase = 0, kChanged = 0xffffffffU;  // else 1 + index of the write
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
  std::vector<std::uint32_t> touched_;          ///< sectors that any write of the run has
  std::vector<std::uint32_t> wanted_;  ///< by sector; kBase but while a state is put together
  std::vector<std::uint8_t> fates_;    ///< of unflushed writes
};

}  // namespace headcrash::in_process
