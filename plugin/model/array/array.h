#pragma once
// A disk array: RAID 0, 1, 4, 5 or 6 over any devices. Parity is computed from the actual bytes.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/model/array/array_profile.h"
#include "plugin/model/core/device.h"

namespace headcrash::model {

class ArrayController;

/// An array marks its members clean after this time without writes. Linux md's safe_mode_delay has
/// the same value.
inline constexpr TimeNs kArrayIdleCleanNs = 200 * kMillisecondNs;

/// Options of an array. The objects that they refer to must outlive the array.
struct ArrayOptions {
  const ArrayProfile& profile;  ///< copied
  Simulation& simulation;
  Observer& observer;
  std::vector<std::unique_ptr<Device>> members;  ///< all of the same size
  bool bytes = true;  ///< false if members store no bytes and only timing matters
  DeviceId device = 0;
  std::uint64_t seed = 0;
  /// Seed that determines the order in which the controller executes concurrent work; 0 for FIFO.
  std::uint64_t schedule = 0;
};

enum class MemberState : std::uint8_t { active, failed, rebuilding };

struct ArrayStatus {
  std::vector<MemberState> members;
  bool dirty = false;  ///< parity may be inconsistent
  /// Set if the array was dirty and degraded when it started, and therefore rejects requests. The
  /// text gives the reason.
  std::optional<std::string> refused;
  std::string background;                                   ///< "", "rebuild", "resync", "scrub"
  std::uint64_t background_done = 0, background_total = 0;  ///< progress, in sectors of a member
  std::uint64_t mismatches = 0;  ///< inconsistent stripes found by the last scrub
};

/// Counters of an array, in addition to DeviceCounters.
struct ArrayCounters {
  std::uint64_t full_stripe_writes = 0, read_modify_writes = 0, reconstruct_writes = 0;
  std::uint64_t degraded_reads = 0, degraded_writes = 0, prewrites = 0, rolled_forward = 0,
                stripe_cache_hits = 0;
  std::uint64_t repaired_sectors = 0;  ///< unreadable sectors reconstructed and rewritten
  /// Number of writes of superblocks and region maps. A write to all members counts once.
  std::uint64_t metadata_writes = 0;
};

class Array final : public Device {
 public:
  /// Assembles an array: reads the members' superblocks, or writes superblocks to blank members,
  /// then recovers like power_on(). Runs the simulation until the array is ready. With bytes=false,
  /// sends no commands to the members. Fails if there are too few members or their sizes differ, if
  /// the stripe unit is not a multiple of the physical sector, if a member belongs to another
  /// array, or if a missing or replaced member is not recorded as failed.
  static Result<std::unique_ptr<Array>> create(ArrayOptions options);
  ~Array() override;

  const Characteristics& characteristics() const override;
  DeviceCounters counters() const override;
  void submit(const Request& request, Initiator& initiator) override;
  void power_cut() override;
  void power_on() override;
  /// Waits for the requests in flight, marks the members clean (which would otherwise happen after
  /// kArrayIdleCleanNs), and shuts the members down.
  void shut_down() override;

  ArrayStatus status() const;
  ArrayCounters array_counters() const;
  /// Returns the time at which the array became idle; nullopt while it has requests or background
  /// work. Internal work of the members, such as write-back, does not count.
  std::optional<TimeNs> quiet_since() const override;
  Device& member(std::size_t index);

  /// Operator commands. A command fails if the member does not exist, if its state does not permit
  /// the command, if other background work is running, or if the array has not started yet.
  Result<void> fail_member(std::size_t index);
  /// Rebuilds a member whose drive has been replaced by a blank one.
  Result<void> rebuild(std::size_t index);
  Result<void> scrub(bool repair);
  void set_rebuild_rate(std::uint64_t bytes_per_second);
  /// Starts an array that refused to start because it was dirty and degraded.
  Result<void> accept_dirty_degraded();

  /// The following functions convert between the array's data sectors and the sectors of each
  /// member.
  static std::uint64_t member_sectors(const ArrayProfile& profile, std::uint64_t data_sectors);
  static std::uint64_t data_sectors(const ArrayProfile& profile, std::uint64_t member_sectors);
  /// Returns each member's prewrite area: first LBA and length.
  static std::pair<std::uint64_t, std::uint64_t> prewrite_range(const ArrayProfile& profile);

 private:
  explicit Array(std::unique_ptr<ArrayController> controller);
  std::unique_ptr<ArrayController> controller_;
};

}  // namespace headcrash::model
