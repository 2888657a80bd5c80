#include "results/report/frame/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "results/report/frame/html.h"

namespace headcrash::report {
namespace {

struct Shade {
  double below;
  std::string_view css_class, words;
};
constexpr std::array<Shade, 6> kShades = {{{1.1, "h0", "to 1.1"},
                                           {1.5, "h1", "1.5"},
                                           {2, "h2", "2"},
                                           {3, "h3", "3"},
                                           {5, "h4", "5"},
                                           {1e300, "h5", "more"}}};

// Maximum number of columns of normal width. If there are more columns, all of them are narrower.
constexpr std::size_t kWideColumnsMost = 8;

std::string hint_of(const std::string& hint) {
  return hint.empty() ? std::string{} : " title=\"" + escape(hint) + "\"";
}

}  // namespace

std::string heat_map(const std::string& corner, const std::vector<HeatColumn>& columns,
                     const std::vector<HeatRow>& rows) {
  std::string out = fmt::format("<table class=\"heat{}\">\n<thead><tr><th>{}</th>",
                                columns.size() > kWideColumnsMost ? " many" : "", escape(corner));
  for (const HeatColumn& column : columns)
    out += fmt::format("<th scope=\"col\">{}</th>", column.html);
  out += "</tr></thead>\n<tbody>\n";
  const std::string* group = nullptr;
  for (const HeatRow& row : rows) {
    if (!row.group.empty() && (group == nullptr || *group != row.group))
      out += fmt::format("<tr><th scope=\"colgroup\" class=\"group\" colspan=\"{}\">{}</th></tr>\n",
                         columns.size() + 1, escape(row.group));
    group = &row.group;
    out += fmt::format("<tr><th scope=\"row\"{}>{}</th>", hint_of(row.hint), row.name);
    for (std::size_t i = 0; i < row.cells.size() && i < columns.size(); ++i) {
      const HeatCell& cell = row.cells[i];
      out += fmt::format("<td class=\"{}\" data-label=\"{}\"{}>{}</td>",
                         cell.html.empty() ? "hnone" : cell.css_class, escape(columns[i].name),
                         hint_of(cell.hint), cell.html);
    }
    out += "</tr>\n";
  }
  return "<div class=\"scroll\">" + out + "</tbody></table></div>\n";
}

std::string_view shade(double times_the_best) {
  return std::ranges::find_if(kShades,
                              [&](const Shade& each) { return times_the_best < each.below; })
      ->css_class;
}

std::string shade_scale() {
  std::string out = "<span class=\"scale\">";
  for (const Shade& each : kShades)
    out += fmt::format("<i class=\"{}\">{}</i>", each.css_class, each.words);
  return out + "</span>";
}

}  // namespace headcrash::report
