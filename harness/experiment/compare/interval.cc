// Means, intervals, comparisons (interval.h).
#include "harness/experiment/compare/interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headcrash::experiment::compare {
namespace {

/// Three digits.
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

std::string told(const Sample& sample) {
  if (sample.empty()) return "-";
  const auto summary = statistics::summarise(sample);
  std::string text = number(summary.mean);
  if (!summary.mean_interval) return text;
  const double half = (summary.mean_interval->high - summary.mean_interval->low) / 2;
  return half <= .005 * std::abs(summary.mean) ? text : text + " ±" + number(half);
}

void add_sample(ClaimAnswer& answer, std::string cell, std::string quantity, std::string unit,
                const Sample& sample, const std::string& error) {
  ClaimNumber added{.cell = std::move(cell), .quantity = std::move(quantity), .unit = std::move(unit)};
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

bool beats(const Sample& a, const Sample& b) {
  if (!have_ratios(a, b)) return false;
  return statistics::compare_pairs(b, a, kTolerance).change == statistics::Change::better;
}

std::vector<std::size_t> best_of(const std::vector<const Sample*>& samples) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (!samples[i]->empty()) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return *mean_of(*samples[i]); });
  std::vector<std::size_t> best;
  for (const std::size_t i : order)
    if (best.empty() || !beats(*samples[best.front()], *samples[i])) best.push_back(i);
  return best;
}

}  // namespace headcrash::experiment::compare
