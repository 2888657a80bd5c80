#pragma once
// Draws the page's SVG plots. A plot is made from its data and a template in this directory.

#include <string>
#include <string_view>
#include <vector>

#include "results/report/campaign/facts.h"

namespace headcrash::report {

struct Drawing {
  int height = 0;
  std::string settings;  ///< assignments that the template needs, including data blocks
  std::string_view plot_template;
  std::string spoken;  ///< text for screen readers
};

/// Draws one plot.
Result<std::string> draw(const Drawing& drawing);
/// Draws all plots, in order, with a single gnuplot process, because starting gnuplot takes longer
/// than drawing a plot.
Result<std::vector<std::string>> draw_all(const std::vector<Drawing>& drawings);

std::string_view plot_colour(const std::string& filesystem);
/// Dash styles that distinguish lines of the same hue. A file system has a solid line; its modes
/// have different dashed lines.
class Dashes {
 public:
  /// Assigns a dash style to each name. The styles depend only on the names and their order.
  explicit Dashes(const std::vector<std::string>& names);
  /// Returns gnuplot's dash type, as defined by the templates: 1, or 11 to 13.
  int of(const std::string& name) const;
  /// Returns an HTML legend: each name, preceded by a sample of its line.
  std::string legend() const;

 private:
  std::vector<std::pair<std::string, int>> all_;
};
/// Converts "#0072b2" to a number for gnuplot's
/// `rgb variable`.
unsigned rgb_number(std::string_view hex);
/// Number of characters that fit into the margin next to a narrow plot.
inline constexpr std::size_t kLabelCharacters = 28;
/// Converts text to a data field without separators, quotes, escapes or line ends. Text that is
/// longer than `most` is truncated and ends in an ellipsis.
std::string plot_label(const std::string& text, std::size_t most = kLabelCharacters);
/// Escapes a unit for an axis's number format, because gnuplot treats a percent sign as a
/// conversion.
std::string axis_unit(const std::string& unit);
std::size_t characters_in(const std::string& text);
/// Returns a gnuplot data block. `lines` must not be empty, because gnuplot has no empty blocks.
std::string data_block(const std::string& name, const std::string& lines);
/// Returns the smallest step that is 1, 2 or 5 times a power of ten and yields at most five ticks
/// from 0 to `largest`.
double tick_step(double largest);

}  // namespace headcrash::report
