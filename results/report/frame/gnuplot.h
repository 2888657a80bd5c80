#pragma once
// Runs gnuplot as a child process with limits on time and size. Its input is a script, and its
// output is SVG.

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

/// Runs a script and returns its standard output. Fails if gnuplot is missing, takes too long,
/// writes too much or reports a failure. The error then contains the beginning of gnuplot's error
/// text.
Result<std::string> run_gnuplot(const std::string& script, const GnuplotLimits& limits = {});

}  // namespace headcrash::report
