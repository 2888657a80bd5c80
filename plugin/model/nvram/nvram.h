#pragma once
// A battery-backed write cache over a device or a range of it (like Prestoserve).
//
//   host --write--> [ copy into battery-backed memory ] --ack--> host
//                        |  dirty blocks, least recently written first
//                        +--destage (adjacent blocks combined, FUA if the cache below is volatile)
//
// Durability. A write inside the range is durable when it is acknowledged: its copy survives a
// power cut for battery_hold_ns and is written back at power-on. The data leaves the cache only
// when the device below has stored it durably. A write, trim or write_zeroes that bypasses the
// cache (longer than the cache, partly outside the range, or while the battery is not ok) is also
// durable at its acknowledgement. If the device below has a volatile cache, such a write is sent
// with FUA, and such a trim is followed by a flush. If the range is the whole device, a flush
// therefore has no work to do (characteristics().volatile_cache is false). Otherwise flushes are
// forwarded.
//
// Battery and state, in Prestoserve's terms:
//
//   state  when                               writes               contents
//   UP     battery ok, all write-backs worked cached               survive a power cut
//   ERROR  battery low                        go through, durable  survive, are being written back
//   ERROR  a write-back failed                go through, durable  survive; retried at power-on; a
//                                                                  later write to the same sectors
//                                                                  replaces them
//   DOWN   battery dead                       go through, durable  being written back; a power cut
//                                                                  loses the remaining ones, and a
//                                                                  flush waits for them
//
// The state follows from these conditions: it returns to UP when the battery is ok and no failed
// block is left. (In Prestoserve the operator does that.)
//
// Recordings. Requests of the cache to the device below are recorded under that device's id. Under
// the cache's id, a MEDIA event records that sectors of the range have become durable: when the
// copy into the memory ends, or when a write that bypassed the cache completes in the device below.
// The newest such event therefore gives the durable content of a sector in the range; if there has
// been no such event, the content of the device below applies. There are two exceptions. After a
// power cut during a write that bypasses the cache (acknowledged with power_lost), the content of
// the device below shows how much of the write was stored. After an incident "contents lost", only
// the content of the device below counts.
//
// If the range is not the whole device, requests outside it are forwarded unchanged.

#include <array>
#include <functional>
#include <memory>

#include "plugin/model/core/device.h"
#include "plugin/model/faults/faults.h"
#include "plugin/model/nvram/nvram_profile.h"

namespace headcrash::model {

/// Options of a cache. The objects that they refer to must outlive the cache.
struct NvramOptions {
  /// copied; must pass validate(), and its range must be within `below`
  const NvramProfile& profile;
  Simulation& simulation;
  Observer& observer;
  std::unique_ptr<Device> below;
  bool bytes = true;  ///< false if only timing matters
  DeviceId device = 0;
  /// Determines whether the sector that is being copied at a power cut is kept.
  std::uint64_t seed = 0;
  /// The faults battery_low and battery_dead; null if the battery is always ok.
  DeviceFaults* battery = nullptr;
};

enum class BatteryState : std::uint8_t { ok, low, dead };
enum class NvramState : std::uint8_t { up, down, error };

/// Counters of a cache. Unless stated otherwise, a write counts once for each block that it
/// touches.
struct NvramCounters {
  std::uint64_t cached_writes = 0;  ///< number of blocks written to the cache
  std::uint64_t write_hits = 0;     ///< writes to blocks that were in the cache
  /// Number of blocks in which a write overwrote at least one dirty sector. Each such block saves a
  /// write to the device below.
  std::uint64_t dirty_hits = 0;
  std::uint64_t read_hits = 0;  ///< read requests that were served without the device below
  std::uint64_t absorbed_sectors = 0;
  std::uint64_t destages = 0, destaged_sectors = 0;  ///< completed write-backs
  std::uint64_t failed_destages = 0;
  /// Writes that bypassed the cache: the battery was not ok, or the write was longer than the cache
  /// or not entirely inside the range.
  std::uint64_t write_throughs = 0;
  std::uint64_t room_waits = 0;        ///< writes that had to wait for free blocks
  std::uint64_t replayed_sectors = 0;  ///< sectors written back because they were dirty at power-on
  /// Dirty sectors that were lost because the battery did not last.
  std::uint64_t lost_sectors = 0;
  /// Current number of dirty sectors, including those that are in flight to the device below.
  std::uint64_t dirty_sectors = 0;
};

/// Returns the kind of data in a sector: a number below kNvramKindsMax whose meaning the caller
/// defines (for a file system: inodes, data, its log). The cache does not interpret the number.
using NvramKindOf = std::function<std::uint8_t(std::uint64_t lba)>;
inline constexpr std::size_t kNvramKindsMax = 16;

/// Counters for one kind of data; compare NvramCounters.
struct NvramKindCounters {
  std::uint64_t cached_writes = 0;
  std::uint64_t block_hits = 0;  ///< writes to blocks that had at least one dirty sector
  /// Number of written blocks in which the write overwrote at least one dirty sector.
  std::uint64_t dirty_hits = 0;
};
using NvramKinds = std::array<NvramKindCounters, kNvramKindsMax>;

class Nvram final : public Device {
 public:
  explicit Nvram(NvramOptions options);
  ~Nvram() override;

  const Characteristics& characteristics() const override;
  DeviceCounters counters() const override;
  void submit(const Request& request, Initiator& initiator) override;
  void power_cut() override;
  void power_on() override;

  NvramCounters nvram_counters() const;
  /// Starts counting written blocks by kind. After data has been copied into the cache, the cache
  /// calls `kind_of` with the first written sector of each block. The function must remain valid
  /// until after the cache's last event. An empty function ends the counting.
  void count_kinds(NvramKindOf kind_of);
  const NvramKinds& kinds() const;
  /// Returns the time at which the cache became idle; nullopt while busy. If the profile has no
  /// idle delay, a cache with dirty data below the high-water mark counts as idle.
  std::optional<TimeNs> quiet_since() const override;
  void shut_down() override;
  BatteryState battery() const;  ///< as of the last request, write-back or power change
  NvramState state() const;
  Device& below();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::model
