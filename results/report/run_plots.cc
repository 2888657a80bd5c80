#include "results/report/run_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "results/report/drawing.h"
#include "results/report/html.h"

namespace headcrash::report {
namespace {

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
  return plot_label(name);
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
                         r.model_ms.max / 1e3, ++rows, rgb_number(plot_colour(facts, r.filesystem)), name);
  }
  const bool logarithmic = smallest > 0 && largest / smallest > 30;
  const bool seconds = largest >= 1000;
  const auto settings = fmt::format(
      "rows = {}\nmargin = {:.1f}\nlogarithmic = {}\nunit = \"{}\"\nscale = {}\nstep = {}\n{}", rows,
      static_cast<double>(margin) * 0.92 + 2, logarithmic ? 1 : 0, seconds ? "s" : "ms", seconds ? 1 : 1000,
      tick_step(seconds ? largest / 1e3 : largest), data_block("data", lines));
  auto svg = draw({52 + 24 * rows, settings, "recovery.gp", phase + " time after the power cut, per cell"});
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
      colours += fmt::format("{} ", plot_colour(facts, curve.filesystem));
      dashes += target ? "11 " : "1 ";
      widths += target ? "1.3 " : "2 ";
      ++series;
    }
    const auto settings = fmt::format("series = {}\ncolours = \"{}\"\ndashes = \"{}\"\nwidths = \"{}\"\n{}",
                                      series, colours, dashes, widths, data_block("data", data));
    auto svg = draw({290, settings, "latency.gp", "distribution of response times on " + device});
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
        data_block("reads", reads), data_block("writes", writes), data_block("media", media));
    auto svg = draw({260, settings, "io.gp", "requests of " + panel.key + " over time"});
    if (!svg) return pass_on(svg);
    plots.push_back(
        {fmt::format("{} <small>{}</small>", filesystem_name(facts, panel.filesystem), escape(panel.key)),
         std::move(*svg)});
  }
  return plots;
}

}  // namespace headcrash::report
