#pragma once
// A store whose reads and writes are requests of a driver's queue: the calling fiber waits for them. A
// checker written against model::SectorStore then takes the time that the device takes.

#include "fs-adapters/os/disk_queue.h"
#include "plugin/model/store.h"

namespace headcrash::os {

class FiberStore final : public model::SectorStore {
 public:
  /// Longer reads and writes go as several requests, one after the other.
  explicit FiberStore(DiskQueue& disk, std::uint32_t request_sectors_max = 128)
      : disk_(disk), request_sectors_max_(request_sectors_max) {}

  std::uint64_t sectors() const override { return disk_.sectors(); }
  // Errors name the sector and say what the device said.
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

 private:
  DiskQueue& disk_;
  std::uint32_t request_sectors_max_;
};

}  // namespace headcrash::os
