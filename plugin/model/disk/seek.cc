// Seek curves. A curve either interpolates linearly between measured points, or has three parts
// (Ruemmler and Wilkes, "An introduction to disk drive modeling", 1994): measured times for the
// shortest seeks; a square root for seeks in which the arm accelerates and then decelerates; and a
// line for longer seeks, in which the arm coasts in between.
#include "plugin/model/disk/seek.h"

#include <algorithm>
#include <cmath>

namespace headcrash::model {

namespace {

/// Interpolates linearly between the measured distances. For a distance outside the measured range,
/// returns the time of the nearest measured distance.
TimeNs between_points_ns(const SeekProfile& profile, std::uint32_t d) {
  const auto& at = profile.distances;
  const auto above = std::lower_bound(at.begin(), at.end(), d);
  if (above == at.end()) return profile.times_ns.back();
  const auto i = static_cast<std::size_t>(above - at.begin());
  if (*above == d || i == 0) return profile.times_ns[i];
  const TimeNs rise_ns = profile.times_ns[i] - profile.times_ns[i - 1];
  return profile.times_ns[i - 1] + rise_ns * (d - at[i - 1]) / (at[i] - at[i - 1]);
}

}  // namespace

SeekCurve::SeekCurve(const SeekProfile& profile, std::uint32_t cylinders)
    : by_distance_ns_(cylinders), head_switch_ns_(profile.head_switch_ns) {
  for (std::uint32_t d = 1; d < cylinders; ++d) {
    if (!profile.distances.empty()) {
      by_distance_ns_[d] = between_points_ns(profile, d);
    } else if (d <= profile.short_ns.size()) {
      by_distance_ns_[d] = profile.short_ns[d - 1];
    } else if (d < profile.linear_from_cylinders) {
      by_distance_ns_[d] = profile.root_base_ns +
                           std::llround(static_cast<double>(profile.root_factor_ns) * std::sqrt(d));
    } else {
      by_distance_ns_[d] = profile.linear_base_ns + profile.linear_per_cylinder_ns * d;
    }
  }
}

TimeNs SeekCurve::average_ns() const {
  const auto n = static_cast<double>(by_distance_ns_.size());
  double sum = 0;
  for (std::size_t d = 1; d < by_distance_ns_.size(); ++d) {
    sum += 2 * (n - static_cast<double>(d)) * static_cast<double>(by_distance_ns_[d]);
  }
  return std::llround(sum / (n * n));
}

}  // namespace headcrash::model
