#pragma once
// Commands of a virtio block device (virtio 1.1, section 5.2): a chain in, requests to a disk, a status byte
// out.

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "plugin/base/result.h"
#include "plugin/model/device.h"
#include "plugin/vhost/guest_memory.h"
#include "plugin/vhost/split_ring.h"

namespace headcrash::vhost {

/// What is served. `serve` may be called by several threads, waits until the request is complete, and gives 0
/// or an errno.
struct Disk {
  std::string name;  ///< what the guest gets as the serial number, of which it sees 20 bytes
  std::uint64_t sectors = 0;
  std::uint32_t physical_sector_sectors = 1;
  bool trim = false;
  std::function<int(const model::Request&)> serve;
  /// Whether serve() would not wait now; it may have changed when it is called. None: it always may.
  std::function<bool()> answers_at_once;
};

inline constexpr std::uint32_t kSegmentsMax = 126;
inline constexpr std::uint32_t kSegmentBytesMax = 64 << 10;
inline constexpr std::size_t kConfigBytes = 60;

/// Bits that the guest's driver sees.
std::uint64_t device_features(const Disk& disk);
std::array<std::byte, kConfigBytes> device_config(const Disk& disk, std::uint16_t queues);

/// Carries out one command; bytes written to the chain, the status byte included. What the disk refuses is a
/// status. Error: the chain cannot be a command: no header, or no room for a status.
Result<std::uint32_t> execute(const GuestMemory& memory, const Chain& chain, const Disk& disk);

}  // namespace headcrash::vhost
