#pragma once
// Seek times: a table for all distances, which is computed once from the profile's curve.

#include <cstdint>
#include <vector>

#include "plugin/model/disk/disk_profile.h"

namespace headcrash::model {

struct ArmPosition {
  std::uint32_t cylinder = 0;
  std::uint32_t head = 0;
  bool operator==(const ArmPosition&) const = default;
};

class SeekCurve {
 public:
  SeekCurve(const SeekProfile& profile, std::uint32_t cylinders);

  /// Returns the time to move between two tracks, without write settling. A head switch counts as a
  /// seek over zero cylinders.
  TimeNs seek_ns(ArmPosition from, ArmPosition to) const {
    if (from.cylinder == to.cylinder) return from.head == to.head ? 0 : head_switch_ns_;
    return by_distance_ns_[from.cylinder < to.cylinder ? to.cylinder - from.cylinder
                                                       : from.cylinder - to.cylinder];
  }
  TimeNs distance_ns(std::uint32_t cylinders) const { return by_distance_ns_.at(cylinders); }

  /// Returns the mean seek time between two independent, uniformly distributed cylinders, as
  /// printed in data sheets.
  TimeNs average_ns() const;

 private:
  std::vector<TimeNs> by_distance_ns_;
  TimeNs head_switch_ns_;
};

}  // namespace headcrash::model
