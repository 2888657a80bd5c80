// Read-ahead, evaluated lazily.
//
// Until the next command stops the read-ahead, the amount of data read is a pure function of time,
// so no events are needed. Track reads are planned only as far as a query requires and are
// evaluated at the time of the query. The buffer holds only positions. The bytes come from the
// store (or from the cache) when a request completes. A buffer with bytes would return the same
// data, because a write to buffered sectors never leaves old data in the buffer.
//
//   begin_ ........ read_ ........ planned_ ........ goal_
//   in the segment   under the head   next tracks     request end + read_ahead_sectors_max, at most
//                                                     the segment
#include "plugin/model/disk/read_ahead.h"

#include <algorithm>

namespace headcrash::model {
namespace {

constexpr TimeNs kLongAgoNs = 100 * kSecondNs;  ///< longer than any read-ahead

}  // namespace

ReadAhead::ReadAhead(const ReadBufferProfile& profile, const Mechanism& mechanism)
    : profile_(profile), mechanism_(mechanism) {}

void ReadAhead::begin(const MediaAccess& planned, std::uint64_t lbn, std::uint32_t sectors) {
  clear();
  if (profile_.segment_sectors == 0) return;
  base_ = planned.base;
  base_angle_ps_ = mechanism_.rotation().angle_ps(base_);
  const std::uint64_t end = lbn + sectors;
  begin_ = sectors > profile_.segment_sectors ? end - profile_.segment_sectors : lbn;
  if (!profile_.keeps_requested) begin_ = end;
  track_begin_ = begin_;
  if (profile_.whole_track && reads_ahead_of(lbn) && begin_ == lbn) keep_track(planned, lbn, end);
  read_ = planned_ = reported_ = end;
  goal_ = goal_for(lbn, end);
  asked_to_ = end;
  free_ps_ = planned.end_ps;
  arm_ = planned.arm;
  running_ = true;
}

/// Returns the number of consecutive sectors of the track that end directly before `lbn`, but not
/// more than `most`.
std::uint64_t ReadAhead::track_before(std::uint64_t lbn, std::uint64_t most) const {
  const TrackRun first = mechanism_.geometry().locate(lbn);
  const auto in_line = [&](std::uint64_t count) {
    const TrackRun run = mechanism_.geometry().locate(lbn - count);
    return run.cylinder == first.cylinder && run.head == first.head &&
           (run.slot + count) % first.track_sectors == first.slot;
  };
  std::uint64_t least = 0;
  most = std::min<std::uint64_t>({most, lbn, first.track_sectors - 1});
  while (least < most) {
    const std::uint64_t middle = (least + most + 1) / 2;
    if (in_line(middle))
      least = middle;
    else
      most = middle - 1;
  }
  return least;
}

/// Keeps the sectors that passed under the head while the drive waited for `lbn`. After a full
/// revolution, the buffer contains the track from track_begin_.
void ReadAhead::keep_track(const MediaAccess& planned, std::uint64_t lbn, std::uint64_t end) {
  const std::int64_t revolution_ps = mechanism_.rotation().revolution_ps();
  const auto waited = static_cast<std::uint64_t>(
      planned.rotation_ps * planned.passes.front().track_sectors / revolution_ps);
  track_begin_ = lbn - track_before(lbn, profile_.segment_sectors - (end - lbn));
  begin_ = std::max(track_begin_, lbn - std::min(lbn, waited));
  whole_track_ps_ = planned.first_ps() - planned.rotation_ps + revolution_ps;
}

std::uint64_t ReadAhead::goal_for(std::uint64_t lbn, std::uint64_t end) const {
  if (!reads_ahead_of(lbn)) return end;
  const Geometry& geometry = mechanism_.geometry();
  // Read-ahead must not displace the request's own data from the segment, unless the request fills
  // a whole segment.
  const std::uint64_t keeps = end - lbn >= profile_.segment_sectors ? end : lbn;
  std::uint64_t goal = std::min({end + profile_.read_ahead_sectors_max,
                                 keeps + profile_.segment_sectors, geometry.sectors()});
  if (profile_.read_ahead_end == ReadAheadEnd::track_end)
    goal = std::min(goal, end - 1 + geometry.locate(end - 1).sectors);
  return std::max(end, goal);
}

/// Moves the arm back after another command, and continues to read.
void ReadAhead::resume(TimeNs now) {
  base_ = now;
  base_angle_ps_ = mechanism_.rotation().angle_ps(now);
  free_ps_ = 0;
  arm_ = mechanism_.arm();
  planned_ = goal_ = reported_ = read_;
  track_begin_ = begin_;
  running_ = true;
}

void ReadAhead::plan_to(std::uint64_t lbn) {
  while (planned_ < std::min(lbn, goal_)) {
    const TrackRun run = mechanism_.geometry().locate(planned_);
    Stretch next;
    next.lbn = planned_;
    next.from = arm_;
    next.arm = {run.cylinder, run.head};
    next.depart_ps = free_ps_;
    next.arrive_ps = free_ps_ + mechanism_.positioning_ps(arm_, next.arm, Access::read);
    next.pass.start_ps =
        mechanism_.slot_start_ps(base_angle_ps_, next.arrive_ps, run.slot, run.track_sectors);
    next.pass.sectors =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(run.sectors, goal_ - planned_));
    next.pass.track_sectors = run.track_sectors;
    free_ps_ = next.pass.after_ps(next.pass.sectors, mechanism_.rotation().revolution_ps());
    arm_ = next.arm;
    planned_ += next.pass.sectors;
    stretches_.push_back(next);
  }
}

