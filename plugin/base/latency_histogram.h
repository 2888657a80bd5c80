#pragma once
// Log-linear histograms of times, with 64 equal buckets per octave, from nanoseconds to centuries.
// The width of a bucket is at most 1/64 (1.6 %) of its value. A histogram takes a fixed 30 KiB, and
// record() does not allocate. The plugin keeps one histogram per device, the guest agent one per
// user of a workload.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace headcrash {

struct LatencySummary {
  std::uint64_t count = 0;
  double mean_ns = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
  /// Inclusive upper bound and count of each nonempty bucket, in ascending order.
  std::vector<std::pair<std::int64_t, std::uint64_t>> buckets;
};

class LatencyHistogram {
 public:
  void record(std::int64_t ns);  ///< negative values count as 0
  void add(const LatencyHistogram& others);
  void clear() { *this = LatencyHistogram(); }

  std::uint64_t count() const { return count_; }
  LatencySummary summary() const;
  /// Returns the smallest bucket bound that the given share (0 to 1) of the values does not exceed.
  /// Returns 0 if there are no values.
  std::int64_t quantile_ns(double share) const;

 private:
  static constexpr unsigned kBits = 6;
  static constexpr std::size_t kBuckets = (63 - kBits + 1) << kBits;
  static std::size_t bucket_of(std::uint64_t value);
  static std::uint64_t upper_bound(std::size_t bucket);

  std::array<std::uint64_t, kBuckets> counts_ = {};
  std::uint64_t count_ = 0;
  double sum_ns_ = 0;
  std::uint64_t max_ns_ = 0;
};

}  // namespace headcrash
