#pragma once
// How long single operations took, in bounded memory: a histogram whose buckets are 1/32 of an octave wide,
// so that a quantile is off by 3 % at most however many operations there were.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace headcrash::timed {

class Latencies {
 public:
  /// Below 0 counts as 0.
  void record(std::int64_t ns);
  void add(const Latencies& others);

  std::uint64_t count() const { return count_; }
  std::int64_t max_ns() const { return max_ns_; }
  std::int64_t mean_ns() const;  ///< 0 without any
  /// The smallest bucket's upper bound below or at which so many are; `share` from 0 to 1.
  std::int64_t quantile_ns(double share) const;
  /// Upper bound (included) and count of every bucket that holds something, in order.
  std::vector<std::pair<std::int64_t, std::uint64_t>> buckets() const;

 private:
  static constexpr unsigned kFractionBits = 5;
  static constexpr std::size_t kBuckets = (64 - kFractionBits) << kFractionBits;
  static std::size_t bucket_of(std::uint64_t ns);
  static std::int64_t upper_ns(std::size_t bucket);

  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t count_ = 0;
  double sum_ns_ = 0;
  std::int64_t max_ns_ = 0;
};

}  // namespace headcrash::timed
