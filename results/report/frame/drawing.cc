// Generates gnuplot scripts (drawing.h). One process draws several plots. Each script ends with
// `reset session`, which also completes the SVG document. The documents are separated at their
// closing tags.
#include "results/report/frame/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "results/report/frame/embedded_text.h"
#include "results/report/frame/gnuplot.h"
#include "results/report/frame/html.h"
#include "results/report/frame/palette.h"
#include "results/report/frame/svg.h"

namespace headcrash::report {
namespace {

constexpr int kWidth = 400;  // close to the width of a plot on a phone
/// Maximum number of plots for one gnuplot process. It keeps the output of a process within the
/// limit, and most pages still need only one process.
constexpr std::size_t kPlotsAtOnce = 40;
constexpr std::string_view kEnd = "</svg>";
constexpr int kFirstDash = 11, kDashKinds = 3;  // common.gp

std::string script_of(const Drawing& drawing) {
  std::string script =
      fmt::format("width = {}\nheight = {}\n{}", kWidth, drawing.height, drawing.settings);
  script += embedded_text("common.gp");
  script += embedded_text(drawing.plot_template);
  return script + "reset session\n";
}

}  // namespace

Result<std::vector<std::string>> draw_all(const std::vector<Drawing>& drawings) {
  std::vector<std::string> drawn;
  for (std::size_t first = 0; first < drawings.size(); first += kPlotsAtOnce) {
    const std::size_t end = std::min(first + kPlotsAtOnce, drawings.size());
    std::string script;
    for (std::size_t i = first; i < end; ++i) script += script_of(drawings[i]);
    TRY(const auto documents, run_gnuplot(script));
    std::size_t from = 0;
    for (std::size_t i = first; i < end; ++i) {
      const std::size_t close = documents.find(kEnd, from);
      if (close == std::string::npos) return fail("gnuplot", "drew fewer plots than requested");
      drawn.push_back(
          inline_svg(documents.substr(from, close + kEnd.size() - from), drawings[i].spoken));
      from = close + kEnd.size();
    }
  }
  return drawn;
}

Result<std::string> draw(const Drawing& drawing) {
  TRY(auto drawn, draw_all({drawing}));
  return std::move(drawn.front());
}

std::string_view plot_colour(const std::string& filesystem) {
  return kFilesystemColours.at(filesystem_colour(filesystem)).light;
}

Dashes::Dashes(const std::vector<std::string>& names) {
  std::map<std::size_t, int> modes;  // by hue
  for (const std::string& name : names) {
    if (std::ranges::find(all_, name, &std::pair<std::string, int>::first) != all_.end()) continue;
    all_.emplace_back(
        name, is_mode(name) ? kFirstDash + modes[filesystem_colour(name)]++ % kDashKinds : 1);
  }
}

int Dashes::of(const std::string& name) const {
  const auto at = std::ranges::find(all_, name, &std::pair<std::string, int>::first);
  return at == all_.end() ? 1 : at->second;
}

std::string Dashes::legend() const {
  static constexpr std::array<const char*, kDashKinds> kStrokes = {"5 3", "2 2", "8 2 2 2"};
  std::string out = "<p class=\"legend\">";
  for (const auto& [name, dash] : all_) {
    const std::string stroke =
        dash == 1 ? ""
                  : fmt::format(" stroke-dasharray=\"{}\"",
                                kStrokes.at(static_cast<std::size_t>(dash - kFirstDash)));
    out += fmt::format(
        "<span class=\"fs\"><svg viewBox=\"0 0 26 8\" width=\"26\" height=\"8\" aria-hidden=\"true\"><path "
        "class=\"c{}\" d=\"M0 4h26\" stroke-width=\"2.5\"{}/></svg> {}</span> ",
        filesystem_colour(name), stroke, escape(name));
  }
  return out + "</p>\n";
}

unsigned rgb_number(std::string_view hex) {
  unsigned value = 0;
  std::from_chars(hex.data() + 1, hex.data() + hex.size(), value, 16);
  return value;
}

std::string plot_label(const std::string& text, std::size_t most) {
  std::string out;
  std::size_t characters = 0;
  for (const char c : valid_utf8(text)) {
    const bool starts_character = (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    if (starts_character && ++characters > most) return out + "\xe2\x80\xa6";
    out += c == '\t' || c == '\n' || c == '"' || c == '\\' || c == '\'' ? ' ' : c;
  }
  return out;
}

std::string axis_unit(const std::string& unit) {
  std::string out;
  for (const char c : plot_label(unit)) out += c == '%' ? "%%" : std::string(1, c);
  return out;
}

std::size_t characters_in(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string data_block(const std::string& name, const std::string& lines) {
  return fmt::format("${} << END_OF_DATA\n{}END_OF_DATA\n", name, lines);
}

double tick_step(double largest) {
  if (largest <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(largest / 5)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (largest <= 5 * factor * power) return factor * power;
  }
  return 10 * power;
}

}  // namespace headcrash::report
