#pragma once
// One of several devices that share an in-memory disk. The driver sees it as a separate device. Its
// sectors are stored on the shared disk at the addresses of this device (device_address.h). A flush
// covers only this device.

#include <cstdint>

#include "fs-adapters/substrate/os/block_device.h"
#include "fs-adapters/substrate/os/device_address.h"

namespace headcrash::os {

class DiskWindow final : public BlockDevice {
 public:
  /// `disk` must outlive this object.
  DiskWindow(BlockDevice& disk, std::size_t device, std::uint64_t sectors)
      : disk_(disk), base_(device_address(device, 0)), sectors_(sectors) {}

  std::uint64_t sectors() const override { return sectors_; }
  bool volatile_cache() const override { return disk_.volatile_cache(); }
  void start(const BlockRequest& request, BlockDone& done) override {
    BlockRequest its = request;
    its.lba += base_;
    disk_.start(its, done);
  }

 private:
  BlockDevice& disk_;
  std::uint64_t base_, sectors_;
};

}  // namespace headcrash::os
