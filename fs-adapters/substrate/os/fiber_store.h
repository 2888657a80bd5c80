#pragma once
// A store that turns reads and writes into requests in a driver's queue; the calling fiber waits
// for each. A checker written for model::SectorStore thus takes realistic device time.

#include "fs-adapters/substrate/os/disk_queue.h"
#include "plugin/model/core/store.h"

namespace headcrash::os {

struct FiberStoreOptions {
  /// Maximum size of a request; longer reads and writes are split into several, one after another.
  std::uint32_t request_sectors_max = 128;
  bool flushes = false;  ///< flush the device's volatile cache after each write
};

class FiberStore final : public model::SectorStore {
 public:
  explicit FiberStore(DiskQueue& disk, const FiberStoreOptions& options = {})
      : disk_(disk), options_(options) {}

  std::uint64_t sectors() const override { return disk_.sectors(); }
  // The Error of a failed read or write contains the sector and the device's status.
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

 private:
  Result<void> flush(std::uint64_t lba);

  DiskQueue& disk_;
  FiberStoreOptions options_;
};

}  // namespace headcrash::os
