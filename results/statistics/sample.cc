#include "results/statistics/sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace headcrash::statistics {
namespace {

constexpr std::size_t kFewest = 3;
constexpr double kFence = 1.5;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Computes a summary that has only the count, the mean and the deviation.
Summary moments(std::span<const double> values) {
  Summary summary;
  summary.count = values.size();
  summary.mean = mean_of(values);
  if (values.size() < 2) return summary;
  double squares = 0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  summary.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return summary;
}

/// Returns the mean of a resample, which consists of as many random draws as there are values.
double drawn_mean(std::span<const double> values, std::mt19937_64& random) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += values[random() % values.size()];
  return sum / static_cast<double>(values.size());
}

/// Returns a factor for the confidence interval of `count` values (sample.h). For a few values, the
/// interval from resampling is too narrow and must be widened by this factor. The quantile of
/// Student's distribution is computed by Fisher's expansion about the normal quantile (Abramowitz &
/// Stegun, 26.7.5). The result is too small by 0.7 % for three values and by 0.1 % for four.
double stretch_for(std::size_t count) {
  constexpr double kZ = 1.959963984540054;  // of kConfidence
  static_assert(kConfidence == 0.95);
  constexpr double kSquare = kZ * kZ;
  const double freedom = static_cast<double>(count - 1);
  const std::array terms = {
      // Coefficients of t / z as a series in powers of 1 / freedom.
      (kSquare + 1) / 4,
      ((5 * kSquare + 16) * kSquare + 3) / 96,
      (((3 * kSquare + 19) * kSquare + 17) * kSquare - 15) / 384,
      ((((79 * kSquare + 776) * kSquare + 1482) * kSquare - 1920) * kSquare - 945) / 92160,
  };
  double ratio = 1;  // Student's quantile t divided by the normal quantile z
  double power = 1;
  for (const double term : terms) {
    power *= freedom;
    ratio += term / power;
  }
  return ratio * std::sqrt(static_cast<double>(count) / freedom);
}

/// Returns the central interval that contains the fraction kConfidence of the resamples, after
/// moving both of its ends away from `centre` by the factor `stretch`.
Interval middle(std::vector<double> resamples, double centre, double stretch) {
  const double tail = (1 - kConfidence) / 2;
  const double low = quantile(resamples, tail);
  const double high = quantile(resamples, 1 - tail);
  return {centre - (centre - low) * stretch, centre + (high - centre) * stretch};
}

/// Returns the probability that chance alone would cause a difference of at least this size, given
/// the standard error of the difference. If the standard error is 0, the probability is 0 for any
/// difference, and 1 for none.
double p_of(double difference, double error, std::size_t freedom) {
  if (error > 0) return student_tail(std::abs(difference) / error, freedom);
  return difference == 0 ? 1 : 0;
}

/// Performs Welch's test on the means of two samples' logarithms.
double welch(std::span<const double> a, std::span<const double> b) {
  double difference = 0, variance = 0, by_freedom = 0;
  for (const auto& [values, sign] : {std::pair(a, -1.), std::pair(b, 1.)}) {
    std::vector<double> logarithms(values.size());
    std::ranges::transform(values, logarithms.begin(),
                           [](double value) { return std::log(value); });
    const Summary of = moments(logarithms);
    const double own = of.deviation * of.deviation / static_cast<double>(values.size());
    difference += sign * of.mean;
    variance += own;
    by_freedom += own * own / static_cast<double>(values.size() - 1);
  }
  const double freedom = by_freedom > 0 ? variance * variance / by_freedom : 1;
  return p_of(difference, std::sqrt(variance),
              std::max<std::size_t>(static_cast<std::size_t>(freedom), 1));
}

Change judge(double ratio, const Interval& interval, double tolerance) {
  const double most = 1 + tolerance;
  const double least = 1 / most;
  if (interval.low >= least && interval.high <= most) return Change::same;
  if (interval.high < 1 && ratio < least) return Change::better;
  if (interval.low > 1 && ratio > most) return Change::worse;
  return Change::cannot_tell;
}

}  // namespace

double quantile(std::span<const double> values, double share) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

Summary summarise(std::span<const double> values, std::uint64_t seed) {
  Summary summary = moments(values);
  summary.median = quantile(values, 0.5);
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  summary.least = *least;
  summary.greatest = *greatest;
  const double lower = quantile(values, 0.25);
  const double upper = quantile(values, 0.75);
  const double reach = kFence * (upper - lower);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] < lower - reach || values[i] > upper + reach) summary.outliers.push_back(i);
  if (values.size() < kFewest) return summary;

  std::mt19937_64 random(seed);
  std::vector<double> means(kResamples);
  for (double& mean : means) mean = drawn_mean(values, random);
  summary.mean_interval = middle(std::move(means), summary.mean, stretch_for(values.size()));
  return summary;
}

