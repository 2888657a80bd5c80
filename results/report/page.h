#pragma once
// The whole page from its parts.

#include <string>

#include "results/report/facts.h"

namespace headcrash::report {

/// Errors: gnuplot's.
Result<std::string> page(const Facts& facts);

}  // namespace headcrash::report
