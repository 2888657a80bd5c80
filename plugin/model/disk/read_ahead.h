#pragma once
// The read buffer: one segment that holds the data read most recently. While the mechanism is idle,
// the drive continues to read past the end of that data.

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/model/disk/mechanism.h"

namespace headcrash::model {

class ReadAhead {
 public:
  ReadAhead(const ReadBufferProfile& profile, const Mechanism& mechanism);

  /// Starts read-ahead where a request ends. `planned` is the plan of the request.
  void begin(const MediaAccess& planned, std::uint64_t lbn, std::uint32_t sectors);

  /// Returns true if the start of a read at `now` is in the buffer. Later sectors of the read may
  /// not have been read from the medium yet.
  bool holds_start(TimeNs now, std::uint64_t lbn, std::uint32_t sectors);
  /// Serves a read for which holds_start() has returned true. Continues reading from the medium to
  /// the end of the request, and then reads ahead as usual. Returns the time at which the bus has
  /// sent all sectors, as an offset from `now`. The bus is free from `bus_start_ps` on and needs
  /// `bus_sector_ps` for each sector.
  OffsetPs send(TimeNs now, std::uint64_t lbn, std::uint32_t sectors, OffsetPs bus_start_ps,
                OffsetPs bus_sector_ps);

  struct Halt {
    ArmPosition arm;
    TimeNs arm_free_at = 0;  ///< time at which the seek or head switch in progress ends
    /// Number of sectors read ahead since the previous halt or, before any halt, since the read.
    std::uint64_t sectors_passed = 0;
  };
  /// Stops read-ahead at `now`. Called when the next command needs the mechanism. Buffered data
  /// stays.
  std::optional<Halt> halt(TimeNs now);

  /// The buffered range [from, to), as of the last call to any other function.
  std::uint64_t buffered_from() const { return begin_; }
  std::uint64_t buffered_to() const { return read_; }

  void invalidate(std::uint64_t lbn, std::uint32_t sectors);
  void clear();

 private:
  struct Stretch {
    std::uint64_t lbn = 0;
    OffsetPs depart_ps = 0;  ///< time at which the arm leaves for this track
    OffsetPs arrive_ps = 0;
    ArmPosition from;
    ArmPosition arm;
    TrackTransfer pass;
  };
  std::uint64_t track_before(std::uint64_t lbn, std::uint64_t most) const;
  void keep_track(const MediaAccess& planned, std::uint64_t lbn, std::uint64_t end);
  bool reads_ahead_of(std::uint64_t lbn) const {
    return !profile_.after_sequential || lbn == asked_to_;
  }
  /// Returns the LBN at which reading stops after a request [lbn, end). It is at least `end`.
  std::uint64_t goal_for(std::uint64_t lbn, std::uint64_t end) const;
  void resume(TimeNs now);
  void plan_to(std::uint64_t lbn);
  void settle(TimeNs now);

  ReadBufferProfile profile_;
  const Mechanism& mechanism_;
  TimeNs base_ = 0;
  std::int64_t base_angle_ps_ = 0;
  std::uint64_t begin_ = 0;        ///< first buffered LBN
  std::uint64_t track_begin_ = 0;  ///< the first buffered LBN once whole_track_ps_ is reached
  OffsetPs whole_track_ps_ = 0;
  std::uint64_t read_ = 0;      ///< all sectors before this LBN had been read at the last settle()
  std::uint64_t planned_ = 0;   ///< LBN at which the planned reads end
  std::uint64_t goal_ = 0;      ///< LBN at which reading stops
  std::uint64_t asked_to_ = 0;  ///< end of the last requested range
  /// Sectors before this LBN belong to the request or have already been reported by halt().
  std::uint64_t reported_ = 0;
  OffsetPs free_ps_ = 0;  ///< end of the last planned read
  ArmPosition arm_;       ///< arm position at the end of the planned reads
  bool running_ = false;  ///< read-ahead is using the mechanism
  std::vector<Stretch> stretches_;
};

}  // namespace headcrash::model
