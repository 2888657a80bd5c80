#pragma once
// A table with shaded cells: one row per workload, one column per file system. On a narrow screen,
// each row becomes a line of labelled cells.

#include <string>
#include <string_view>
#include <vector>

namespace headcrash::report {

struct HeatCell {
  std::string html;  ///< empty if not measured
  /// Class names separated by blanks, such as "h0" to "h5" by shade(), "best" or "hbad".
  std::string css_class;
  std::string hint = {};  ///< text of the tooltip
};
struct HeatRow {
  std::string name;        ///< HTML
  std::string group = {};  ///< text; the group's rows follow below it
  std::string hint = {};   ///< text of the name's tooltip
  std::vector<HeatCell> cells;
};
struct HeatColumn {
  std::string name, html;  ///< text, and its form in the header
};

std::string heat_map(const std::string& corner, const std::vector<HeatColumn>& columns,
                     const std::vector<HeatRow>& rows);

/// Returns the shade for a time that is this multiple (1 or more) of the best time.
std::string_view shade(double times_the_best);
/// Returns a legend for the shades.
std::string shade_scale();

}  // namespace headcrash::report
