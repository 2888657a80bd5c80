#include "plugin/replay/response_times.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "plugin/base/invariant.h"

namespace headcrash::replay {
namespace {

constexpr unsigned kFineBits = 11;  ///< 2048 buckets per power of two
constexpr unsigned kTimeBits = 63;
constexpr std::size_t kBuckets = (kTimeBits - kFineBits + 1) << kFineBits;

}  // namespace

ResponseTimes::ResponseTimes() : buckets_(kBuckets) {}

std::size_t ResponseTimes::bucket_of(std::uint64_t ns) {
  const auto width = static_cast<unsigned>(std::bit_width(ns));
  const unsigned shift = width > kFineBits + 1 ? width - kFineBits - 1 : 0;
  return (std::size_t{shift} << kFineBits) + static_cast<std::size_t>(ns >> shift);
}

double ResponseTimes::middle_ns(std::size_t bucket) {
  const std::size_t power = bucket >> kFineBits;
  if (power <= 1) return static_cast<double>(bucket);
  const auto shift = static_cast<unsigned>(power - 1);
  const std::uint64_t first = (bucket - (std::size_t{shift} << kFineBits)) << shift;
  return static_cast<double>(first) + static_cast<double>((std::uint64_t{1} << shift) - 1) / 2;
}

void ResponseTimes::add(model::TimeNs ns) {
  ++buckets_[bucket_of(static_cast<std::uint64_t>(ns))];
  ++count_;
  sum_ns_ += static_cast<double>(ns);
  max_ns_ = std::max(max_ns_, ns);
}

double ResponseTimes::quantile_ns(double quantile) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(quantile * static_cast<double>(count_));
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    below += buckets_[i];
    if (below >= rank) return std::min(middle_ns(i), static_cast<double>(max_ns_));
  }
  return static_cast<double>(max_ns_);
}

double ResponseTimes::horizontal_distance_ns(const ResponseTimes& a, const ResponseTimes& b) {
  invariant(a.count_ == b.count_, "the compared distributions must have equal counts");
  if (a.count_ == 0) return 0;
  // Traverses both distributions in rank order. Each step ends where the current bucket of either
  // distribution ends.
  std::size_t i = 0, k = 0;
  std::uint64_t left_a = a.buckets_[0], left_b = b.buckets_[0];
  double sum = 0;
  for (std::uint64_t done = 0; done < a.count_;) {
    while (left_a == 0) left_a = a.buckets_[++i];
    while (left_b == 0) left_b = b.buckets_[++k];
    const std::uint64_t step = std::min(left_a, left_b);
    const double distance = middle_ns(i) - middle_ns(k);
    sum += distance * distance * static_cast<double>(step);
    left_a -= step;
    left_b -= step;
    done += step;
  }
  return std::sqrt(sum / static_cast<double>(a.count_));
}

}  // namespace headcrash::replay
