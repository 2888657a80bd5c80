// Searches for the knee: doubles the load and then bisects (curve.h).
#include "harness/papers/peacock98/curve.h"

#include <algorithm>

namespace headcrash::experiment::peacock98 {

const CurvePoint* Curve::knee() const {
  const CurvePoint* best = nullptr;
  for (const CurvePoint& each : points) {
    // Ignore all loads above the first one that is not sustained: a higher load is sustained only
    // by chance.
    if (!each.sustained) break;
    best = &each;
  }
  return best;
}

Figure Curve::knee_per_s() const {
  const CurvePoint* const found = knee();
  return found == nullptr ? std::nullopt : Figure(found->outcome.achieved_per_s);
}

Figure Curve::knee_ms() const {
  const CurvePoint* const found = knee();
  return found == nullptr ? std::nullopt : Figure(found->outcome.mean_ms);
}

Figure Curve::highest_per_s() const {
  Figure highest;
  for (const CurvePoint& each : points)
    highest = std::max(highest.value_or(0), each.outcome.achieved_per_s);
  return highest;
}

Curve curve_of(const CurveOptions& options, const std::function<LaddisOutcome(double)>& measure) {
  Curve curve;
  const auto run = [&](double load) {
    CurvePoint point{.offered_per_s = load, .outcome = measure(load)};
    if (!point.outcome.error.empty()) curve.error = point.outcome.error;
    point.sustained =
        curve.error.empty() && !point.outcome.saturated &&
        point.outcome.mean_ms <= options.limit_ms &&
        point.outcome.achieved_per_s >= point.outcome.arrived_per_s * options.sustained;
    curve.points.push_back(std::move(point));
    return curve.points.back().sustained;
  };
  double good = 0, bad = 0;
  for (double load = options.first_per_s; load <= options.last_per_s; load *= 2) {
    if (run(load)) {
      good = load;
      continue;
    }
    bad = load;
    break;
  }
  while (curve.error.empty() && bad > 0 && bad - good > options.precision * bad) {
    const double middle = (good + bad) / 2;
    (run(middle) ? good : bad) = middle;
  }
  std::ranges::sort(curve.points, {}, &CurvePoint::offered_per_s);
  return curve;
}

}  // namespace headcrash::experiment::peacock98
