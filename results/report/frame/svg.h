#pragma once
// Converts gnuplot's SVG, so that it can be included in a page.

#include <string>

namespace headcrash::report {

/// Converts gnuplot's SVG for use in a page with several plots. Removes IDs, scripts and the
/// background. Replaces colours with the page's CSS variables, uses the page's text colour for text
/// and axes, and joins each series to one path. `label` is the text for screen readers.
std::string inline_svg(const std::string& gnuplot_svg, const std::string& label);

}  // namespace headcrash::report
