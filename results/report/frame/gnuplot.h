#pragma once
// gnuplot as a child process: a script in, SVG out, within a time limit and a size limit.

#include <chrono>
#include <cstddef>
#include <string>

#include "plugin/base/result.h"

namespace headcrash::report {

struct GnuplotLimits {
  std::chrono::milliseconds time{20'000};
  std::size_t output_bytes = 16U << 20;
  std::string program = "gnuplot";  ///< looked up in PATH
};

/// What the script writes to its standard output. Errors: gnuplot is missing, fails (with its first
/// words), takes too long, or writes too much.
Result<std::string> run_gnuplot(const std::string& script, const GnuplotLimits& limits = {});

}  // namespace headcrash::report
