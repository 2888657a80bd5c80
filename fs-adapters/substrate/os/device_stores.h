#pragma once
// The bytes of several devices as one store, at a driver's addresses (device_address.h): what mkfs,
// a checker and a reader are given of a file system whose log has a device of its own.
//
//   address   device_address(0, s)        device_address(1, s)
//   store     parts[0]: first + s         parts[1]: first + s       the same store, or each its own

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fs-adapters/substrate/os/device_address.h"
#include "plugin/model/core/store.h"

namespace headcrash::os {

class DeviceStores final : public model::SectorStore {
 public:
  /// A device is part of a store, which must outlive this.
  struct Part {
    model::SectorStore* store = nullptr;
    std::uint64_t first = 0, sectors = 0;
  };
  explicit DeviceStores(std::vector<Part> parts) : parts_(std::move(parts)) {}

  /// Of the first device.
  std::uint64_t sectors() const override { return parts_.front().sectors; }
  // Errors: no such device, beyond its end, and the stores'.
  Result<void> read(std::uint64_t address, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t address, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t address, std::uint64_t count) override;

 private:
  /// Where it lies in the part's store.
  Result<std::pair<model::SectorStore*, std::uint64_t>> place(std::uint64_t address,
                                                              std::uint64_t count) const;
  std::vector<Part> parts_;
};

}  // namespace headcrash::os
