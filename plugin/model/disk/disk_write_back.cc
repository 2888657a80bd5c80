// Writes a disk's cache back to the medium.
//
//   dirty sectors  0 ............ high water ...... capacity
//                  | when idle    | at once         | writes wait for room
//
// A host command that needs the mechanism gets it at the end of the current media write (disk.cc).
//
// A sequential stream is destaged as it arrives, without waiting until the host is idle. Each media
// write includes all adjoining extents. If the next sectors of the stream are available at the end
// of a media write, the next write begins without losing a revolution.
#include "plugin/model/disk/disk.h"

namespace headcrash::model {
namespace {

/// Number of dirty extents among which the drive's policy chooses.
constexpr std::size_t kDestageChoices = 128;

}  // namespace

void Disk::consider_destage() {
  if (cache_.dirty_sectors() == 0) {
    destaging_ = false;
    return;
  }
  if (media_user_ != MediaUser::none || stage_ == Stage::media || is_dead()) return;
  const bool high = cache_.dirty_sectors() >= profile_.write_cache.high_water_sectors;
  if (high || destaging_ || stage_ == Stage::clean || stage_ == Stage::room) start_destage();
}

/// Returns the LBN from which the next media write starts. If the drive reorders commands and its
/// policy is not C-LOOK, the policy chooses among the first dirty extents from last_lbn_ upwards.
/// Otherwise, writes continue upwards from last_lbn_.
std::uint64_t Disk::next_destage_lbn() const {
  const QueuePolicy policy = profile_.queue.policy;
  if (!scheduler_.reorders() || policy == QueuePolicy::c_look) return last_lbn_;
  std::vector<Candidate> candidates;
  for (const Extent* extent : cache_.upwards(last_lbn_, kDestageChoices)) {
    candidates.push_back(scheduler_.candidate(extent->lba, Access::write));
    candidates.back().submitted_at = extent->since;
  }
  return candidates[scheduler_.choose(candidates, simulation_.now(), last_lbn_)].lbn;
}

void Disk::start_destage() {
  stop_read_ahead();
  const WriteCacheProfile& cache = profile_.write_cache;
  const auto extents = cache_.take(next_destage_lbn(),
                                   streaming_ ? cache.capacity_sectors : cache.destage_sectors_max);
  Transfer transfer;
  transfer.lbn = extents.front().lba;
  transfer.sectors = static_cast<std::uint32_t>(extents.back().end() - transfer.lbn);
  transfer.access = Access::write;
  if (media_write_ended_at_ == simulation_.now() && transfer.lbn == last_lbn_) {
    // The write begins exactly where the previous one ended. Keep the previous base, so that no
    // time is rounded to nanoseconds.
    transfer.base = planned_.base;
    transfer.ready_ps = planned_.end_ps;
  } else {
    transfer.base = simulation_.now();
    transfer.ready_ps = to_ps(std::max<TimeNs>(0, arm_free_at_ - transfer.base));
    transfer.positioning_min_ps = to_ps(profile_.overhead.write_positioning_min_ns);
  }
  plan_access(transfer);
  media_user_ = MediaUser::destage;
  if (watch_) schedule_watch();
  schedule(transfer.base + to_ns_up(planned_.end_ps), Tag::media_done);
}

}  // namespace headcrash::model
