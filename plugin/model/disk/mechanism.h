#pragma once
// Arm, heads and platters: computes when each sector of a transfer passes under its head.
//
// Times within an operation are in picoseconds from its start (`base`), because the duration of a
// sector is not a whole number of nanoseconds, and rounding errors would accumulate.

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/model/disk/disk_profile.h"
#include "plugin/model/disk/geometry.h"
#include "plugin/model/disk/seek.h"

namespace headcrash::model {

using OffsetPs = std::int64_t;  ///< picoseconds from a given time
inline constexpr OffsetPs kPicosecondsPerNs = 1000;
inline OffsetPs to_ps(TimeNs ns) {
  return ns * kPicosecondsPerNs;
}
inline TimeNs to_ns_up(OffsetPs ps) {
  return (ps + kPicosecondsPerNs - 1) / kPicosecondsPerNs;
}

/// The rotation of the platters. The angle is a pure function of absolute model time, unless a
/// profile emulates DiskSim's lag (see lag_behind).
class Rotation {
 public:
  explicit Rotation(std::int64_t revolution_ps, std::int64_t sector_lag_ps = 0)
      : revolution_ps_(revolution_ps), sector_lag_ps_(sector_lag_ps) {}
  std::int64_t revolution_ps() const { return revolution_ps_; }

  /// Sets the angle at time 0, in millionths of a revolution.
  void start_at(std::uint32_t phase_ppm) {
    shift_ps_ = revolution_ps_ / 1'000'000 * (phase_ppm % 1'000'000);
  }

  /// Emulates a property of DiskSim: for each sector that passes under a head, the platters fall
  /// behind by about two thirds of a nanosecond. The lag is 0 except in profiles that reproduce
  /// DiskSim.
  void lag_behind(std::uint64_t sectors_passed) {
    if (sector_lag_ps_ == 0) return;
    const auto passed = static_cast<std::int64_t>(sectors_passed);
    shift_ps_ =
        (shift_ps_ - sector_lag_ps_ * passed % revolution_ps_ + revolution_ps_) % revolution_ps_;
  }

  /// Returns the angle at time `at`, as the time that has passed since the index mark was under the
  /// heads.
  std::int64_t angle_ps(TimeNs at) const {
    // `at` can be reduced modulo revolution_ps_, because revolution_ps_ nanoseconds are exactly
    // 1000 revolutions. All products then fit into 64 bits.
    return (at % revolution_ps_ * kPicosecondsPerNs + shift_ps_) % revolution_ps_;
  }
  std::int64_t slot_angle_ps(std::uint32_t slot, std::uint32_t track_sectors) const {
    return revolution_ps_ * slot / track_sectors;
  }

 private:
  std::int64_t revolution_ps_;
  std::int64_t sector_lag_ps_;
  /// Angle at time 0 minus the lag so far, modulo revolution_ps_.
  std::int64_t shift_ps_ = 0;
};

/// Consecutive sectors of one track that pass under the head without interruption.
struct TrackTransfer {
  OffsetPs start_ps = 0;  ///< start of the first sector
  std::uint32_t sectors = 0;
  std::uint32_t track_sectors = 0;
  /// Index of the first sector, counted from the start of the whole transfer.
  std::uint32_t first = 0;

  /// Returns the time at which the first `count` sectors of the transfer have passed the head.
  OffsetPs after_ps(std::uint32_t count, std::int64_t revolution_ps) const {
    return start_ps + revolution_ps * count / track_sectors;
  }
};

/// A planned operation of the mechanism, with the times of all its track transfers.
struct MediaAccess {
  TimeNs base = 0;           ///< time from which all offsets are measured
  OffsetPs seek_ps = 0;      ///< the first positioning, including write settling
  OffsetPs rotation_ps = 0;  ///< the wait for the first sector
  OffsetPs end_ps = 0;       ///< end of the last sector
  std::uint32_t seek_cylinders = 0;
  ArmPosition arm;  ///< position after the last transfer
  std::vector<TrackTransfer> passes;

  OffsetPs first_ps() const { return passes.front().start_ps; }

  struct Progress {
    std::uint64_t passed = 0;  ///< number of sectors that have passed completely
    bool under_head = false;   ///< the next sector is being transferred
  };
  /// REQUIRES: the transfers are in LBN order
  Progress progress_at(OffsetPs now_ps, std::int64_t revolution_ps) const;
  /// True if the transfers are in LBN order. False if zero-latency access begins in the middle of a
  /// track.
  bool in_order = true;
};

/// Data that arrives over the bus during a media write. Sector i is available at first_ps + i *
/// sector_ps.
struct BufferedData {
  OffsetPs first_ps = 0;
  OffsetPs sector_ps = 0;
};

enum class Access : std::uint8_t { read, write };

struct Transfer {
  std::uint64_t lbn = 0;
  std::uint32_t sectors = 0;
  Access access = Access::read;
  TimeNs base = 0;
  OffsetPs ready_ps = 0;            ///< time at which the arm starts moving, relative to base
  OffsetPs positioning_min_ps = 0;  ///< minimum time from ready_ps until the first sector passes
  /// Arrival times of a write's data; all 0 if the data has already arrived.
  BufferedData buffered_data;
};

class Mechanism {
 public:
  explicit Mechanism(const DiskProfile& profile);

  const Geometry& geometry() const { return geometry_; }
  const SeekCurve& seek_curve() const { return seek_; }
  const Rotation& rotation() const { return rotation_; }
  Rotation& rotation() { return rotation_; }

  /// Returns the arm's position. During an operation, this is the position at which the operation
  /// will end.
  ArmPosition arm() const { return arm_; }
  void place_arm(ArmPosition at) { arm_ = at; }

  /// Plans a transfer that starts at the current position of the arm. Stores the plan in `planned`
  /// and reuses the vector there.
  void plan(const Transfer& transfer, MediaAccess& planned) const;

  OffsetPs positioning_ps(ArmPosition from, ArmPosition to, Access access) const;
  /// Returns the first offset, at or after `ready_ps`, at which `slot` begins to pass under the
  /// head. `base_angle_ps` is the angle at offset 0.
  OffsetPs slot_start_ps(std::int64_t base_angle_ps, OffsetPs ready_ps, std::uint32_t slot,
                         std::uint32_t track_sectors) const;

 private:
  /// Appends the transfers for one track to `planned`. A transfer is split if data arrives over the
  /// bus too late for its slot; the rest is then transferred one revolution later.
  OffsetPs plan_track(const TrackTransfer& track, const BufferedData& buffered_data,
                      MediaAccess& planned) const;
  /// Plans zero-latency access to a track. The head reaches the track at `on_track_ps`, after the
  /// first slot of `track` has begun to pass. That slot contains `lbn` and begins to pass at
  /// `track.start_ps`. Returns nullopt if zero-latency access saves no time.
  std::optional<OffsetPs> plan_from_middle(const TrackTransfer& track, std::uint64_t lbn,
                                           OffsetPs on_track_ps, const BufferedData& buffered_data,
                                           MediaAccess& planned) const;

  Geometry geometry_;
  SeekCurve seek_;
  Rotation rotation_;
  TimeNs write_settle_ns_;
  bool zero_latency_;
  std::uint32_t physical_sectors_;
  ArmPosition arm_;
};

}  // namespace headcrash::model
