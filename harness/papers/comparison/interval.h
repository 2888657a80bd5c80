#pragma once
// Numbers over seeds: means with intervals, and rankings.

#include <functional>
#include <string>
#include <vector>

#include "harness/papers/claim.h"
#include "results/statistics/sample.h"

namespace headcrash::experiment::compare {

/// One quantity of one cell, with a value for each seed; empty if the cell failed or was not run.
using Sample = std::vector<double>;

/// A smaller difference is ignored, whatever the intervals.
inline constexpr double kTolerance = .02;

Figure mean_of(const Sample& sample);
/// Returns "12.3 +-.4": the mean and half the width of the interval, if any.
std::string text_of(const Sample& sample);
/// Adds a sample with its interval to the numbers of a claim.
void add_sample(ClaimAnswer& answer, std::string cell, std::string quantity, std::string unit,
                const Sample& sample, const std::string& error);

/// Returns true if both have a value for each seed, all positive.
bool have_ratios(const Sample& a, const Sample& b);
/// Orders the samples of one contest, seed by seed. `a` beats `b` if the whole interval of their
/// ratio is on one side of 1 and the ratio exceeds the tolerance. Both must remain true after
/// correction for the number of pairs in the contest (statistics::correct_for_number).
class Ranking {
 public:
  /// Samples must not be null. Empty samples, and those without a ratio, neither beat others nor
  /// are beaten.
  explicit Ranking(const std::vector<const Sample*>& samples);
  bool beats(std::size_t a, std::size_t b) const { return beats_[a * count_ + b]; }
  /// Returns the samples that no other beats, sorted by mean, without empty ones.
  const std::vector<std::size_t>& unbeaten() const { return unbeaten_; }

 private:
  std::size_t count_;
  std::vector<bool> beats_;
  std::vector<std::size_t> unbeaten_;
};

}  // namespace headcrash::experiment::compare
