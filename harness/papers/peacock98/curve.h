#pragma once
// A response curve over offered load, and its knee.
//
// LADDIS raises the load in steps and reports the highest throughput whose mean response is at most
// 50 ms (SFS 1.1's limit; Sun's documents of SPEC SFS 2.0 and Robinson, LISA 1999, say so). The
// paper prints figures of merit at 61.7 and 94.2 ms, so that its own runs did not stop there; the
// highest throughput is given beside.
//
// Loads are doubled until one is not sustained, and then bisected: no cell has loads of its own.

#include <functional>
#include <vector>

#include "harness/papers/peacock98/laddis_load.h"
#include "harness/papers/peacock98/ultra2.h"

namespace headcrash::experiment::peacock98 {

inline constexpr double kResponseLimitMs = 50;

struct CurveOptions {
  double first_per_s = 100, last_per_s = 6400;
  double precision =
      .08;  ///< of the lowest load that is not sustained: how far the knee may be below it
  double limit_ms = kResponseLimitMs;
  double sustained = .95;  ///< replies over arrivals, at least
};

struct CurvePoint {
  double offered_per_s = 0;
  LaddisOutcome outcome;
  bool sustained = false;
};

struct Curve {
  std::string error;
  std::vector<CurvePoint> points;  ///< by load
  /// The highest load that was sustained; none: not even the first.
  const CurvePoint* knee() const;
  Figure knee_per_s() const;
  Figure knee_ms() const;
  Figure highest_per_s() const;  ///< achieved at any load, within limits or not
};

/// `measure` runs one load. It is asked for each load once.
Curve curve_of(const CurveOptions& options, const std::function<LaddisOutcome(double)>& measure);

}  // namespace headcrash::experiment::peacock98
