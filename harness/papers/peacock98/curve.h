#pragma once
// A server's response times by offered load, and the knee of this curve.
//
// LADDIS raises the load in steps and reports the highest throughput with a mean response time of
// at most 50 ms (the limit of SFS 1.1; see Sun's documents on SPEC SFS 2.0 and Robinson, LISA
// 1999). The paper prints figures of merit at 61.7 and 94.2 ms, so its runs did not stop at this
// limit; the highest throughput is therefore also given.
//
// Loads are doubled until one is not sustained, and then bisected, so there is no predefined list
// of loads.

#include <functional>
#include <vector>

#include "harness/papers/peacock98/laddis_load.h"
#include "harness/papers/peacock98/ultra2.h"

namespace headcrash::experiment::peacock98 {

inline constexpr double kResponseLimitMs = 50;

struct CurveOptions {
  double first_per_s = 100, last_per_s = 6400;
  /// The search ends when the knee is at most this far below the lowest unsustained load, as a
  /// fraction of that load.
  double precision = .08;
  double limit_ms = kResponseLimitMs;
  /// minimum ratio of replies to arrivals for a load to count as sustained
  double sustained = .95;
};

struct CurvePoint {
  double offered_per_s = 0;
  LaddisOutcome outcome;
  bool sustained = false;
};

struct Curve {
  std::string error;
  std::vector<CurvePoint> points;  ///< in ascending order of load
  /// Returns the point with the highest sustained load, or null if no load was sustained.
  const CurvePoint* knee() const;
  Figure knee_per_s() const;
  Figure knee_ms() const;
  /// Highest reply rate at any load, including unsustained ones.
  Figure highest_per_s() const;
};

/// Searches for the knee. `measure` runs one load and is called once for each load.
Curve curve_of(const CurveOptions& options, const std::function<LaddisOutcome(double)>& measure);

}  // namespace headcrash::experiment::peacock98
