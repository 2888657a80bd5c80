// A disk at a power cut and at power-on.
//
//   medium write in flight  |..passed: new..|under the head: Tear|....not written: old....|
//   write cache             lost
//   commands inside         completed with power_lost, from an event
//
// power_on() starts with the arm on the first track, an empty buffer and cache, and the platters at
// full speed. The spin-up time is not included; the host models it.
#include "plugin/model/disk/disk.h"

namespace headcrash::model {

void Disk::power_cut() {
  if (!intake_.powered()) return;
  if (!extents_in_flight().empty()) cut_short_media_write();
  watch_.reset();
  intake_.power_cut();
  ++idle_epoch_;
  for (const Command& command : queue_) intake_.lose(command);
  queue_.clear();
  first_waiting_ = queue_.end();
  candidates_.clear();
  candidate_commands_.clear();
  cache_.clear();
  read_ahead_.clear();
  read_segments_.clear();
  write_segments_.clear();
  last_was_write_ = false;
  stage_ = Stage::idle;
  media_user_ = MediaUser::none;
  destaging_ = streaming_ = false;
  write_end_ = ~std::uint64_t{0};
  media_write_ended_at_ = kNever;
  update_busy();
}

/// Stores the sectors that the head has passed, and tears the sector under the head. If the
/// transfers are not in LBN order, each transfer is handled separately: a zero-latency write may
/// transfer the end of a track's range before its beginning.
void Disk::cut_short_media_write() {
  const TimeNs now = simulation_.now();
  const OffsetPs now_ps = to_ps(now - planned_.base);
  const std::int64_t revolution_ps = mechanism_.rotation().revolution_ps();
  const auto extents = extents_in_flight();
  if (planned_.in_order) {
    const MediaAccess::Progress progress = planned_.progress_at(now_ps, revolution_ps);
    platter_.write_cut_short(now, extents, progress.passed, progress.under_head);
    return;
  }
  for (const TrackTransfer& pass : planned_.passes) {
    if (pass.start_ps >= now_ps) break;
    const std::uint64_t from = extents.front().lba + pass.first;
    std::vector<Extent> part;
    for (const Extent& extent : extents) {
      const std::uint64_t begin = std::max(from, extent.lba);
      const std::uint64_t end = std::min(from + pass.sectors, extent.end());
      if (begin < end) part.push_back(extent.slice(begin, end));
    }
    MediaAccess one;
    one.passes = {pass};
    const MediaAccess::Progress progress = one.progress_at(now_ps, revolution_ps);
    platter_.write_cut_short(now, part, progress.passed, progress.under_head);
  }
}

void Disk::power_on() {
  intake_.power_on();
  mechanism_.place_arm({});
  arm_free_at_ = simulation_.now();
  last_lbn_ = 0;
}

}  // namespace headcrash::model
