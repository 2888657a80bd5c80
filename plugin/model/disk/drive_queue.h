#pragma once
// Which of the commands that a drive holds comes next.

#include <cstdint>
#include <vector>

#include "plugin/model/disk/mechanism.h"

namespace headcrash::model {

/// One command as the scheduler sees it. Located once, when it comes into the drive: choosing among
/// a thousand is then a thousand table look-ups.
struct Candidate {
  std::uint64_t number = 0;  ///< the order in which they came, and how the caller knows it again
  std::uint64_t lbn = 0;
  std::uint32_t slot = 0;
  std::uint32_t track_sectors = 1;
  ArmPosition at;
  Access access = Access::read;
  TimeNs submitted_at = 0;
  bool barrier = false;  ///< a flush: nothing goes past it in either direction
};

class DriveScheduler {
 public:
  /// `mechanism` must outlive the scheduler.
  DriveScheduler(const QueueProfile& profile, const Mechanism& mechanism)
      : profile_(profile), mechanism_(mechanism) {}

  /// Whether there is anything to choose: with one command at a time the host decides the order.
  bool reorders() const { return profile_.policy != QueuePolicy::fcfs && profile_.depth > 1; }
  std::uint32_t depth() const { return profile_.depth; }

  Candidate candidate(std::uint64_t lbn, Access access) const;

  /// Index of the best of `candidates`, which are in the order in which they came. The arm may move
  /// from `ready` on; C-LOOK continues upwards from `last_lbn`.
  std::size_t choose(const std::vector<Candidate>& candidates, TimeNs ready,
                     std::uint64_t last_lbn) const;

 private:
  std::int64_t cost(const Candidate& candidate, TimeNs ready, std::int64_t angle_ps,
                    std::uint64_t last_lbn) const;

  const QueueProfile profile_;
  const Mechanism& mechanism_;
};

}  // namespace headcrash::model
