// Scripts for gnuplot (drawing.h). Several plots go through one process: each ends with `reset session`,
// which also closes its document, and the documents are distinguished by their ends.
#include "results/report/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "results/report/embedded_text.h"
#include "results/report/gnuplot.h"
#include "results/report/html.h"
#include "results/report/palette.h"
#include "results/report/svg.h"

namespace headcrash::report {
namespace {

constexpr int kWidth = 460;
/// Plots of one process: its output stays within the limit, and a page without hundreds of them needs only
/// one.
constexpr std::size_t kPlotsAtOnce = 40;
constexpr std::string_view kEnd = "</svg>";

std::string script_of(const Drawing& drawing) {
  std::string script = fmt::format("width = {}\nheight = {}\n{}", kWidth, drawing.height, drawing.settings);
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
    const auto documents = run_gnuplot(script);
    if (!documents) return pass_on(documents);
    std::size_t from = 0;
    for (std::size_t i = first; i < end; ++i) {
      const std::size_t close = documents->find(kEnd, from);
      if (close == std::string::npos) return fail("gnuplot", "drew fewer plots than it was asked for");
      drawn.push_back(inline_svg(documents->substr(from, close + kEnd.size() - from), drawings[i].spoken));
      from = close + kEnd.size();
    }
  }
  return drawn;
}

Result<std::string> draw(const Drawing& drawing) {
  auto drawn = draw_all({drawing});
  if (!drawn) return pass_on(drawn);
  return std::move(drawn->front());
}

std::string_view plot_colour(const Facts& facts, const std::string& filesystem) {
  return kFilesystemColours.at(facts.colour_of(filesystem) % kFilesystemColours.size()).light;
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
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
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
