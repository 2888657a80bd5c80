// Computes bucket numbers and bounds (latency_histogram.h). A value below 2^7 has its own bucket;
// for larger values, the seven leading bits select the bucket.
#include "plugin/base/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headcrash {

std::size_t LatencyHistogram::bucket_of(std::uint64_t value) {
  const unsigned width = static_cast<unsigned>(std::bit_width(value));
  if (width <= kBits) return value;
  const unsigned shift = width - kBits - 1;
  return (std::size_t{shift} << kBits) + (value >> shift);
}

std::uint64_t LatencyHistogram::upper_bound(std::size_t bucket) {
  if (bucket < (std::size_t{1} << kBits)) return bucket;
  const std::size_t shift = (bucket >> kBits) - 1;
  const std::uint64_t leading = (bucket & ((1U << kBits) - 1)) + (1U << kBits);
  return ((leading + 1) << shift) - 1;
}

void LatencyHistogram::record(std::int64_t ns) {
  const auto positive = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
  ++counts_[bucket_of(positive)];
  ++count_;
  sum_ns_ += static_cast<double>(positive);
  max_ns_ = std::max(max_ns_, positive);
}

void LatencyHistogram::add(const LatencyHistogram& others) {
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += others.counts_[i];
  count_ += others.count_;
  sum_ns_ += others.sum_ns_;
  max_ns_ = std::max(max_ns_, others.max_ns_);
}

std::int64_t LatencyHistogram::quantile_ns(double share) const {
  const auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    seen += counts_[bucket];
    if (seen >= rank && seen > 0)
      return static_cast<std::int64_t>(std::min(upper_bound(bucket), max_ns_));
  }
  return 0;
}

LatencySummary LatencyHistogram::summary() const {
  LatencySummary summary;
  summary.count = count_;
  if (count_ == 0) return summary;
  summary.mean_ns = sum_ns_ / static_cast<double>(count_);
  summary.p50_ns = quantile_ns(0.50);
  summary.p99_ns = quantile_ns(0.99);
  summary.max_ns = static_cast<std::int64_t>(max_ns_);
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket)
    if (counts_[bucket] != 0)
      summary.buckets.emplace_back(static_cast<std::int64_t>(upper_bound(bucket)), counts_[bucket]);
  return summary;
}

}  // namespace headcrash
