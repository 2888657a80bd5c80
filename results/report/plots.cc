#include "results/report/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "results/report/embedded_text.h"
#include "results/report/gnuplot.h"
#include "results/report/html.h"
#include "results/report/palette.h"
#include "results/report/svg.h"

namespace headcrash::report {
namespace {

constexpr int kWidth = 460;
constexpr std::size_t kLabelCharacters = 28;

std::string_view colour_of(const Facts& facts, const std::string& filesystem) {
  return kFilesystemColours.at(facts.colour_of(filesystem) % kFilesystemColours.size()).light;
}

unsigned rgb_number(std::string_view hex) {
  unsigned value = 0;
  std::from_chars(hex.data() + 1, hex.data() + hex.size(), value, 16);
  return value;
}

/// Text as a gnuplot data field: no separators, quotes, escapes or line ends, and not too long for the
/// margin.
std::string label(const std::string& text) {
  std::string out;
  std::size_t characters = 0;
  for (const char c : valid_utf8(text)) {
    const bool starts_character = (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    if (starts_character && ++characters > kLabelCharacters) return out + "\xe2\x80\xa6";
    out += c == '\t' || c == '\n' || c == '"' || c == '\\' || c == '\'' ? ' ' : c;
  }
  return out;
}

std::size_t characters_in(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

Result<std::string> draw(int height, const std::string& settings, std::string_view plot_template,
                         const std::string& spoken) {
  std::string script = fmt::format("width = {}\nheight = {}\n{}", kWidth, height, settings);
  script += embedded_text("common.gp");
  script += embedded_text(plot_template);
  const auto svg = run_gnuplot(script);
  if (!svg) return pass_on(svg);
  return inline_svg(*svg, spoken);
}

std::string block(const std::string& name, const std::string& lines) {
  return fmt::format("${} << END_OF_DATA\n{}END_OF_DATA\n", name, lines);
}

/// What tells the cells of this run apart beside the file system.
std::string short_name(const Facts& facts, const Recovery& r) {
  std::set<std::string> devices, workloads;
  for (const auto& cell : facts.cells) {
    devices.insert(cell.device);
    workloads.insert(cell.workload);
  }
  std::string name = r.filesystem;
  if (workloads.size() > 1) name += " " + r.workload;
  if (devices.size() > 1) name += " " + r.device;
  return label(name);
}

/// The step of 1, 2 or 5 times a power of ten that puts at most five marks on an axis from 0 to `largest`.
double tick_step(double largest) {
  if (largest <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(largest / 5)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (largest <= 5 * factor * power) return factor * power;
  }
  return 10 * power;
}

Result<Plot> recovery_plot(const Facts& facts, const std::string& phase) {
  std::string lines;
  std::size_t margin = 4;
  int rows = 0;
  double smallest = 1e300, largest = 0;
  for (const auto& r : facts.recovery) {
    if (r.phase != phase) continue;
    const auto name = short_name(facts, r);
    margin = std::max(margin, characters_in(name));
    smallest = std::min(smallest, r.model_ms.min);
    largest = std::max(largest, r.model_ms.max);
    lines += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", r.model_ms.median / 1e3, r.model_ms.min / 1e3,
                         r.model_ms.max / 1e3, ++rows, rgb_number(colour_of(facts, r.filesystem)), name);
  }
  const bool logarithmic = smallest > 0 && largest / smallest > 30;
  const bool seconds = largest >= 1000;
  const auto settings =
      fmt::format("rows = {}\nmargin = {:.1f}\nlogarithmic = {}\nunit = \"{}\"\nscale = {}\nstep = {}\n{}",
                  rows, static_cast<double>(margin) * 0.92 + 2, logarithmic ? 1 : 0, seconds ? "s" : "ms",
                  seconds ? 1 : 1000, tick_step(seconds ? largest / 1e3 : largest), block("data", lines));
  auto svg = draw(52 + 24 * rows, settings, "recovery.gp", phase + " time after the power cut, per cell");
  if (!svg) return pass_on(svg);
  return Plot{fmt::format("<b>{}</b>{}", escape(phase), logarithmic ? ", logarithmic" : ""), std::move(*svg)};
}

}  // namespace

Result<std::vector<Plot>> recovery_plots(const Facts& facts) {
  std::vector<Plot> plots;
  for (const std::string phase : {"replay", "fsck", "mount"}) {
    if (std::ranges::none_of(facts.recovery, [&](const Recovery& r) { return r.phase == phase; })) continue;
    auto plot = recovery_plot(facts, phase);
    if (!plot) return pass_on(plot);
    plots.push_back(std::move(*plot));
  }
  return plots;
}

Result<std::vector<Plot>> latency_plots(const Facts& facts) {
  std::vector<Plot> plots;
  std::set<std::string> devices;
  for (const auto& curve : facts.latency) devices.insert(curve.device);
  for (const auto& device : devices) {
    std::string data, colours, dashes, widths;
    int series = 0;
    for (const auto& curve : facts.latency) {
      if (curve.device != device || curve.points.empty()) continue;
      // The first bucket's share is reached within it; the curve starts from nothing at its bound.
      data += fmt::format("{}\t0\n", curve.points.front().first / 1e6);
      for (const auto& [us, share] : curve.points) data += fmt::format("{}\t{}\n", us / 1e6, share);
      data += "\n\n";
      const bool target = curve.kind == "target";
      colours += fmt::format("{} ", colour_of(facts, curve.filesystem));
      dashes += target ? "11 " : "1 ";
      widths += target ? "1.3 " : "2 ";
      ++series;
    }
    const auto settings = fmt::format("series = {}\ncolours = \"{}\"\ndashes = \"{}\"\nwidths = \"{}\"\n{}",
                                      series, colours, dashes, widths, block("data", data));
    auto svg = draw(290, settings, "latency.gp", "distribution of response times on " + device);
    if (!svg) return pass_on(svg);
    plots.push_back({fmt::format("<b>{}</b>", escape(device)), std::move(*svg)});
  }
  return plots;
}

Result<std::vector<Plot>> io_plots(const Facts& facts) {
  double last_ms = 0;
  std::int64_t last_lba = 0;
  for (const auto& panel : facts.io) {
    last_ms = std::max(last_ms, panel.cut_ms.value_or(0));
    for (const auto& point : panel.points) {
      last_ms = std::max(last_ms, point.at_ms);
      last_lba = std::max(last_lba, point.lba);
    }
  }
  std::vector<Plot> plots;
  for (const auto& panel : facts.io) {
    // A block without a line is an error for gnuplot: each kind starts with a point outside of the axes.
    std::string reads = "-1\t-1\n", writes = reads, media = reads;
    for (const auto& point : panel.points) {
      auto& lines = point.op == "read" ? reads : point.op == "write" ? writes : media;
      lines += fmt::format("{}\t{}\n", point.at_ms / 1e3, point.lba);
    }
    const auto settings = fmt::format(
        "x_max = {}\ny_max = {}\ncut = {}\n{}{}{}", std::max(last_ms * 1.02, 1.0) / 1e3,
        std::max(static_cast<double>(last_lba) * 1.03, 1.0) / 1e6, panel.cut_ms ? *panel.cut_ms / 1e3 : -1.0,
        block("reads", reads), block("writes", writes), block("media", media));
    auto svg = draw(260, settings, "io.gp", "requests of " + panel.key + " over time");
    if (!svg) return pass_on(svg);
    plots.push_back(
        {fmt::format("{} <small>{}</small>", filesystem_name(facts, panel.filesystem), escape(panel.key)),
         std::move(*svg)});
  }
  return plots;
}

}  // namespace headcrash::report
