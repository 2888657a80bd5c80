#pragma once
// Formulas for comparison with the simulator.
//
// U is the disk capacity utilization, u the utilization of cleaned segments; both are shares.

#include "harness/papers/rosenblum92/access_pattern.h"

namespace headcrash::experiment::rosenblum92 {

/// Equation 1 of the dissertation: 2 / (1 - u), and 1 for u = 0, since an empty segment is not
/// read.
double write_cost_of(double u);

/// "No variance": all segments have equal utilization, so u = U.
double no_variance_cost(double overall_u);

/// Section 5.4: u = e^(-1/U), for a log whose disk is overwritten once before its segments are
/// cleaned, and in which cleaning writes nothing.
double reuse_without_copying(double overall_u);

/// The steady-state u under the uniform pattern, if every segment starts full and is cleaned at u
/// because it is the oldest or the least utilized. A full segment of n files needs F / n + F / (n -
/// 1) + ... writes to lose its files one by one, and its mean utilization over that time must be U.
/// For large segments: U = (1 - u) / -ln u.
double uniform_steady_state(double overall_u);

/// The lowest write cost of hot and cold data in separate segments with separate cleaners, both
/// uniform inside, if the free space is divided optimally. For hot-and-cold patterns only.
double hot_cold_apart_cost(const AccessPattern& pattern, double overall_u);
/// The hot group's share of the free space in this case.
double hot_cold_apart_division(const AccessPattern& pattern, double overall_u);

}  // namespace headcrash::experiment::rosenblum92
