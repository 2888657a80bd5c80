#pragma once
// Wall time in milliseconds, the unit of every step's statistics.

#include <chrono>

namespace headcrash::base {

class Stopwatch {
 public:
  /// Since it was made, or since the last lap().
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }
  /// As ms(), and restarts.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> passed = now - start_;
    start_ = now;
    return passed.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace headcrash::base
