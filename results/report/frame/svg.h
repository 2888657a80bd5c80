#pragma once
// Converts gnuplot's SVG, so that it can be included in a page.

#include <string>

namespace headcrash::report {

/// Removes IDs, scripts and the background, because several plots share a page. Replaces colours
/// with the page's CSS variables, draws text and axes in the page's text colour, and joins each
/// series to one path. `label` is the text for screen readers.
std::string inline_svg(const std::string& gnuplot_svg, const std::string& label);

}  // namespace headcrash::report
