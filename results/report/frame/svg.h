#pragma once
// Conversion of gnuplot's SVG for inclusion in a page.

#include <string>

namespace headcrash::report {

/// Removes ids, scripts and background, since several plots share one page. Colours become the
/// page's CSS variables, text and axes take the page's own colour, and each series becomes one
/// path. `label` is the text for screen readers.
std::string inline_svg(const std::string& gnuplot_svg, const std::string& label);

}  // namespace headcrash::report
