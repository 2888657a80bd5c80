#pragma once
// A stopwatch for wall time.

#include <chrono>

namespace headcrash::base {

class Stopwatch {
 public:
  /// Returns the time since construction or the last lap().
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }
  /// Returns ms() and restarts.
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
