#pragma once
// What can be computed without simulation, beside which the simulator's answers are put.
//
// U is the disk capacity utilization, u the utilization of the segments that are cleaned, both
// shares.

#include "harness/papers/rosenblum92/access_pattern.h"

namespace headcrash::experiment::rosenblum92 {

/// Equation 1 of the dissertation: 2 / (1 - u), and 1 for u = 0, since an empty segment is not
/// read.
double write_cost_of(double u);

/// "No variance": all segments are utilized alike, so that u = U.
double no_variance_cost(double overall_u);

/// Section 5.4: u = e^(-1/U), of a log whose disk is overwritten once before its segments are
/// cleaned, and in which cleaning writes nothing.
double reuse_without_copying(double overall_u);

/// The u of the steady state under the uniform pattern when every segment starts full and is
/// cleaned at u, whether because it is the oldest or because it is the least utilized: a full
/// segment of n files needs F / n + F / (n - 1) + ... writes to lose its files one by one, and its
/// mean utilization over that time must be U. For large segments: U = (1 - u) / -ln u.
double uniform_steady_state(double overall_u);

/// The lowest write cost that hot and cold can have when each group has segments and a cleaner of
/// its own, both uniform inside, and the free space is divided between them in the best way. Of
/// hot-and-cold patterns only.
double hot_cold_apart_cost(const AccessPattern& pattern, double overall_u);
/// The share of the free space that the hot group then has.
double hot_cold_apart_division(const AccessPattern& pattern, double overall_u);

}  // namespace headcrash::experiment::rosenblum92