void ReadAhead::settle(TimeNs now) {
  if (!running_) return;
  if (now - base_ > kLongAgoNs) {
    // The read-ahead ended long ago. Set the base to the current time, so that offsets in
    // picoseconds fit into 64 bits.
    plan_to(goal_);
    read_ = goal_;
    begin_ = track_begin_;
    stretches_.clear();
    base_ = now;
    base_angle_ps_ = mechanism_.rotation().angle_ps(now);
    free_ps_ = 0;
  }
  const OffsetPs now_ps = (now - base_) * kPicosecondsPerNs;
  const std::int64_t revolution_ps = mechanism_.rotation().revolution_ps();
  if (track_begin_ < begin_ && whole_track_ps_ <= now_ps) begin_ = track_begin_;
  while (free_ps_ <= now_ps && planned_ < goal_) plan_to(planned_ + 1);
  std::size_t gone = 0;
  for (const Stretch& s : stretches_) {
    if (s.pass.start_ps >= now_ps) break;
    const OffsetPs passed_ps = now_ps - s.pass.start_ps;
    const auto sectors =
        static_cast<std::uint64_t>(passed_ps / (revolution_ps / s.pass.track_sectors));
    read_ = s.lbn + std::min<std::uint64_t>(sectors, s.pass.sectors);
    if (sectors < s.pass.sectors) break;
    if (gone + 1 < stretches_.size()) ++gone;
  }
  stretches_.erase(stretches_.begin(), stretches_.begin() + static_cast<std::ptrdiff_t>(gone));
  if (read_ - begin_ > profile_.segment_sectors)
    begin_ = track_begin_ = read_ - profile_.segment_sectors;
}

bool ReadAhead::holds_start(TimeNs now, std::uint64_t lbn, std::uint32_t sectors) {
  settle(now);
  // True if the read begins at the sector that passes under the head next. If the bus is faster
  // than the medium, every read of a sequential stream begins there.
  const bool next = profile_.joins_at_head && running_ && lbn == read_ && read_ < goal_;
  if (lbn < begin_ || (lbn >= read_ && !next)) return false;
  return running_ || profile_.resumes_on_hit || lbn + sectors <= read_;
}

OffsetPs ReadAhead::send(TimeNs now, std::uint64_t lbn, std::uint32_t sectors,
                         OffsetPs bus_start_ps, OffsetPs bus_sector_ps) {
  const std::uint64_t end = lbn + sectors;
  const std::uint64_t goal = goal_for(lbn, end);
  asked_to_ = end;
  if (!running_) {
    if (!profile_.resumes_on_hit) return bus_start_ps + bus_sector_ps * sectors;
    resume(now);
  }
  const OffsetPs now_ps = (now - base_) * kPicosecondsPerNs;
  if (goal > goal_) {
    const bool idle = planned_ == goal_ && free_ps_ < now_ps;
    if (idle) free_ps_ = now_ps;
    goal_ = goal;
  }
  plan_to(end);
  if (!profile_.keeps_requested) begin_ = track_begin_ = std::max(begin_, lbn);
  OffsetPs sent_ps = bus_start_ps + bus_sector_ps * sectors;
  for (const Stretch& s : stretches_) {
    // Only two sectors of this read can hold up the bus: the first and, if the bus is faster than
    // the medium, the last.
    const std::uint64_t first = std::max({s.lbn, lbn, read_});
    const std::uint64_t last = std::min(s.lbn + s.pass.sectors, end);
    if (first >= last) continue;
    for (const std::uint64_t sector : {first, last - 1}) {
      const auto in_pass = static_cast<std::uint32_t>(sector + 1 - s.lbn);
      const OffsetPs there_ps =
          s.pass.after_ps(in_pass, mechanism_.rotation().revolution_ps()) - now_ps;
      sent_ps = std::max(sent_ps, there_ps + bus_sector_ps * static_cast<OffsetPs>(end - sector));
    }
  }
  return sent_ps;
}

std::optional<ReadAhead::Halt> ReadAhead::halt(TimeNs now) {
  if (!running_) return std::nullopt;
  settle(now);
  running_ = false;
  const OffsetPs now_ps = (now - base_) * kPicosecondsPerNs;
  Halt result;
  result.arm = stretches_.empty() ? arm_ : stretches_.front().from;
  result.arm_free_at = now;
  result.sectors_passed = read_ - reported_;
  reported_ = read_;
  for (const Stretch& s : stretches_) {
    if (s.depart_ps > now_ps) break;  // this read has been planned but has not started yet
    result.arm = s.arm;
    if (s.arrive_ps > now_ps)
      result.arm_free_at = base_ + (s.arrive_ps + kPicosecondsPerNs - 1) / kPicosecondsPerNs;
  }
  stretches_.clear();
  goal_ = planned_ = read_;
  return result;
}

void ReadAhead::invalidate(std::uint64_t lbn, std::uint32_t sectors) {
  if (lbn < read_ && lbn + sectors > begin_) clear();
}

void ReadAhead::clear() {
  begin_ = track_begin_ = read_ = planned_ = goal_ = reported_ = 0;
  running_ = false;
  stretches_.clear();
}

}  // namespace headcrash::model
