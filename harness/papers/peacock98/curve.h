#pragma once
// A response curve over offered load, and its knee.
//
// LADDIS raises the load in steps and reports the highest throughput whose mean response is at most
// 50 ms (the limit of SFS 1.1; see Sun's documents of SPEC SFS 2.0 and Robinson, LISA 1999). The
// paper prints figures of merit at 61.7 and 94.2 ms, so its runs did not stop there; the highest
// throughput is also given.
//
// Loads are doubled until one is not sustained, and then bisected. Cells have no predefined loads.

#include <functional>
#include <vector>

#include "harness/papers/peacock98/laddis_load.h"
#include "harness/papers/peacock98/ultra2.h"

namespace headcrash::experiment::peacock98 {

inline constexpr double kResponseLimitMs = 50;

struct CurveOptions {
  double first_per_s = 100, last_per_s = 6400;
  /// Maximum distance of the knee below the lowest load that is not sustained, as a share of this
  /// load.
  double precision = .08;
  double limit_ms = kResponseLimitMs;
  double sustained = .95;  ///< minimum ratio of replies to arrivals
};

struct CurvePoint {
  double offered_per_s = 0;
  LaddisOutcome outcome;
  bool sustained = false;
};

struct Curve {
  std::string error;
  std::vector<CurvePoint> points;  ///< by load
  /// Returns the highest sustained load; null if none was sustained.
  const CurvePoint* knee() const;
  Figure knee_per_s() const;
  Figure knee_ms() const;
  Figure highest_per_s() const;  ///< achieved at any load, within the limits or not
};

/// `measure` runs one load. It is called once for each load.
Curve curve_of(const CurveOptions& options, const std::function<LaddisOutcome(double)>& measure);

}  // namespace headcrash::experiment::peacock98
