#pragma once
// gnuplot's SVG made fit to stand inside a page.

#include <string>

namespace headcrash::report {

/// Without ids, scripts and background (several plots share one page), colours as the page's CSS
/// variables, text and axes in the page's own colour, marks as one path per series. `label` is what
/// a screen reader says.
std::string inline_svg(const std::string& gnuplot_svg, const std::string& label);

}  // namespace headcrash::report
