#pragma once
// How long the arm takes: a table over all distances, made once from the profile's curve.

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

  /// From one track to another, without write settling; a head switch counts as a seek of no
  /// cylinders.
  TimeNs seek_ns(ArmPosition from, ArmPosition to) const {
    if (from.cylinder == to.cylinder) return from.head == to.head ? 0 : head_switch_ns_;
    return by_distance_ns_[from.cylinder < to.cylinder ? to.cylinder - from.cylinder
                                                       : from.cylinder - to.cylinder];
  }
  TimeNs distance_ns(std::uint32_t cylinders) const { return by_distance_ns_.at(cylinders); }

  /// Mean over two independent uniform cylinders, the figure that data sheets print.
  TimeNs average_ns() const;

 private:
  std::vector<TimeNs> by_distance_ns_;
  TimeNs head_switch_ns_;
};

}  // namespace headcrash::model
