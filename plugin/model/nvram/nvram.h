#pragma once
// A battery-backed write cache over a device or a range of one (Prestoserve's kind).
//
//   host --write--> [ copy into battery-backed memory ] --ack--> host
//                        |  dirty blocks, least recently written first
//                        +--destage (joined neighbours, FUA if what is below has a volatile cache)--> below
//
// What is durable. A write inside the range is durable when it is acknowledged: its copy survives a
// power cut for battery_hold_ns and is written back at power-on. It leaves the cache only when
// below has it for good. A write, trim or write_zeroes that goes past the cache (longer than the
// cache, partly outside the range, or while the battery is not ok) is durable at its
// acknowledgement as well: it is sent with FUA, a trim followed by a flush, when below has a
// volatile cache. So a flush has nothing to do when the range is the whole device
// (characteristics().volatile_cache is false then); otherwise it is handed to what is below.
//
// Battery and state, in Prestoserve's words:
//
//   state  when                                  writes                contents
//   UP     battery ok, all write-backs worked    cached                survive a power cut
//   ERROR  battery low                           go through, durable   survive, are being written back
//   ERROR  a write-back failed                   go through, durable   survive; tried again at power-on; a
//                                                                      later write to the same
//                                                                      sectors replaces them
//   DOWN   battery dead                          go through, durable   being written back; a power cut loses
//                                                                      what is still there, and a
//                                                                      flush waits for it
//
// The state follows from its reasons: when the battery is ok again and nothing failed is left, it
// is UP. (Prestoserve needs its operator for that.)
//
// What a recording sees. The cache's requests to what is below are that device's own. Under the
// cache's own id, MEDIA says that sectors of its range have become durable: at the end of the copy
// into the memory, or when a write that went through is complete below. The durable content of a
// sector of the range at an instant is therefore the newest such event, or what is below if there
// was none, until a later power-on. Two things end that: a power cut in the middle of a write that
// went through (acknowledged with power_lost: below says how far it came), and an incident
// "contents lost" (below tells everything).
//
// Below a range that is not all of the device, requests outside are passed on as they are.

#include <array>
#include <functional>
#include <memory>

#include "plugin/model/core/device.h"
#include "plugin/model/faults/faults.h"
#include "plugin/model/nvram/nvram_profile.h"

namespace headcrash::model {

/// References must outlive the cache.
struct NvramOptions {
  const NvramProfile& profile;  ///< copied; validate() holds, and its range lies on `below`
  Simulation& simulation;
  Observer& observer;
  std::unique_ptr<Device> below;
  bool bytes = true;  ///< false: only times matter
  DeviceId device = 0;
  std::uint64_t seed = 0;  ///< decides whether the sector being copied at a power cut is kept
  DeviceFaults* battery = nullptr;  ///< battery_low and battery_dead; null: always ok
};

enum class BatteryState : std::uint8_t { ok, low, dead };
enum class NvramState : std::uint8_t { up, down, error };

/// A write counts once for each block that it touches.
struct NvramCounters {
  std::uint64_t cached_writes = 0;  ///< blocks written in the cache
  std::uint64_t write_hits = 0;     ///< ... that were there already
  std::uint64_t dirty_hits =
      0;  ///< ... and dirty in what was written: absorbed, one write below less
  std::uint64_t read_hits = 0;  ///< requests served without what is below
  std::uint64_t absorbed_sectors = 0;
  std::uint64_t destages = 0, destaged_sectors = 0;  ///< write-backs that landed
  std::uint64_t failed_destages = 0;
  std::uint64_t write_throughs =
      0;                         ///< battery not ok, longer than the cache, or not inside the range
  std::uint64_t room_waits = 0;  ///< writes that found no room at first
  std::uint64_t replayed_sectors = 0;  ///< written back because they were dirty at power-on
  std::uint64_t lost_sectors = 0;      ///< dirty ones that the battery did not keep
  std::uint64_t dirty_sectors = 0;     ///< now, with those on their way below
};

/// What is written to a sector, by numbers of whoever says so (a file system's: inodes, data, its
/// log); below kNvramKindsMax. The cache knows nothing of what they mean.
using NvramKindOf = std::function<std::uint8_t(std::uint64_t lba)>;
inline constexpr std::size_t kNvramKindsMax = 16;

/// As in NvramCounters, of one kind.
struct NvramKindCounters {
  std::uint64_t cached_writes = 0;
  std::uint64_t block_hits = 0;  ///< ... to blocks that were dirty, whatever sectors of them
  std::uint64_t dirty_hits = 0;  ///< ... and dirty in what was written
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
  /// From now on counts blocks written in the cache by kind, too. `kind_of` is asked, at the end of
  /// the copy, for the first sector written of each block, and must outlive the cache's last event;
  /// empty: no more.
  void count_kinds(NvramKindOf kind_of);
  const NvramKinds& kinds() const;
  /// Since when there has been nothing left to do; nothing while there is. What is kept until the
  /// marks ask for it, because the profile has no idle delay, does not count.
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
