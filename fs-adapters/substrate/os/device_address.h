#pragma once
// Addresses for a driver that has several devices. The device number occupies the bits above the
// sector number, so addresses on the first device are plain sector numbers.

#include <cstddef>
#include <cstdint>

namespace headcrash::os {

/// An address is (device << kDeviceShift) + sector; devices are counted from 0.
inline constexpr int kDeviceShift = 48;
inline constexpr std::uint64_t kSectorMask = (std::uint64_t{1} << kDeviceShift) - 1;
constexpr std::uint64_t device_address(std::size_t device, std::uint64_t sector) {
  return (std::uint64_t{device} << kDeviceShift) | sector;
}
constexpr std::size_t device_of(std::uint64_t address) {
  return static_cast<std::size_t>(address >> kDeviceShift);
}

}  // namespace headcrash::os
