#pragma once
// A distribution of times in constant memory. The width of a bucket is at most 1/2048 of its value.
//
//   0 1 2 ... 4095 | 4096 4098 ... 8190 | 8192 8196 ... | ...   lower bounds of buckets in ns
//
// Percentiles and the demerit are therefore accurate to 0.05 %.

#include <array>
#include <cstdint>
#include <vector>

#include "plugin/model/core/simulation.h"

namespace headcrash::replay {

class ResponseTimes {
 public:
  ResponseTimes();
  void add(model::TimeNs ns);  ///< REQUIRES: ns >= 0

  std::uint64_t count() const { return count_; }
  double mean_ns() const { return count_ == 0 ? 0 : sum_ns_ / static_cast<double>(count_); }
  model::TimeNs max_ns() const { return max_ns_; }
  /// Returns the smallest time t such that at least the fraction `quantile` of the times are t or
  /// less. Returns 0 if empty.
  double quantile_ns(double quantile) const;

  /// Returns the demerit figure of Ruemmler and Wilkes (IEEE Computer, March 1994): the root mean
  /// square of the horizontal distance between two distributions, in ns. REQUIRES: a.count() ==
  /// b.count().
  static double horizontal_distance_ns(const ResponseTimes& a, const ResponseTimes& b);

 private:
  static std::size_t bucket_of(std::uint64_t ns);
  static double middle_ns(std::size_t bucket);

  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  double sum_ns_ = 0;
  model::TimeNs max_ns_ = 0;
};

}  // namespace headcrash::replay
