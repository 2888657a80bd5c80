#pragma once
// Numbers over seeds: a mean with its interval, and who beats whom.

#include <functional>
#include <string>
#include <vector>

#include "harness/experiment/claim.h"
#include "results/statistics/sample.h"

namespace headcrash::experiment::compare {

/// One quantity of one cell, a value for each seed. Empty: the cell failed, or was not run.
using Sample = std::vector<double>;

/// A difference of less is none, whatever the intervals say.
inline constexpr double kTolerance = .02;

Figure mean_of(const Sample& sample);
/// "12.3 +-.4": half of the interval's width, where there is one.
std::string told(const Sample& sample);
/// Into a claim's numbers, with its interval.
void add_sample(ClaimAnswer& answer, std::string cell, std::string quantity, std::string unit,
                const Sample& sample, const std::string& error);

/// A value for each seed in both, all above 0.
bool have_ratios(const Sample& a, const Sample& b);
/// Smaller is better. True when the samples, seed by seed, say that `a` is less than `b`: the whole interval of their
/// ratio is on that side of 1, and the ratio is beyond the tolerance.
bool beats(const Sample& a, const Sample& b);

/// Numbers into `samples`: the one with the least mean first, and then all that it does not beat.
std::vector<std::size_t> best_of(const std::vector<const Sample*>& samples);

}  // namespace headcrash::experiment::compare
