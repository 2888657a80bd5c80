#pragma once
// Wall time since an instant, in the unit of every step's statistics.

#include <chrono>

namespace headcrash::lab {

inline double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace headcrash::lab
