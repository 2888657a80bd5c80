#pragma once
// Command scheduling in a drive.

#include <cstdint>
#include <vector>

#include "plugin/model/disk/mechanism.h"

namespace headcrash::model {

/// A command as the scheduler sees it. The command's position on the disk is computed once, when
/// the command is accepted. Choosing among a thousand commands thus takes at most a thousand table
/// lookups.
struct Candidate {
  /// Position in arrival order, by which the caller identifies the command.
  std::uint64_t number = 0;
  std::uint64_t lbn = 0;
  std::uint32_t slot = 0;
  std::uint32_t track_sectors = 1;
  ArmPosition at;
  Access access = Access::read;
  TimeNs submitted_at = 0;
  /// True for a flush. A flush must not overtake other commands, and other commands must not
  /// overtake a flush.
  bool barrier = false;
};

class DriveScheduler {
 public:
  /// `mechanism` must outlive the scheduler.
  DriveScheduler(const QueueProfile& profile, const Mechanism& mechanism)
      : profile_(profile), mechanism_(mechanism) {}

  /// Returns false if commands are always served in arrival order.
  bool reorders() const { return profile_.policy != QueuePolicy::fcfs && profile_.depth > 1; }
  std::uint32_t depth() const { return profile_.depth; }

  Candidate candidate(std::uint64_t lbn, Access access) const;

  /// Returns the index of the best of `candidates`, which are in arrival order. The arm can move
  /// from time `ready` on. C-LOOK continues upwards from `last_lbn`.
  std::size_t choose(const std::vector<Candidate>& candidates, TimeNs ready,
                     std::uint64_t last_lbn) const;

 private:
  std::int64_t cost(const Candidate& candidate, TimeNs ready, std::int64_t angle_ps,
                    std::uint64_t last_lbn) const;

  const QueueProfile profile_;
  const Mechanism& mechanism_;
};

}  // namespace headcrash::model
