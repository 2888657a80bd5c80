#pragma once
// Numbers over seeds: a mean with its interval, and who beats whom.

#include <functional>
#include <string>
#include <vector>

#include "harness/papers/claim.h"
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
/// Which samples of one contest are less than which, seed by seed. `a` beats `b` if the whole
/// interval of their ratio is on that side of 1, the ratio is beyond the tolerance, and both stay
/// so when all pairs of the contest are corrected for their number
/// (statistics::correct_for_number).
class Ranking {
 public:
  /// Null samples are not allowed; those that are empty or have no ratio beat nothing and are not
  /// beaten.
  explicit Ranking(const std::vector<const Sample*>& samples);
  bool beats(std::size_t a, std::size_t b) const { return beats_[a * count_ + b]; }
  /// Those that no other beats, by their means; without the empty ones.
  const std::vector<std::size_t>& unbeaten() const { return unbeaten_; }

 private:
  std::size_t count_;
  std::vector<bool> beats_;
  std::vector<std::size_t> unbeaten_;
};

}  // namespace headcrash::experiment::compare
