#pragma once
// Statistics for repeated measurements of one cell, with confidence intervals.
//
// Intervals come from the bootstrap: the sample is redrawn with replacement kResamples times, and
// the middle `confidence` of the means is kept (Efron & Tibshirani, An Introduction to the
// Bootstrap, 1993, chapter 13). If there are few values, such an interval is too narrow, because
// the bootstrap treats the sample's spread as exact. With three values, the interval would contain
// the true mean only 75 times in 100. It is therefore stretched about the mean by sqrt(n / (n - 1))
// t(n - 1) / z (the expanded percentile interval of Hesterberg, What Teachers Should Know About the
// Bootstrap, The American Statistician 69(4), 2015): 2.7 for three values, 1.9 for four, 1.2 for
// ten. The draws are seeded, so the same sample always yields the same interval.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace headcrash::statistics {

inline constexpr std::size_t kResamples = 2000;
inline constexpr double kConfidence = 0.95;

struct Interval {
  double low = 0, high = 0;
  bool holds(double value) const { return low <= value && value <= high; }
};

struct Summary {
  std::size_t count = 0;
  double median = 0, mean = 0, least = 0, greatest = 0;
  double deviation = 0;  ///< standard deviation of the sample (n - 1); 0 for one value
  std::optional<Interval> mean_interval;  ///< empty for fewer than three values
  /// Indices of the values outside Tukey's fences, that is, beyond the quartiles by more than 1.5
  /// times the interquartile range. These values are reported but never excluded.
  std::vector<std::size_t> outliers;
};

/// REQUIRES: at least one value, all finite.
Summary summarise(std::span<const double> values, std::uint64_t seed = 1);

/// Returns the value below which the fraction `share` of the sample lies. Uses linear interpolation
/// (type 7 of Hyndman & Fan, 1996).
double quantile(std::span<const double> values, double share);

enum class Change : std::uint8_t { better, worse, same, cannot_tell };

/// The change from a baseline to a new measurement. Smaller values are better, as for times. To
/// compare rates, pass their reciprocals.
struct Comparison {
  /// now / baseline: the ratio of the means or, for pairs, the geometric mean of the pairs' ratios.
  double ratio = 1;
  std::optional<Interval> interval;  ///< nullopt if either side has fewer than three values
  /// Two-sided p-value of Student's t test on the logarithms: the probability that equal quantities
  /// would show a difference at least as large as this one. Pairs use the paired test. Other values
  /// use Welch's test, with its degrees of freedom rounded down. Unset if `interval` is unset.
  std::optional<double> p;
  Change change = Change::cannot_tell;
};

/// Compares two samples of positive values. Changes below `tolerance` (0.02 is 2 %) are ignored.
///   same         the whole interval is within the tolerance
///   better/worse the whole interval is on one side of 1, and the ratio is beyond the tolerance
///   cannot_tell  otherwise: too few values, or too much spread
Comparison compare(std::span<const double> baseline, std::span<const double> now, double tolerance,
                   std::uint64_t seed = 1);
/// Compares paired values. A pair consists of the values from the same repetition of an interleaved
/// run, so effects that both values share cancel out. REQUIRES: `baseline` and `now` have the same
/// number of values.
Comparison compare_pairs(std::span<const double> baseline, std::span<const double> now,
                         double tolerance, std::uint64_t seed = 1);

/// Returns the probability that Student's t with `freedom` > 0 degrees of freedom has an absolute
/// value of at least `t` >= 0 (Abramowitz & Stegun, 26.7.3 and 26.7.4).
double student_tail(double t, std::size_t freedom);

/// Corrects a family of comparisons for their number (Holm, A Simple Sequentially Rejective
/// Multiple Test Procedure, Scandinavian Journal of Statistics 6(2), 1979). In ascending order of
/// p, the k-th of n comparisons is significant if p <= (1 - kConfidence) / (n - k + 1). The first
/// comparison that is not significant becomes cannot_tell, and so do all later ones. The
/// probability that at least one of the reported differences is false is thus at most 1 -
/// kConfidence. Comparisons without p do not count.
void correct_for_number(std::span<Comparison* const> family);

struct PairComparison {
  std::size_t first = 0, second = 0;
  Comparison comparison;  ///< how `second` compares with `first`
};
/// Calls compare(i, j) for all i < j < `count`, and passes the results to correct_for_number().
std::vector<PairComparison> compare_all_pairs(
    std::size_t count, const std::function<Comparison(std::size_t, std::size_t)>& compare);

/// Estimates the total number of repetitions after which the confidence interval of the mean is
/// within `relative` on either side, if the spread does not change. The result is between
/// `values.size()` and `most`; it is 3 if there are fewer than three values. Three values estimate
/// the spread poorly, so call the function again as more values arrive.
std::size_t repetitions_needed(std::span<const double> values, double relative, std::size_t most);

}  // namespace headcrash::statistics
