#pragma once
// The single disk of the in-process lab: the formatted image, and the state that is currently
// shown.
//
//   base      the formatted image, shared, never written
//   current   a flat copy, created once; the source of each sector is known:
//             b b b 3 3 5 5 b b * b      b the base, 3 and 5 writes of the run, * changed by the
//                                        disk's user
//
// To show another state, the disk copies only the sectors whose source differs; consecutive states
// of a run share nearly all sectors. A read is one memcpy, so a checker reads megabytes of inode
// tables at memory speed. The content of a state equals states::RunHistory::image, but the
// recording is not read again. Each sector has a digest, so a caller that remembers the meaning of
// a digest need not read the bytes.
//
// If a file system's log is on a separate device, this object holds both devices, with the log
// after the disk: sectors from log_at on are the driver's second device (os/device_address.h). One
// recording then has the writes to both devices, in the order in which they were issued. A cut
// leaves any subset of the writes in flight to the two devices that the driver's rules permit. This
// models two drives with one power supply.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fs-adapters/substrate/os/device_address.h"
#include "harness/explorer/in_process/formatted_disk.h"
#include "plugin/model/core/sector_digests.h"
#include "plugin/model/core/store.h"
#include "plugin/states/run_history.h"

namespace headcrash::in_process {

/// Returns states::digest_sum() of each sector. `bytes` consists of whole sectors.
std::vector<std::uint64_t> sector_digests(std::span<const std::byte> bytes);

class StateDisk final : public model::SectorStore {
 public:
  /// `base` consists of whole sectors and must outlive this object. `log_at` is the first sector of
  /// the second device; 0 if absent.
  explicit StateDisk(std::span<const std::byte> base, std::uint64_t log_at = 0);
  /// Like StateDisk(disk.bytes, disk.log_at), but need not compute the digests.
  explicit StateDisk(const FormattedDisk& disk);

  /// Returns the number of sectors on the first device. read(), write() and write_zeroes() use the
  /// driver's addresses; all other functions number the sectors of both devices together.
  std::uint64_t sectors() const override { return log_at_ == 0 ? all_sectors() : log_at_; }
  /// Returns the number of sectors on both devices.
  std::uint64_t all_sectors() const { return current_.size() / model::kSectorBytes; }
  std::uint64_t second_sectors() const { return log_at_ == 0 ? 0 : all_sectors() - log_at_; }
  /// Converts a driver address to a sector number. The sectors of the second device are numbered
  /// after those of the first.
  std::uint64_t sector_of(std::uint64_t address) const {
    return os::device_of(address) == 0 ? address : log_at_ + (address & os::kSectorMask);
  }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

  void show_base();
  /// Reads the contents of all writes of a run, so that its states can be shown. Fails if the
  /// recording cannot be read.
  Result<void> begin_run(std::shared_ptr<const states::RunHistory> run);
  /// Shows a state of the run. The state must have the base `writes`, not `physical` or `member`.
  void show(const states::CrashState& state);

  std::span<const std::byte> bytes() const { return current_; }
  /// Returns `bytes` bytes from the start of a sector, without copying them.
  std::span<const std::byte> content(std::uint64_t sector, std::size_t bytes) const;
  /// Returns the digest of each sector's current contents. Sectors with equal digests have equal
  /// bytes, even in different runs. The digest 0 means zeroes.
  model::SectorDigests digests() const;

  /// Reports each change of a sector's contents to `step` until unwatch() is called (see
  /// remembered_step.h).
  void watch(model::ReadSectors& step) { watched_.push_back(&step); }
  void unwatch(model::ReadSectors& step) { std::erase(watched_, &step); }
  /// Adds to `step` all sectors that are read through read(), content() and digests() before
  /// end_step() is called.
  void begin_step(model::ReadSectors& step);
  void end_step() { step_ = nullptr; }
  /// Returns the sectors that have been written since begin_step(). A sector that was written
  /// several times is listed several times.
  std::span<const std::uint32_t> written_in_step() const { return written_; }

  /// Writes a sector whose digest is already known.
  void write_known(std::uint32_t sector, std::span<const std::byte> bytes, std::uint64_t digest);
  /// If the run wrote the sector's current contents, returns their index, in sectors, in the
  /// concatenated data of all writes of the run. Otherwise, returns nullopt. Equal indices mean
  /// equal contents.
  std::optional<std::size_t> written_sector(std::uint64_t sector) const {
    const std::uint32_t source = source_[sector];
    if (source == kBase || source == kChanged) return {};
    return payload_at_[source - 1] / model::kSectorBytes +
           (sector - run_->writes(0)[source - 1].lba);
  }
  std::size_t written_sectors() const { return payloads_.size() / model::kSectorBytes; }

 private:
  // Values of `source_`. All other values are 1 + the index of a write.
  static constexpr std::uint32_t kBase = 0, kChanged = 0xffffffffU;
  StateDisk(std::span<const std::byte> base, std::uint64_t log_at,
            std::vector<std::uint64_t> digests);
  Result<std::uint64_t> place(std::uint64_t address, std::uint64_t count) const;
  void changed(std::uint64_t lba, std::uint64_t count);
  void note(std::uint64_t sector, std::uint64_t count) const;
  void set_digest(std::uint64_t sector, std::uint64_t digest);
  void mark_changed(std::uint64_t sector);
  void put(std::uint64_t sector, std::uint32_t source);
  void want(std::size_t write, std::uint32_t first, std::uint32_t count);

  std::span<const std::byte> base_;
  std::uint64_t log_at_;
  std::vector<std::byte> current_;
  std::vector<std::uint64_t> base_digests_, digests_;  ///< by sector
  std::vector<std::uint32_t> source_;                  ///< by sector
  std::vector<std::uint32_t> changed_;                 ///< sectors whose source is kChanged
  std::vector<std::uint32_t> written_;                 ///< see written_in_step()
  std::vector<model::ReadSectors*> watched_;
  /// The step whose reads are being recorded, or null.
  model::ReadSectors* step_ = nullptr;
  std::shared_ptr<const states::RunHistory> run_;
  std::vector<std::byte> payloads_;
  std::vector<std::uint64_t> payload_digests_;  ///< indexed by sector within `payloads_`
  /// Position of each write's payload, indexed by write.
  std::vector<std::size_t> payload_at_;
  std::vector<std::uint32_t> touched_;  ///< all sectors that the run writes
  /// The source of each sector in the state that show() creates. Outside show(), all values are
  /// kBase.
  std::vector<std::uint32_t> wanted_;
  std::vector<std::uint8_t> fates_;  ///< indexed by unflushed write
};

}  // namespace headcrash::in_process
