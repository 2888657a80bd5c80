#pragma once
// The whole page from its parts.

#include <string>

#include "results/report/facts.h"

namespace headcrash::report {

/// Errors: gnuplot's.
Result<std::string> page(const Facts& facts);

/// `content` (HTML) between head and foot, with style and palette.
std::string whole_page(const std::string& title, const std::string& content);

}  // namespace headcrash::report
