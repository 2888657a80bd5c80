#pragma once
// The bytes of several devices as one store, at driver addresses (device_address.h). mkfs, checkers
// and readers use it for a file system whose log is on a separate device.
//
//   address   device_address(0, s)        device_address(1, s)
//   store     parts[0]: first + s         parts[1]: first + s       one store, or one each

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fs-adapters/substrate/os/device_address.h"
#include "plugin/model/core/store.h"

namespace headcrash::os {

class DeviceStores final : public model::SectorStore {
 public:
  /// The part of a store that holds one device's bytes. The store must outlive this object.
  struct Part {
    model::SectorStore* store = nullptr;
    std::uint64_t first = 0, sectors = 0;
  };
  explicit DeviceStores(std::vector<Part> parts) : parts_(std::move(parts)) {}

  /// Size of the first device.
  std::uint64_t sectors() const override { return parts_.front().sectors; }
  // The following functions fail if the device does not exist, if the range exceeds it, or if the
  // store fails.
  Result<void> read(std::uint64_t address, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t address, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t address, std::uint64_t count) override;

 private:
  /// Returns the store and the sector that hold `address`.
  Result<std::pair<model::SectorStore*, std::uint64_t>> place(std::uint64_t address,
                                                              std::uint64_t count) const;
  std::vector<Part> parts_;
};

}  // namespace headcrash::os
