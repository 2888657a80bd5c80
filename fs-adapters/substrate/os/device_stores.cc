// Maps addresses to stores (device_stores.h).
#include "fs-adapters/substrate/os/device_stores.h"

#include <fmt/core.h>

namespace headcrash::os {

Result<std::pair<model::SectorStore*, std::uint64_t>> DeviceStores::place(
    std::uint64_t address, std::uint64_t count) const {
  const std::size_t device = device_of(address);
  const std::uint64_t sector = address & kSectorMask;
  if (device >= parts_.size()) return fail(fmt::format("device {}", device), "does not exist");
  const Part& part = parts_[device];
  if (sector > part.sectors || count > part.sectors - sector)
    return fail(fmt::format("device {}", device),
                fmt::format("ends before sector {}", sector + count));
  return std::pair(part.store, part.first + sector);
}

Result<void> DeviceStores::read(std::uint64_t address, std::span<std::byte> into) const {
  const auto at = place(address, into.size() / model::kSectorBytes);
  return at ? at->first->read(at->second, into) : forward_error(at);
}

Result<void> DeviceStores::write(std::uint64_t address, std::span<const std::byte> data) {
  const auto at = place(address, data.size() / model::kSectorBytes);
  return at ? at->first->write(at->second, data) : forward_error(at);
}

Result<void> DeviceStores::write_zeroes(std::uint64_t address, std::uint64_t count) {
  const auto at = place(address, count);
  return at ? at->first->write_zeroes(at->second, count) : forward_error(at);
}

}  // namespace headcrash::os
