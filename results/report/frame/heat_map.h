#pragma once
// A table of shaded cells, with a row for each workload and a column for each file system. On a
// narrow screen, each row becomes a line of labelled cells.

#include <string>
#include <string_view>
#include <vector>

namespace headcrash::report {

struct HeatCell {
  std::string html;  ///< empty if not measured
  /// CSS classes, separated by blanks, such as "h3 best" (see shade()) or "hbad".
  std::string css_class;
  std::string hint = {};  ///< text of the tooltip
};
struct HeatRow {
  std::string name;  ///< HTML
  /// Name of the group (not HTML) in the first row of a group; empty in other rows.
  std::string group = {};
  std::string hint = {};  ///< text of the name's tooltip
  std::vector<HeatCell> cells;
};
struct HeatColumn {
  std::string name, html;  ///< the name as text, and as HTML for the header
};

std::string heat_map(const std::string& corner, const std::vector<HeatColumn>& columns,
                     const std::vector<HeatRow>& rows);

/// Returns the shade for a multiple of the best time. The multiple is at least 1.
std::string_view shade(double times_the_best);
/// Returns the legend of the shades.
std::string shade_scale();

}  // namespace headcrash::report
