#pragma once
// The whole page from its parts.

#include <string>
#include <string_view>

#include "results/report/facts.h"

namespace headcrash::report {

/// Errors: gnuplot's.
Result<std::string> page(const Facts& facts);

/// `content` (HTML) between head and foot, with style and palette, and a page's own style after them. The page forbids
/// browsers to load anything, whatever the content says.
std::string whole_page(const std::string& title, const std::string& content, std::string_view style = {});

}  // namespace headcrash::report
