// Scheduling inside the drive (tagged command queueing).
//
//   host's queue, in order           the drive's queue: `depth` commands           served
//   ... 9 8 7 6                 -->   { 5  F  4  2  3 }  -- the best of {2 3 4} -->  1
//                                          ^ a flush: 5 must wait behind it
//
//   sstf        shortest seek, by cylinders
//   c-look      upwards by LBN; from the highest back to the lowest
//   sptf        shortest positioning time: seek, settling and rotation (Jacobson and Wilkes, "Disk
//               scheduling algorithms based on rotational position", 1991; Seltzer et al., 1990)
//   aged-sptf   the same, minus a share of the command's waiting time. A share above 0 prevents
//               starvation: a command comes first if it is older than another one by the longest
//               positioning time divided by the share.
//
// Ties go to the oldest command. A flush is an ordered command: it follows all older commands and
// precedes all younger ones, so "completed before" does not depend on the policy.
#include "plugin/model/disk/drive_queue.h"

#include <limits>

#include "plugin/base/invariant.h"

namespace headcrash::model {

Candidate DriveScheduler::candidate(std::uint64_t lbn, Access access) const {
  const TrackRun run = mechanism_.geometry().locate(lbn);
  Candidate result;
  result.lbn = lbn;
  result.slot = run.slot;
  result.track_sectors = run.track_sectors;
  result.at = {run.cylinder, run.head};
  result.access = access;
  return result;
}

std::int64_t DriveScheduler::cost(const Candidate& c, TimeNs ready, std::int64_t angle_ps,
                                  std::uint64_t last_lbn) const {
  const ArmPosition arm = mechanism_.arm();
  switch (profile_.policy) {
    case QueuePolicy::fcfs:
      return 0;
    case QueuePolicy::sstf:
      return c.at.cylinder > arm.cylinder ? c.at.cylinder - arm.cylinder
                                          : arm.cylinder - c.at.cylinder;
    case QueuePolicy::c_look: {
      const auto sectors = static_cast<std::int64_t>(mechanism_.geometry().sectors());
      const auto ahead = static_cast<std::int64_t>(c.lbn) - static_cast<std::int64_t>(last_lbn);
      return ahead >= 0 ? ahead : ahead + 2 * sectors;
    }
    case QueuePolicy::sptf:
    case QueuePolicy::aged_sptf: {
      const OffsetPs on_track_ps = mechanism_.positioning_ps(arm, c.at, c.access);
      const OffsetPs start_ps =
          mechanism_.slot_start_ps(angle_ps, on_track_ps, c.slot, c.track_sectors);
      const TimeNs waited = ready - c.submitted_at;
      const TimeNs credit =
          profile_.policy == QueuePolicy::aged_sptf ? waited / 1000 * profile_.aging_permille : 0;
      return start_ps / kPicosecondsPerNs - credit;
    }
  }
  return 0;
}

std::size_t DriveScheduler::choose(const std::vector<Candidate>& candidates, TimeNs ready,
                                   std::uint64_t last_lbn) const {
  invariant(!candidates.empty(), "the queue must contain at least one command");
  const std::int64_t angle_ps = mechanism_.rotation().angle_ps(ready);
  std::size_t best = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].barrier) break;
    const std::int64_t cost_of_i = cost(candidates[i], ready, angle_ps, last_lbn);
    if (cost_of_i < least) {
      least = cost_of_i;
      best = i;
    }
  }
  return best;
}

}  // namespace headcrash::model
