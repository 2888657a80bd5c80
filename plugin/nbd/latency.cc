// Log-linear histograms (latency.h). A value below 2^7 is its own bucket; above, the seven leading bits
// choose it.
#include "plugin/nbd/latency.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headcrash::nbd {

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

void LatencyHistogram::record(model::TimeNs value) {
  const auto positive = static_cast<std::uint64_t>(std::max<model::TimeNs>(value, 0));
  ++counts_[bucket_of(positive)];
  ++count_;
  sum_ += static_cast<double>(positive);
  max_ = std::max(max_, positive);
}

model::TimeNs LatencyHistogram::quantile(double share) const {
  const auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    seen += counts_[bucket];
    if (seen >= rank && seen > 0) return static_cast<model::TimeNs>(std::min(upper_bound(bucket), max_));
  }
  return 0;
}

LatencySummary LatencyHistogram::summary() const {
  LatencySummary summary;
  summary.count = count_;
  if (count_ == 0) return summary;
  summary.mean_ns = sum_ / static_cast<double>(count_);
  summary.p50_ns = quantile(0.50);
  summary.p99_ns = quantile(0.99);
  summary.max_ns = static_cast<model::TimeNs>(max_);
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket)
    if (counts_[bucket] != 0)
      summary.buckets.emplace_back(static_cast<model::TimeNs>(upper_bound(bucket)), counts_[bucket]);
  return summary;
}

}  // namespace headcrash::nbd
