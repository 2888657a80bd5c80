#pragma once
// One of several devices on a shared in-memory disk. To the driver it is a separate device. Its
// sectors are stored at the device's addresses (device_address.h) on the shared disk. A flush
// covers only this device.

#include <cstdint>

#include "fs-adapters/substrate/os/block_device.h"
#include "fs-adapters/substrate/os/device_address.h"

namespace headcrash::os {

class DiskWindow final : public BlockDevice {
 public:
  /// The disk must outlive this object.
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
