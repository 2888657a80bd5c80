#pragma once
// How a driver of several devices says which one is meant: above the sector, so that the first
// one's addresses are the sectors themselves.

#include <cstddef>
#include <cstdint>

namespace headcrash::os {

/// A sector of one of a driver's devices, counted from 0.
inline constexpr int kDeviceShift = 48;
inline constexpr std::uint64_t kSectorMask = (std::uint64_t{1} << kDeviceShift) - 1;
constexpr std::uint64_t device_address(std::size_t device, std::uint64_t sector) {
  return (std::uint64_t{device} << kDeviceShift) | sector;
}
constexpr std::size_t device_of(std::uint64_t address) {
  return static_cast<std::size_t>(address >> kDeviceShift);
}

}  // namespace headcrash::os
