#pragma once
// The response times of a server as a function of the offered load, and the knee of this curve.
//
// LADDIS raises the load in steps and reports the highest throughput with a mean response time of
// at most 50 ms (the limit of SFS 1.1; see Sun's documents on SPEC SFS 2.0 and Robinson, LISA
// 1999). The paper prints figures of merit at 61.7 and 94.2 ms, so its runs did not stop at this
// limit. The highest throughput is therefore also measured.
//
// The load is doubled until it is not sustained, and then bisected, so there is no predefined list
// of loads.

#include <functional>
#include <vector>

#include "harness/papers/peacock98/laddis_load.h"
#include "harness/papers/peacock98/ultra2.h"

namespace headcrash::experiment::peacock98 {

inline constexpr double kResponseLimitMs = 50;

struct CurveOptions {
  double first_per_s = 100, last_per_s = 6400;
  /// The search ends when the gap between the knee and the lowest load that is not sustained is at
  /// most this fraction of that load.
  double precision = .08;
  double limit_ms = kResponseLimitMs;
  /// A load is sustained only if the ratio of replies to arrivals is at least this value.
  double sustained = .95;
};

struct CurvePoint {
  double offered_per_s = 0;
  LaddisOutcome outcome;
  bool sustained = false;
};

struct Curve {
  std::string error;
  std::vector<CurvePoint> points;  ///< ordered by ascending load
  /// Returns the point with the highest sustained load, or null if no load was sustained.
  const CurvePoint* knee() const;
  Figure knee_per_s() const;
  Figure knee_ms() const;
  /// Highest reply rate at any load, including loads that are not sustained.
  Figure highest_per_s() const;
};

/// Searches for the knee. `measure` runs one load; it is called once per load.
Curve curve_of(const CurveOptions& options, const std::function<LaddisOutcome(double)>& measure);

}  // namespace headcrash::experiment::peacock98
