// Planning one operation of the mechanism.
//
//   ready --positioning--> on track --rotation--> |sector|sector|...| --switch--> --rotation--> |sector|...
//
// Rotation waits for the one slot that the first LBN of the track is in: this model reads and writes in LBN
// order. (A drive with zero-latency access would begin wherever it lands; that is another way to fill
// Travel::passes.) When data for a sector has not come over the bus in time, the sector's slot goes by and
// the write loses one revolution.
#include "plugin/model/mechanism.h"

#include <algorithm>

#include "plugin/model/invariant.h"

namespace headcrash::model {

Travel::Progress Travel::progress_at(OffsetPs now_ps, std::int64_t revolution_ps) const {
  Progress progress;
  for (const TrackPass& pass : passes) {
    if (pass.start_ps >= now_ps) break;
    if (pass.after_ps(pass.sectors, revolution_ps) <= now_ps) {
      progress.passed += pass.sectors;
      continue;
    }
    // Sector i is over at floor(revolution * (i + 1) / track): count those that are.
    std::uint32_t over = 0;
    while (pass.after_ps(over + 1, revolution_ps) <= now_ps) ++over;
    progress.passed += over;
    progress.under_head = true;
    break;
  }
  return progress;
}

Mechanism::Mechanism(const DiskProfile& profile)
    : geometry_(profile),
      seek_(profile.seek, profile.cylinders),
      rotation_(profile.revolution_ps),
      write_settle_ns_(profile.seek.write_settle_ns) {
  invariant(profile.revolution_ps > 0, "the platters turn");
}

OffsetPs Mechanism::positioning_ps(ArmPosition from, ArmPosition to, Access access) const {
  const TimeNs seek_ns = seek_.seek_ns(from, to);
  const TimeNs settle_ns = seek_ns > 0 && access == Access::write ? write_settle_ns_ : 0;
  return (seek_ns + settle_ns) * kPicosecondsPerNs;
}

OffsetPs Mechanism::slot_start_ps(std::int64_t base_angle_ps, OffsetPs ready_ps, std::uint32_t slot,
                                  std::uint32_t track_sectors) const {
  const std::int64_t angle_ps = (base_angle_ps + ready_ps) % rotation_.revolution_ps();
  const std::int64_t wait_ps = rotation_.slot_angle_ps(slot, track_sectors) - angle_ps;
  return ready_ps + (wait_ps < 0 ? wait_ps + rotation_.revolution_ps() : wait_ps);
}

OffsetPs Mechanism::pass_track(const TrackPass& track, std::uint32_t done, const Supply& supply,
                               Travel& travel) const {
  const std::int64_t revolution_ps = rotation_.revolution_ps();
  TrackPass rest = track;
  for (;;) {
    // Arrival of the data and passing of the slots are both linear in i: the first sector that comes too
    // late, if any, is the first of the pass or lies where the slower bus falls behind the faster medium.
    std::uint32_t in_time = rest.sectors;
    const auto late = [&](std::uint32_t i) {
      return supply.first_ps + supply.sector_ps * (done + i) > rest.after_ps(i, revolution_ps);
    };
    if (supply.sector_ps > 0 && (late(0) || late(rest.sectors - 1))) {
      in_time = 0;
      std::uint32_t bad = rest.sectors - 1;
      if (!late(0)) {
        while (bad - in_time > 1) {
          const std::uint32_t middle = in_time + (bad - in_time) / 2;
          (late(middle) ? bad : in_time) = middle;
        }
        in_time = bad;
      }
    }
    if (in_time > 0) travel.passes.push_back({rest.start_ps, in_time, rest.track_sectors});
    if (in_time == rest.sectors) return rest.after_ps(rest.sectors, revolution_ps);
    rest.start_ps = rest.after_ps(in_time, revolution_ps) + revolution_ps;
    rest.sectors -= in_time;
    done += in_time;
  }
}

void Mechanism::plan(const Transfer& transfer, Travel& travel) const {
  invariant(transfer.sectors > 0 && transfer.lbn + transfer.sectors <= geometry_.sectors(),
            "a transfer is on the disk");
  const std::int64_t base_angle_ps = rotation_.angle_ps(transfer.base);
  travel.base = transfer.base;
  travel.passes.clear();
  travel.arm = arm_;
  OffsetPs at_ps = transfer.ready_ps;
  for (std::uint32_t done = 0; done < transfer.sectors;) {
    const TrackRun run = geometry_.locate(transfer.lbn + done);
    const ArmPosition to{run.cylinder, run.head};
    OffsetPs on_track_ps = at_ps + positioning_ps(travel.arm, to, transfer.access);
    if (done == 0) {
      travel.seek_ps = on_track_ps - at_ps;
      travel.seek_cylinders =
          to.cylinder > arm_.cylinder ? to.cylinder - arm_.cylinder : arm_.cylinder - to.cylinder;
      on_track_ps = std::max(on_track_ps, at_ps + transfer.positioning_min_ps);
    }
    TrackPass pass;
    pass.start_ps = slot_start_ps(base_angle_ps, on_track_ps, run.slot, run.track_sectors);
    pass.sectors = std::min(run.sectors, transfer.sectors - done);
    pass.track_sectors = run.track_sectors;
    if (done == 0) travel.rotation_ps = pass.start_ps - on_track_ps;
    at_ps = pass_track(pass, done, transfer.supply, travel);
    done += pass.sectors;
    travel.arm = to;
  }
  travel.end_ps = at_ps;
}

}  // namespace headcrash::model
