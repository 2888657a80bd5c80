// Calculates means, intervals and comparisons (interval.h).
#include "harness/papers/comparison/interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>

namespace headcrash::experiment::compare {
namespace {

/// Formats a number with three significant digits.
std::string number(double value) {
  const double size = std::abs(value);
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

}  // namespace

Figure mean_of(const Sample& sample) {
  if (sample.empty()) return std::nullopt;
  return std::accumulate(sample.begin(), sample.end(), 0.) / static_cast<double>(sample.size());
}

std::string text_of(const Sample& sample) {
  if (sample.empty()) return "-";
  const auto summary = statistics::summarise(sample);
  std::string text = number(summary.mean);
  if (!summary.mean_interval) return text;
  const double half = (summary.mean_interval->high - summary.mean_interval->low) / 2;
  return half <= .005 * std::abs(summary.mean) ? text : text + " ±" + number(half);
}

void add_sample(ClaimAnswer& answer, std::string cell, std::string quantity, std::string unit,
                const Sample& sample, const std::string& error) {
  ClaimNumber added{
      .cell = std::move(cell), .quantity = std::move(quantity), .unit = std::move(unit)};
  if (sample.empty()) {
    added.remark = error.empty() ? "not run" : error;
  } else {
    const auto summary = statistics::summarise(sample);
    added.ours = summary.mean;
    if (summary.mean_interval) {
      added.low = summary.mean_interval->low;
      added.high = summary.mean_interval->high;
    }
  }
  answer.numbers.push_back(std::move(added));
}

bool have_ratios(const Sample& a, const Sample& b) {
  const auto positive = [](double value) { return value > 0; };
  return !a.empty() && a.size() == b.size() && std::ranges::all_of(a, positive) &&
         std::ranges::all_of(b, positive);
}

Ranking::Ranking(const std::vector<const Sample*>& samples)
    : count_(samples.size()), beats_(count_ * count_, false) {
  using statistics::Change;
  const auto compare = [&](std::size_t i, std::size_t j) {
    return have_ratios(*samples[i], *samples[j])
               ? statistics::compare_pairs(*samples[i], *samples[j], kTolerance)
               : statistics::Comparison{};
  };
  for (const auto& [i, j, comparison] : statistics::compare_all_pairs(count_, compare)) {
    if (comparison.change == Change::worse) beats_[i * count_ + j] = true;
    if (comparison.change == Change::better) beats_[j * count_ + i] = true;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    const auto is_faster = [&](std::size_t other) { return beats(other, i); };
    if (!samples[i]->empty() &&
        std::ranges::none_of(std::views::iota(std::size_t{0}, count_), is_faster))
      unbeaten_.push_back(i);
  }
  std::ranges::stable_sort(unbeaten_, {}, [&](std::size_t i) { return *mean_of(*samples[i]); });
}

}  // namespace headcrash::experiment::compare
