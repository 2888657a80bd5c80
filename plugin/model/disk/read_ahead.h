#pragma once
// The read buffer: one segment that keeps what was read last and, while nobody else wants the
// mechanism, goes on reading behind it.

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/model/disk/mechanism.h"

namespace headcrash::model {

class ReadAhead {
 public:
  ReadAhead(const ReadBufferProfile& profile, const Mechanism& mechanism);

  /// The request that `planned` reads has been planned; the head will continue from its end.
  void begin(const MediaAccess& planned, std::uint64_t lbn, std::uint32_t sectors);

  /// Whether a read at `now` starts in what is buffered; its rest may still be on its way to the
  /// heads.
  bool holds_start(TimeNs now, std::uint64_t lbn, std::uint32_t sectors);
  /// For a read for which holds_start: reading continues until its end and the usual stretch behind
  /// it. Returns when the bus, which can start at `bus_start_ps` after `now` and needs
  /// `bus_sector_ps` for each, has sent it all.
  OffsetPs send(TimeNs now, std::uint64_t lbn, std::uint32_t sectors, OffsetPs bus_start_ps,
                OffsetPs bus_sector_ps);

  struct Halt {
    ArmPosition arm;
    TimeNs arm_free_at = 0;            ///< a seek or head switch once begun is finished
    std::uint64_t sectors_passed = 0;  ///< read ahead since it began or was last halted
  };
  /// The next command takes the mechanism at `now`. What has been read stays.
  std::optional<Halt> halt(TimeNs now);

  /// What is buffered, as of the last question.
  std::uint64_t buffered_from() const { return begin_; }
  std::uint64_t buffered_to() const { return read_; }

  void invalidate(std::uint64_t lbn, std::uint32_t sectors);
  void clear();

 private:
  struct Stretch {
    std::uint64_t lbn = 0;
    OffsetPs depart_ps = 0;  ///< the arm leaves for this track
    OffsetPs arrive_ps = 0;
    ArmPosition from;
    ArmPosition arm;
    TrackPass pass;
  };
  std::uint64_t track_before(std::uint64_t lbn, std::uint64_t most) const;
  void keep_track(const MediaAccess& planned, std::uint64_t lbn, std::uint64_t end);
  bool reads_ahead_of(std::uint64_t lbn) const {
    return !profile_.after_sequential || lbn == asked_to_;
  }
  /// Where reading stops for a request from `lbn` up to `end`; not before `end`.
  std::uint64_t goal_for(std::uint64_t lbn, std::uint64_t end) const;
  void resume(TimeNs now);
  void plan_to(std::uint64_t lbn);
  void settle(TimeNs now);

  ReadBufferProfile profile_;
  const Mechanism& mechanism_;
  TimeNs base_ = 0;
  std::int64_t base_angle_ps_ = 0;
  std::uint64_t begin_ = 0;        ///< first buffered LBN
  std::uint64_t track_begin_ = 0;  ///< where begin_ will be at whole_track_ps_
  OffsetPs whole_track_ps_ = 0;
  std::uint64_t read_ = 0;      ///< all before it had been read at the last settle()
  std::uint64_t planned_ = 0;   ///< stretches_ reach so far
  std::uint64_t goal_ = 0;      ///< reading stops here
  std::uint64_t asked_to_ = 0;  ///< where the last read ended
  std::uint64_t told_ =
      0;  ///< sectors before it have been reported by halt() or were the request's own
  OffsetPs free_ps_ = 0;  ///< when the last planned stretch has passed
  ArmPosition arm_;       ///< on its track
  bool running_ = false;  ///< the mechanism is still ours
  std::vector<Stretch> stretches_;
};

}  // namespace headcrash::model
