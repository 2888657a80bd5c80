#pragma once
// A table whose cells are shaded by what they hold: a row a workload, a column a file system. On a
// narrow screen each row becomes a line of labelled cells.

#include <string>
#include <string_view>
#include <vector>

namespace headcrash::report {

struct HeatCell {
  std::string html;       ///< empty: nothing was measured
  std::string css_class;  ///< "h0" to "h5" by shade(), "best", "hbad", ...; several by blanks
  std::string hint = {};  ///< text of the tooltip
};
struct HeatRow {
  std::string name;        ///< HTML
  std::string group = {};  ///< text; rows of a group follow each other under it
  std::string hint = {};   ///< text of the name's tooltip
  std::vector<HeatCell> cells;
};
struct HeatColumn {
  std::string name, html;  ///< text, and how the head shows it
};

std::string heat_map(const std::string& corner, const std::vector<HeatColumn>& columns,
                     const std::vector<HeatRow>& rows);

/// The shade of a time as a multiple of the best one (1 and more).
std::string_view shade(double times_the_best);
/// The shades and what they mean, in words.
std::string shade_scale();

}  // namespace headcrash::report
