#pragma once
// Formulas for comparison with the simulator.
//
// U is the disk capacity utilization, and u is the utilization of cleaned segments. Both are
// fractions.

#include "harness/papers/rosenblum92/access_pattern.h"

namespace headcrash::experiment::rosenblum92 {

/// Returns the write cost from equation 1 of the dissertation, 2 / (1 - u). The result is 1 for u =
/// 0, because empty segments are not read.
double write_cost_of(double u);

/// Returns the write cost with "no variance": all segments have the same utilization, so u = U.
double no_variance_cost(double overall_u);

/// Returns u according to section 5.4, e^(-1/U). Assumes that the whole disk is overwritten once
/// before a segment is cleaned, and that cleaning does not write.
double reuse_without_copying(double overall_u);

/// Returns the steady-state u under the uniform pattern. Assumes that every segment starts full,
/// and is cleaned at the utilization u because it is the oldest or the least utilized segment. With
/// F files in total, the first of the n files in a full segment is overwritten after F / n writes,
/// the second after another F / (n - 1) writes, and so on. The segment's mean utilization over this
/// time must be U. For large segments, U = (1 - u) / -ln u.
double uniform_steady_state(double overall_u);

/// Returns the lowest write cost if hot and cold data is in separate segments with separate
/// cleaners. Assumes that accesses within each group are uniform, and that the free space is
/// divided optimally between the groups. Only for hot-and-cold patterns.
double hot_cold_apart_cost(const AccessPattern& pattern, double overall_u);
/// Returns the hot group's share of the free space (0 to 1) in the optimal division that
/// hot_cold_apart_cost() assumes.
double hot_cold_apart_division(const AccessPattern& pattern, double overall_u);

}  // namespace headcrash::experiment::rosenblum92
