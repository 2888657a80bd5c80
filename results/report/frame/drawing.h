#pragma once
// From a template of this folder and its data to an SVG that can stand in the page.

#include <string>
#include <string_view>
#include <vector>

#include "results/report/campaign/facts.h"

namespace headcrash::report {

struct Drawing {
  int height = 0;
  std::string settings;  ///< what the template wants set before it, data blocks included
  std::string_view plot_template;
  std::string spoken;  ///< what a screen reader says
};

Result<std::string> draw(const Drawing& drawing);
/// In the same order, by one gnuplot: starting it takes longer than a plot.
Result<std::vector<std::string>> draw_all(const std::vector<Drawing>& drawings);

std::string_view plot_colour(const std::string& filesystem);
/// What tells lines of one hue apart: file systems are solid, their modes dashed, each of a hue in
/// its own way.
class Dashes {
 public:
  /// The same order of `names` gives the same dashes.
  explicit Dashes(const std::vector<std::string>& names);
  /// gnuplot's dash type, as the templates define them: 1, or 11 to 13.
  int of(const std::string& name) const;
  /// Names with a piece of their lines.
  std::string legend() const;

 private:
  std::vector<std::pair<std::string, int>> all_;
};
/// "#0072b2" as gnuplot's `rgb variable` wants it.
unsigned rgb_number(std::string_view hex);
inline constexpr std::size_t kLabelCharacters =
    28;  ///< what a margin beside narrow plots has room for
/// Text as a data field: no separators, quotes, escapes or line ends; what is longer than `most`
/// ends in an ellipsis.
std::string plot_label(const std::string& text, std::size_t most = kLabelCharacters);
/// A unit for the format of an axis's numbers, in which gnuplot takes a percent sign for a
/// conversion.
std::string axis_unit(const std::string& unit);
std::size_t characters_in(const std::string& text);
/// A gnuplot data block. `lines` must not be empty: gnuplot has no empty ones.
std::string data_block(const std::string& name, const std::string& lines);
/// The step of 1, 2 or 5 times a power of ten that puts at most five marks on an axis from 0 to
/// `largest`.
double tick_step(double largest);

}  // namespace headcrash::report
