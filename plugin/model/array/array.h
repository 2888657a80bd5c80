#pragma once
// A disk array: RAID 0, 1, 4, 5, 6 over any devices, parity on real bytes.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/model/array/array_profile.h"
#include "plugin/model/core/device.h"

namespace headcrash::model {

class ArrayController;

/// An array without writes for so long marks its members clean (as Linux md's safe_mode_delay, 200
/// ms).
inline constexpr TimeNs kArrayIdleCleanNs = 200 * kMillisecondNs;

/// References must outlive the array.
struct ArrayOptions {
  const ArrayProfile& profile;  ///< copied
  Simulation& simulation;
  Observer& observer;
  std::vector<std::unique_ptr<Device>> members;  ///< of equal size
  bool bytes = true;  ///< false: members hold no bytes, only times matter
  DeviceId device = 0;
  std::uint64_t seed = 0;
};

enum class MemberState : std::uint8_t { active, failed, rebuilding };

struct ArrayStatus {
  std::vector<MemberState> members;
  bool dirty = false;                  ///< parity may be wrong somewhere
  std::optional<std::string> refused;  ///< why it does not serve requests (a dirty degraded start)
  std::string background;              ///< "", "rebuild", "resync", "scrub"
  std::uint64_t background_done = 0, background_total = 0;  ///< sectors of a member
  std::uint64_t mismatches = 0;  ///< stripes that the last scrub found wrong
};

/// Beyond the counters that every device has.
struct ArrayCounters {
  std::uint64_t full_stripe_writes = 0, read_modify_writes = 0, reconstruct_writes = 0;
  std::uint64_t degraded_reads = 0, degraded_writes = 0, prewrites = 0, rolled_forward = 0,
                stripe_cache_hits = 0;
  std::uint64_t repaired_sectors = 0;  ///< unreadable, computed from the others and written again
  std::uint64_t metadata_writes = 0;   ///< of superblocks and region maps, each on all members
};

class Array final : public Device {
 public:
  /// Reads the members' superblocks, or writes them to blank members, and recovers as power_on()
  /// does; for that it runs the simulation (bytes=false: no commands at all). Refuses members of
  /// different sizes, too few of them, a stripe unit that does not fit the physical sector, members
  /// that belong to another array, a missing or replaced member that the others do not know as
  /// failed.
  static Result<std::unique_ptr<Array>> create(ArrayOptions options);
  ~Array() override;

  const Characteristics& characteristics() const override;
  DeviceCounters counters() const override;
  void submit(const Request& request, Initiator& initiator) override;
  void power_cut() override;
  void power_on() override;
  /// Waits for the requests inside and marks the members clean, which otherwise happens when the
  /// array has been idle for kArrayIdleCleanNs; then shuts the members down.
  void shut_down() override;

  ArrayStatus status() const;
  ArrayCounters array_counters() const;
  /// Since when no request has been inside; nothing while one is, or work in the background. What
  /// the members still do is theirs to tell.
  std::optional<TimeNs> quiet_since() const override;
  Device& member(std::size_t index);

  /// As an operator would. Errors: no such member, not in the state for it, something else runs in
  /// the background.
  Result<void> fail_member(std::size_t index);
  Result<void> rebuild(std::size_t index);  ///< onto the (replaced, blank) member
  Result<void> scrub(bool repair);
  void set_rebuild_rate(std::uint64_t bytes_per_second);
  Result<void> accept_dirty_degraded();  ///< starts a refused array

  /// Sectors of a member that an array of `data_sectors` needs, and the other way round.
  static std::uint64_t member_sectors(const ArrayProfile& profile, std::uint64_t data_sectors);
  static std::uint64_t data_sectors(const ArrayProfile& profile, std::uint64_t member_sectors);
  /// Where the prewrite area lies on each member: first LBA and length.
  static std::pair<std::uint64_t, std::uint64_t> prewrite_range(const ArrayProfile& profile);

 private:
  explicit Array(std::unique_ptr<ArrayController> controller);
  std::unique_ptr<ArrayController> controller_;
};

}  // namespace headcrash::model
