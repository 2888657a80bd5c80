#pragma once
// Commands of a virtio block device (virtio 1.1, section 5.2): a chain in, requests to a disk, a
// status byte out.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/core/device.h"
#include "plugin/servers/vhost/guest_memory.h"
#include "plugin/servers/vhost/split_ring.h"

namespace headcrash::vhost {

/// What is served. `serve` may be called by several threads, waits until the request is complete,
/// and gives 0 or an errno.
struct Disk {
  std::string name;  ///< what the guest gets as the serial number, of which it sees 20 bytes
  std::uint64_t sectors = 0;
  std::uint32_t physical_sector_sectors = 1;
  bool trim = false;
  bool trim_zeroes =
      true;  ///< what was trimmed reads as zeroes: only then may zeroes be written by a trim
  std::function<int(const model::Request&)> serve;
  /// Whether serve() would not wait now; it may have changed when it is called. None: it always
  /// may.
  std::function<bool()> answers_at_once;
};

inline constexpr std::uint32_t kSegmentsMax = 126;
inline constexpr std::uint32_t kSegmentBytesMax = 64 << 10;
inline constexpr std::size_t kConfigBytes = 60;

/// Bits that the guest's driver sees.
std::uint64_t device_features(const Disk& disk);
std::array<std::byte, kConfigBytes> device_config(const Disk& disk, std::uint16_t queues);

/// One command on its way: the requests that it asks of the disk, one after the other, and its
/// answer. Keeps the memory that its chain lies in. It can be moved while a request is inside:
/// buffers stay where they are.
class Command {
 public:
  /// Data that are to be written are copied now. What the disk refuses is a status. Error: the
  /// chain cannot be a command: no header, or no room for a status. `disk` must outlive it.
  static Result<Command> begin(std::shared_ptr<const GuestMemory> memory, Chain chain,
                               const Disk& disk);

  /// What the disk is to do next; null when there is nothing left. Valid until answered().
  const model::Request* next() const;
  void answered(int error);  ///< of that request: 0 or an errno

  /// Writes data and status; the bytes written to the chain, the status byte included.
  Result<std::uint32_t> finish() const;
  std::uint16_t head() const { return chain_.head; }

 private:
  Command(std::shared_ptr<const GuestMemory> memory, Chain chain, const Disk& disk)
      : memory_(std::move(memory)), chain_(std::move(chain)), disk_(&disk) {}
  Result<void> prepare();
  void prepare_read();
  Result<void> prepare_write();
  Result<void> prepare_ranges();

  std::shared_ptr<const GuestMemory> memory_;
  Chain chain_;
  const Disk* disk_;
  std::uint32_t type_ = 0;
  std::uint64_t sector_ = 0, out_bytes_ = 0, in_bytes_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<model::Request> requests_;
  std::size_t asked_ = 0;
  std::byte status_{0};
};

/// Carries out one command with `disk.serve`; as Command::finish().
Result<std::uint32_t> execute(const std::shared_ptr<const GuestMemory>& memory, Chain chain,
                              const Disk& disk);

}  // namespace headcrash::vhost
