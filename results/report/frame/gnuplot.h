#pragma once
// Runs gnuplot as a child process: a script in, SVG out, with limits on time and size.

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

/// Returns the script's standard output. Fails if gnuplot is missing, fails (the error contains its
/// first error text), takes too long, or writes too much.
Result<std::string> run_gnuplot(const std::string& script, const GnuplotLimits& limits = {});

}  // namespace headcrash::report
