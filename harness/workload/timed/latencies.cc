// Buckets (latencies.h): below 64 ns one each; above, the five bits after the leading one choose it.
#include "harness/workload/timed/latencies.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headcrash::timed {

std::size_t Latencies::bucket_of(std::uint64_t ns) {
  constexpr std::uint64_t kParts = 1U << kFractionBits;
  if (ns < kParts) return ns;
  const auto octave = static_cast<unsigned>(std::bit_width(ns)) - 1 - kFractionBits;
  return (static_cast<std::size_t>(octave) << kFractionBits) + (ns >> octave);
}

std::int64_t Latencies::upper_ns(std::size_t bucket) {
  constexpr std::size_t kParts = 1U << kFractionBits;
  if (bucket < 2 * kParts) return static_cast<std::int64_t>(bucket);
  const std::size_t octave = (bucket >> kFractionBits) - 1;
  const std::uint64_t leading = kParts + (bucket & (kParts - 1));
  return static_cast<std::int64_t>(((leading + 1) << octave) - 1);
}

void Latencies::record(std::int64_t ns) {
  ns = std::max<std::int64_t>(ns, 0);
  ++counts_[bucket_of(static_cast<std::uint64_t>(ns))];
  ++count_;
  sum_ns_ += static_cast<double>(ns);
  max_ns_ = std::max(max_ns_, ns);
}

void Latencies::add(const Latencies& others) {
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += others.counts_[i];
  count_ += others.count_;
  sum_ns_ += others.sum_ns_;
  max_ns_ = std::max(max_ns_, others.max_ns_);
}

std::int64_t Latencies::mean_ns() const {
  return count_ == 0 ? 0 : std::llround(sum_ns_ / static_cast<double>(count_));
}

std::int64_t Latencies::quantile_ns(double share) const {
  const double wanted = std::max(1.0, std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets && count_ > 0; ++i) {
    seen += counts_[i];
    if (static_cast<double>(seen) >= wanted) return std::min(upper_ns(i), max_ns_);
  }
  return max_ns_;
}

std::vector<std::pair<std::int64_t, std::uint64_t>> Latencies::buckets() const {
  std::vector<std::pair<std::int64_t, std::uint64_t>> filled;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (counts_[i] > 0) filled.emplace_back(upper_ns(i), counts_[i]);
  }
  return filled;
}

}  // namespace headcrash::timed
