#pragma once
// Repeated measurements of one cell: what they say, and how sure that is.
//
// Intervals come from the bootstrap: the sample is drawn from itself, with replacement, kResamples
// times, and the middle `confidence` of the means is kept (Efron & Tibshirani, An Introduction to
// the Bootstrap, 1993, chapter 13). Of few values such an interval comes out too narrow, as if
// their spread were known exactly: of three it would hold the true mean 75 times in 100. It is
// stretched about the mean as Student's distribution demands, by sqrt(n / (n - 1)) t(n - 1) / z
// (the expanded percentile interval of Hesterberg, What Teachers Should Know About the Bootstrap,
// The American Statistician 69(4), 2015): 2.7 for three values, 1.9 for four, 1.2 for ten. Draws
// follow from a seed: the same sample gives the same interval everywhere.

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
  std::optional<Interval> mean_interval;  ///< none for fewer than three values
  /// Indices of the values beyond the quartiles by more than 1.5 times their distance (Tukey's
  /// fences). They are shown, never dropped: everything above is of all values.
  std::vector<std::size_t> outliers;
};

/// At least one value, all finite.
Summary summarise(std::span<const double> values, std::uint64_t seed = 1);

/// The value below which `share` of the sample lies, between neighbours by proportion (type 7 of
/// Hyndman & Fan, 1996).
double quantile(std::span<const double> values, double share);

enum class Change : std::uint8_t { better, worse, same, cannot_tell };

/// How a measurement changed against a baseline. Smaller is better (times); for rates give the
/// reciprocals.
struct Comparison {
  double ratio =
      1;  ///< now / baseline: of the means, or for pairs the geometric mean of the pairs' ratios
  std::optional<Interval> interval;  ///< none for fewer than three values on a side
  /// Probability of a difference at least this large between equals, two-sided, by Student's t test
  /// of the logarithms (paired for pairs; else Welch's, with its degrees of freedom rounded down).
  /// Unset if `interval` is.
  std::optional<double> p;
  Change change = Change::cannot_tell;
};

/// `tolerance`: a change of less is none: 0.02 is 2 %.
///   same         the whole interval lies within the tolerance
///   better/worse the whole interval lies on one side of 1, and the ratio is beyond the tolerance
///   cannot tell  everything else: too few values, or too much spread
/// All values greater than 0.
Comparison compare(std::span<const double> baseline, std::span<const double> now, double tolerance,
                   std::uint64_t seed = 1);
/// The same for values that belong together (the same repetition of an interleaved run), which
/// takes out what both shared. Equally many on both sides.
Comparison compare_pairs(std::span<const double> baseline, std::span<const double> now,
                         double tolerance, std::uint64_t seed = 1);

/// Probability that Student's t with `freedom` > 0 degrees of freedom is at least `t` >= 0 away
/// from 0 (Abramowitz & Stegun, 26.7.3 and 26.7.4).
double student_tail(double t, std::size_t freedom);

/// Corrects comparisons that are read together for their number (Holm, A Simple Sequentially
/// Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6(2), 1979). In order of
/// p, the k-th of n stays better or worse only if p <= (1 - kConfidence) / (n - k + 1) for it and
/// for all before it; the others become cannot_tell. So the probability that any of the n is called
/// different by chance is at most 1 - kConfidence. Comparisons without p do not count.
void correct_for_number(std::span<Comparison* const> family);

struct PairComparison {
  std::size_t first = 0, second = 0;
  Comparison comparison;  ///< of the second to the first
};
/// compare(i, j) for all i < j < `count`, corrected for their number.
std::vector<PairComparison> compare_all_pairs(
    std::size_t count, const std::function<Comparison(std::size_t, std::size_t)>& compare);

/// Repetitions in all until the interval of the mean is within `relative` of it on either side, by
/// the spread so far (which the first three know badly: ask again as they come in); between
/// `values.size()` and `most`. With fewer than three values: three.
std::size_t repetitions_needed(std::span<const double> values, double relative, std::size_t most);

}  // namespace headcrash::statistics