Comparison compare(std::span<const double> baseline, std::span<const double> now, double tolerance,
                   std::uint64_t seed) {
  Comparison comparison;
  if (baseline.empty() || now.empty()) return comparison;
  comparison.ratio = mean_of(now) / mean_of(baseline);
  if (baseline.size() < kFewest || now.size() < kFewest) return comparison;
  std::mt19937_64 random(seed);
  std::vector<double> logarithms(kResamples);
  for (double& logarithm : logarithms)
    logarithm = std::log(drawn_mean(now, random) / drawn_mean(baseline, random));
  const Interval interval = middle(std::move(logarithms), std::log(comparison.ratio),
                                   stretch_for(std::min(baseline.size(), now.size())));
  comparison.interval = Interval{std::exp(interval.low), std::exp(interval.high)};
  comparison.p = welch(baseline, now);
  comparison.change = judge(comparison.ratio, *comparison.interval, tolerance);
  return comparison;
}

Comparison compare_pairs(std::span<const double> baseline, std::span<const double> now,
                         double tolerance, std::uint64_t seed) {
  Comparison comparison;
  const std::size_t pairs = std::min(baseline.size(), now.size());
  if (pairs == 0) return comparison;
  std::vector<double> logarithms(pairs);
  for (std::size_t i = 0; i < pairs; ++i) logarithms[i] = std::log(now[i] / baseline[i]);
  const Summary summary = summarise(logarithms, seed);
  comparison.ratio = std::exp(summary.mean);
  if (!summary.mean_interval) return comparison;
  comparison.interval =
      Interval{std::exp(summary.mean_interval->low), std::exp(summary.mean_interval->high)};
  comparison.p =
      p_of(summary.mean, summary.deviation / std::sqrt(static_cast<double>(pairs)), pairs - 1);
  comparison.change = judge(comparison.ratio, *comparison.interval, tolerance);
  return comparison;
}

double student_tail(double t, std::size_t freedom) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(freedom)));
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const bool odd = freedom % 2 == 1;
  double term = odd ? cosine : 1, sum = freedom == 1 ? 0 : term;
  for (std::size_t i = odd ? 3 : 2; i < freedom; i += 2) {
    term *= cosine * cosine * static_cast<double>(i - 1) / static_cast<double>(i);
    sum += term;
  }
  const double inside = odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
  return std::clamp(1 - inside, 0., 1.);
}

void correct_for_number(std::span<Comparison* const> family) {
  std::vector<Comparison*> tested;
  for (Comparison* const comparison : family)
    if (comparison->p) tested.push_back(comparison);
  std::ranges::stable_sort(tested, {}, [](const Comparison* comparison) { return *comparison->p; });
  bool rejected = true;
  for (std::size_t k = 0; k < tested.size(); ++k) {
    rejected =
        rejected && *tested[k]->p <= (1 - kConfidence) / static_cast<double>(tested.size() - k);
    Change& change = tested[k]->change;
    if (!rejected && change != Change::same) change = Change::cannot_tell;
  }
}

std::vector<PairComparison> compare_all_pairs(
    std::size_t count, const std::function<Comparison(std::size_t, std::size_t)>& compare) {
  std::vector<PairComparison> pairs;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j) pairs.push_back({i, j, compare(i, j)});
  std::vector<Comparison*> family;
  family.reserve(pairs.size());
  for (PairComparison& pair : pairs) family.push_back(&pair.comparison);
  correct_for_number(family);
  return pairs;
}

std::size_t repetitions_needed(std::span<const double> values, double relative, std::size_t most) {
  if (values.size() < kFewest) return std::min(kFewest, most);
  const Summary summary = summarise(values);
  const double half = (summary.mean_interval->high - summary.mean_interval->low) / 2;
  const double wanted = relative * std::abs(summary.mean);
  if (half <= wanted || half == 0) return values.size();
  // The width of the interval depends on the number of values n through three factors: the standard
  // error, which is proportional to 1 / sqrt(n); stretch_for(n), which decreases with n; and
  // sqrt((n - 1) / n), by which the spread of the resamples is too small.
  const auto shape = [](std::size_t count) {
    const auto n = static_cast<double>(count);
    return stretch_for(count) * std::sqrt(n - 1) / n;
  };
  std::size_t needed = values.size();
  while (needed < most && half * shape(needed) / shape(values.size()) > wanted) ++needed;
  return needed;
}

}  // namespace headcrash::statistics
