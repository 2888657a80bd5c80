#pragma once
// Arm, heads and platters: when each sector of a transfer passes under its head.
//
// Time inside one operation is counted in picoseconds from the operation's start (`base`), so that
// sector boundaries, which are not whole nanoseconds, add up without drift.

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/model/disk/disk_profile.h"
#include "plugin/model/disk/geometry.h"
#include "plugin/model/disk/seek.h"

namespace headcrash::model {

using OffsetPs = std::int64_t;  ///< picoseconds after some base
inline constexpr OffsetPs kPicosecondsPerNs = 1000;
inline OffsetPs to_ps(TimeNs ns) {
  return ns * kPicosecondsPerNs;
}
inline TimeNs to_ns_up(OffsetPs ps) {
  return (ps + kPicosecondsPerNs - 1) / kPicosecondsPerNs;
}

/// Platters that turn for ever: the angle is a pure function of absolute model time, unless a
/// profile asks for DiskSim's creep (see lag_behind).
class Rotation {
 public:
  explicit Rotation(std::int64_t revolution_ps, std::int64_t sector_lag_ps = 0)
      : revolution_ps_(revolution_ps), sector_lag_ps_(sector_lag_ps) {}
  std::int64_t revolution_ps() const { return revolution_ps_; }

  /// `phase_ppm`: the angle at time 0, in millionths of a revolution.
  void start_at(std::uint32_t phase_ppm) {
    shift_ps_ = revolution_ps_ / 1'000'000 * (phase_ppm % 1'000'000);
  }

  /// DiskSim's clock gains about two thirds of a nanosecond on its platters with every sector that
  /// passes under a head. A profile that is to answer as DiskSim does says how much; everywhere
  /// else it is nothing.
  void lag_behind(std::uint64_t sectors_passed) {
    if (sector_lag_ps_ == 0) return;
    const auto passed = static_cast<std::int64_t>(sectors_passed);
    shift_ps_ =
        (shift_ps_ - sector_lag_ps_ * passed % revolution_ps_ + revolution_ps_) % revolution_ps_;
  }

  /// Angle at `at`, as the time since the index mark passed the heads.
  std::int64_t angle_ps(TimeNs at) const {
    // 1000 revolutions are exactly revolution_ps nanoseconds; reducing first keeps all products
    // within 64 bits.
    return (at % revolution_ps_ * kPicosecondsPerNs + shift_ps_) % revolution_ps_;
  }
  std::int64_t slot_angle_ps(std::uint32_t slot, std::uint32_t track_sectors) const {
    return revolution_ps_ * slot / track_sectors;
  }

 private:
  std::int64_t revolution_ps_;
  std::int64_t sector_lag_ps_;
  std::int64_t shift_ps_ = 0;  ///< 0 <= shift < revolution
};

/// Consecutive sectors of one track passing under the head without a pause.
struct TrackPass {
  OffsetPs start_ps = 0;  ///< when the first sector begins
  std::uint32_t sectors = 0;
  std::uint32_t track_sectors = 0;
  std::uint32_t first = 0;  ///< which sector of the transfer the pass begins with

  /// When `count` sectors of the pass have gone by.
  OffsetPs after_ps(std::uint32_t count, std::int64_t revolution_ps) const {
    return start_ps + revolution_ps * count / track_sectors;
  }
};

/// One operation of the mechanism, planned ahead: when what passes under which head.
struct MediaAccess {
  TimeNs base = 0;           ///< all offsets count from here
  OffsetPs seek_ps = 0;      ///< first positioning, with write settling
  OffsetPs rotation_ps = 0;  ///< wait for the first sector
  OffsetPs end_ps = 0;       ///< when the last sector has passed
  std::uint32_t seek_cylinders = 0;
  ArmPosition arm;  ///< where it ends
  std::vector<TrackPass> passes;

  OffsetPs first_ps() const { return passes.front().start_ps; }

  struct Progress {
    std::uint64_t passed = 0;  ///< sectors that have gone by
    bool under_head = false;   ///< the next one is being transferred
  };
  /// Only for passes in the order of LBNs.
  Progress progress_at(OffsetPs now_ps, std::int64_t revolution_ps) const;
  bool in_order =
      true;  ///< of LBNs; false after zero-latency access has begun in the middle of a track
};

/// Data that comes over a bus while the medium is written: sector i is there at first_ps + i *
/// sector_ps.
struct Supply {
  OffsetPs first_ps = 0;
  OffsetPs sector_ps = 0;
};

enum class Access : std::uint8_t { read, write };

struct Transfer {
  std::uint64_t lbn = 0;
  std::uint32_t sectors = 0;
  Access access = Access::read;
  TimeNs base = 0;
  OffsetPs ready_ps = 0;  ///< the arm starts moving, after base
  OffsetPs positioning_min_ps =
      0;          ///< and is not ready for the first sector earlier than this after that
  Supply supply;  ///< write: all zero when the data is there already
};

class Mechanism {
 public:
  explicit Mechanism(const DiskProfile& profile);

  const Geometry& geometry() const { return geometry_; }
  const SeekCurve& seek_curve() const { return seek_; }
  const Rotation& rotation() const { return rotation_; }
  Rotation& rotation() { return rotation_; }

  /// Where the arm is, or where it will be when the operation under way has ended.
  ArmPosition arm() const { return arm_; }
  void place_arm(ArmPosition at) { arm_ = at; }

  /// Plans a transfer from the present arm position into `planned` (whose vector is reused).
  void plan(const Transfer& transfer, MediaAccess& planned) const;

  OffsetPs positioning_ps(ArmPosition from, ArmPosition to, Access access) const;
  /// First offset from `ready_ps` on at which `slot` begins to pass; `base_angle_ps` is the angle
  /// at offset 0.
  OffsetPs slot_start_ps(std::int64_t base_angle_ps, OffsetPs ready_ps, std::uint32_t slot,
                         std::uint32_t track_sectors) const;

 private:
  /// Appends the passes for one track; more than one when the supply runs dry and a revolution is
  /// lost.
  OffsetPs pass_track(const TrackPass& track, const Supply& supply, MediaAccess& planned) const;
  /// Zero-latency access: the head is on the track at `on_track_ps`, between the first and the last
  /// slot of `track`, whose first begins at `track.start_ps` and is `lbn`. Nothing when there is
  /// nothing to gain.
  std::optional<OffsetPs> pass_from_middle(const TrackPass& track, std::uint64_t lbn,
                                           OffsetPs on_track_ps, const Supply& supply,
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
