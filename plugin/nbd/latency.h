#pragma once
// Log-linear histograms of times: 64 equal buckets in every octave, so that a bucket is at most 1/64 of its
// value wide (1.6 %) from nanoseconds to centuries, in a fixed 30 KiB without allocation on the way of a
// request.

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "plugin/model/simulation.h"

namespace headcrash::nbd {

struct LatencySummary {
  std::uint64_t count = 0;
  double mean_ns = 0;
  model::TimeNs p50_ns = 0;
  model::TimeNs p99_ns = 0;
  model::TimeNs max_ns = 0;
  std::vector<std::pair<model::TimeNs, std::uint64_t>>
      buckets;  ///< inclusive upper bound, count; only filled ones
};

class LatencyHistogram {
 public:
  void record(model::TimeNs value);  ///< below 0 counts as 0
  LatencySummary summary() const;
  void clear() { *this = LatencyHistogram(); }

 private:
  static constexpr unsigned kBits = 6;
  static constexpr std::size_t kBuckets = (63 - kBits + 1) << kBits;
  static std::size_t bucket_of(std::uint64_t value);
  static std::uint64_t upper_bound(std::size_t bucket);
  model::TimeNs quantile(double share) const;

  std::array<std::uint64_t, kBuckets> counts_ = {};
  std::uint64_t count_ = 0;
  double sum_ = 0;
  std::uint64_t max_ = 0;
};

/// Of one device, over reads and writes that succeeded, in model nanoseconds.
struct DeviceLatency {
  LatencyHistogram target;    ///< the modelled response time
  LatencyHistogram achieved;  ///< wall time from the callback's entry to its return, divided by K
  LatencyHistogram lateness;  ///< wall time from the modelled instant to the return, divided by K
};

}  // namespace headcrash::nbd
