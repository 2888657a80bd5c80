#pragma once
// Statistics over seeds: means with intervals, and rankings.

#include <functional>
#include <string>
#include <vector>

#include "results/db/claim.h"
#include "results/statistics/sample.h"

namespace headcrash::experiment::compare {

/// One quantity of one cell, with one value per seed. Empty if the cell failed or did not run.
using Sample = std::vector<double>;

/// Relative differences below this value are ignored, even if the intervals do not overlap.
inline constexpr double kTolerance = .02;

Figure mean_of(const Sample& sample);
/// Formats the mean and, if there is an interval, half of its width, for example "12.3 +-.4".
std::string text_of(const Sample& sample);
/// Adds a sample and its interval to the rows of a claim.
void add_sample(ClaimAnswer& answer, std::string cell, std::string quantity, std::string unit,
                const Sample& sample, const std::string& error);

/// Returns true if both samples have a positive value for each seed.
bool have_ratios(const Sample& a, const Sample& b);
/// Ranks the samples in one contest. `a` beats `b` if `b` is larger by more than the tolerance, and
/// the interval of their ratio (computed seed by seed) does not contain 1. Both conditions must
/// still hold after a correction for the number of pairs in the contest
/// (statistics::correct_for_number).
class Ranking {
 public:
  /// `samples` contains no null pointers. If one of two samples is empty, or if their ratio is
  /// undefined, neither of them beats the other.
  explicit Ranking(const std::vector<const Sample*>& samples);
  bool beats(std::size_t a, std::size_t b) const { return beats_[a * count_ + b]; }
  /// Returns the nonempty samples that are not beaten by any other sample, sorted by mean.
  const std::vector<std::size_t>& unbeaten() const { return unbeaten_; }

 private:
  std::size_t count_;
  std::vector<bool> beats_;
  std::vector<std::size_t> unbeaten_;
};

}  // namespace headcrash::experiment::compare
