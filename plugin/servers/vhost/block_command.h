#pragma once
// Commands of a virtio block device (virtio 1.1, section 5.2). A chain of descriptors is converted
// to requests to a disk; the results are written into the chain as data and a status byte.

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

/// The disk that is served. `serve` must be thread-safe. It returns 0 or an errno once the request
/// is complete.
struct Disk {
  std::string name;  ///< serial number that the guest sees, truncated to 20 bytes
  std::uint64_t sectors = 0;
  std::uint32_t physical_sector_sectors = 1;
  bool trim = false;
  /// If true, trimmed sectors read as zeroes, so requests to write zeroes may be executed as trims.
  bool trim_zeroes = true;
  std::function<int(const model::Request&)> serve;
  /// Returns true if serve() would not wait at present. The result may be outdated when serve() is
  /// called. If this function is empty, serve() must be assumed to wait.
  std::function<bool()> answers_at_once;
};

inline constexpr std::uint32_t kSegmentsMax = 126;
inline constexpr std::uint32_t kSegmentBytesMax = 64 << 10;
inline constexpr std::size_t kConfigBytes = 60;

/// Returns the feature bits that are offered to the guest's driver.
std::uint64_t device_features(const Disk& disk);
std::array<std::byte, kConfigBytes> device_config(const Disk& disk, std::uint16_t queues);

/// A command in progress: its requests to the disk, one after another, and its answer. The command
/// keeps the chain's memory alive. A command can be moved while one of its requests is in flight,
/// because the addresses of its buffers do not change.
class Command {
 public:
  /// Starts a command, and copies the data that it will write. A rejected command gets an error
  /// status. Fails if the chain is not a command, that is, if it has no header or no byte for the
  /// status. `disk` must outlive the command.
  static Result<Command> begin(std::shared_ptr<const GuestMemory> memory, Chain chain,
                               const Disk& disk);

  /// Returns the next request to the disk; null if there are no more. Valid until answered() is
  /// called.
  const model::Request* next() const;
  void answered(int error);  ///< `error` is the result of the request from next(): 0 or an errno

  /// Writes data and status into the chain. Returns the number of bytes written, including the
  /// status byte.
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

/// Executes one command with `disk.serve`. Returns the same value as Command::finish().
Result<std::uint32_t> execute(const std::shared_ptr<const GuestMemory>& memory, Chain chain,
                              const Disk& disk);

}  // namespace headcrash::vhost
