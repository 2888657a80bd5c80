// Plans one operation of the mechanism.
//
//   ready --position--> on track --rotation--> |sector|...| --switch--> --rotation--> |sector|...
//
// During "rotation", the drive waits for the slot of the first LBN on the track. If a sector's data
// does not arrive over the bus in time, the slot passes, and the write loses one revolution.
//
// A drive with zero-latency access begins wherever the head arrives within the range. It transfers
// the front of the range when it comes round, at most one revolution later:
//
//   slots of the request   |0 1 2 3 4 5 6 7|            the head arrives here: v
//   two passes                       |4 5 6 7| ... |0 1 2 3|
#include "plugin/model/disk/mechanism.h"

#include <algorithm>

#include "plugin/base/invariant.h"

namespace headcrash::model {

MediaAccess::Progress MediaAccess::progress_at(OffsetPs now_ps, std::int64_t revolution_ps) const {
  Progress progress;
  for (const TrackTransfer& pass : passes) {
    if (pass.start_ps >= now_ps) break;
    if (pass.after_ps(pass.sectors, revolution_ps) <= now_ps) {
      progress.passed += pass.sectors;
      continue;
    }
    // Counts the sectors that have passed completely. Sector i ends at floor(revolution * (i + 1) /
    // track).
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
      rotation_(profile.revolution_ps, profile.sector_lag_ps),
      write_settle_ns_(profile.seek.write_settle_ns),
      zero_latency_(profile.zero_latency),
      physical_sectors_(profile.physical_sector_sectors) {
  invariant(profile.revolution_ps > 0, "the revolution time must be positive");
}

OffsetPs Mechanism::positioning_ps(ArmPosition from, ArmPosition to, Access access) const {
  const TimeNs seek_ns = seek_.seek_ns(from, to);
  const TimeNs settle_ns = seek_ns > 0 && access == Access::write ? write_settle_ns_ : 0;
  return std::max<TimeNs>(0, seek_ns + settle_ns) * kPicosecondsPerNs;
}

OffsetPs Mechanism::slot_start_ps(std::int64_t base_angle_ps, OffsetPs ready_ps, std::uint32_t slot,
                                  std::uint32_t track_sectors) const {
  const std::int64_t angle_ps = (base_angle_ps + ready_ps) % rotation_.revolution_ps();
  const std::int64_t wait_ps = rotation_.slot_angle_ps(slot, track_sectors) - angle_ps;
  return ready_ps + (wait_ps < 0 ? wait_ps + rotation_.revolution_ps() : wait_ps);
}

OffsetPs Mechanism::plan_track(const TrackTransfer& track, const BufferedData& buffered_data,
                               MediaAccess& planned) const {
  const std::int64_t revolution_ps = rotation_.revolution_ps();
  TrackTransfer rest = track;
  for (;;) {
    // The arrival of sector i's data and the passing of its slot are both linear in i. If sector 0
    // is not late, all late sectors are therefore at the end, where a bus slower than the medium
    // has fallen behind.
    std::uint32_t in_time = rest.sectors;
    const auto late = [&](std::uint32_t i) {
      return buffered_data.first_ps + buffered_data.sector_ps * (rest.first + i) >
             rest.after_ps(i, revolution_ps);
    };
    if (buffered_data.sector_ps > 0 && (late(0) || late(rest.sectors - 1))) {
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
    if (in_time > 0)
      planned.passes.push_back({rest.start_ps, in_time, rest.track_sectors, rest.first});
    if (in_time == rest.sectors) return rest.after_ps(rest.sectors, revolution_ps);
    rest.start_ps = rest.after_ps(in_time, revolution_ps) + revolution_ps;
    rest.sectors -= in_time;
    rest.first += in_time;
  }
}

std::optional<OffsetPs> Mechanism::plan_from_middle(const TrackTransfer& track, std::uint64_t lbn,
                                                    OffsetPs on_track_ps,
                                                    const BufferedData& buffered_data,
                                                    MediaAccess& planned) const {
  const std::int64_t revolution_ps = rotation_.revolution_ps();
  // The first slot of this track last began to pass at track.start_ps - revolution_ps. Since then,
  // `gone` slots have passed the head. The other slots are transferred first.
  const OffsetPs passed_ps = on_track_ps - (track.start_ps - revolution_ps);
  auto gone = static_cast<std::uint32_t>(passed_ps * track.track_sectors / revolution_ps + 1);
  // A physical sector is written as a whole, so the transfer begins at the next one.
  const auto into_physical = static_cast<std::uint32_t>(lbn % physical_sectors_);
  gone = (into_physical + gone + physical_sectors_ - 1) / physical_sectors_ * physical_sectors_ -
         into_physical;
  const OffsetPs supplied_ps =
      buffered_data.first_ps + buffered_data.sector_ps * (track.first + track.sectors - 1);
  if (gone >= track.sectors || (buffered_data.sector_ps > 0 && supplied_ps > on_track_ps))
    return std::nullopt;
  TrackTransfer rear = track;
  rear.start_ps = track.after_ps(gone, revolution_ps) - revolution_ps;
  rear.sectors = track.sectors - gone;
  rear.first = track.first + gone;
  TrackTransfer front = track;
  front.sectors = gone;
  planned.passes.push_back(rear);
  planned.passes.push_back(front);
  planned.in_order = false;
  return front.after_ps(front.sectors, revolution_ps);
}

void Mechanism::plan(const Transfer& transfer, MediaAccess& planned) const {
  invariant(transfer.sectors > 0 && transfer.lbn + transfer.sectors <= geometry_.sectors(),
            "a transfer must not extend beyond the end of the disk");
  const std::int64_t base_angle_ps = rotation_.angle_ps(transfer.base);
  planned.base = transfer.base;
  planned.passes.clear();
  planned.in_order = true;
  planned.arm = arm_;
  OffsetPs at_ps = transfer.ready_ps;
  for (std::uint32_t done = 0; done < transfer.sectors;) {
    const TrackRun run = geometry_.locate(transfer.lbn + done);
    const ArmPosition to{run.cylinder, run.head};
    OffsetPs on_track_ps = at_ps + positioning_ps(planned.arm, to, transfer.access);
    if (done == 0) {
      planned.seek_ps = on_track_ps - at_ps;
      planned.seek_cylinders =
          to.cylinder > arm_.cylinder ? to.cylinder - arm_.cylinder : arm_.cylinder - to.cylinder;
      on_track_ps = std::max(on_track_ps, at_ps + transfer.positioning_min_ps);
    }
    TrackTransfer pass;
    pass.start_ps = slot_start_ps(base_angle_ps, on_track_ps, run.slot, run.track_sectors);
    pass.sectors = std::min(run.sectors, transfer.sectors - done);
    pass.track_sectors = run.track_sectors;
    pass.first = done;
    const std::size_t first_pass = planned.passes.size();
    std::optional<OffsetPs> end_ps;
    if (zero_latency_)
      end_ps =
          plan_from_middle(pass, transfer.lbn + done, on_track_ps, transfer.buffered_data, planned);
    at_ps = end_ps ? *end_ps : plan_track(pass, transfer.buffered_data, planned);
    if (done == 0) planned.rotation_ps = planned.passes[first_pass].start_ps - on_track_ps;
    done += pass.sectors;
    planned.arm = to;
  }
  planned.end_ps = at_ps;
}

}  // namespace headcrash::model
