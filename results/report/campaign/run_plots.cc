#include "results/report/campaign/run_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "results/report/frame/drawing.h"
#include "results/report/frame/html.h"

namespace headcrash::report {
Result<std::vector<Plot>> latency_plots(const Facts& facts) {
  std::vector<Plot> plots;
  std::set<std::string> devices;
  std::vector<std::string> names;
  for (const auto& curve : facts.latency) {
    devices.insert(curve.device);
    names.push_back(curve.filesystem);
  }
  const Dashes dashes_of(names);
  for (const auto& device : devices) {
    std::string data, colours, dashes, widths;
    int series = 0;
    for (const auto& curve : facts.latency) {
      if (curve.device != device || curve.points.empty() || curve.kind != "achieved") continue;
      // The times inside a bucket are unknown, so the curve rises vertically at the upper bound of
      // the first bucket.
      data += fmt::format("{}\t0\n", curve.points.front().first / 1e6);
      for (const auto& [us, share] : curve.points) data += fmt::format("{}\t{}\n", us / 1e6, share);
      data += "\n\n";
      colours += fmt::format("{} ", plot_colour(curve.filesystem));
      dashes += fmt::format("{} ", dashes_of.of(curve.filesystem));
      widths += "2 ";
      ++series;
    }
    if (series == 0) continue;
    const auto settings =
        fmt::format("series = {}\ncolours = \"{}\"\ndashes = \"{}\"\nwidths = \"{}\"\n{}", series,
                    colours, dashes, widths, data_block("data", data));
    TRY(auto svg,
        draw({270, settings, "latency.gp", "distribution of response times on " + device}));
    plots.push_back({fmt::format("<b>{}</b>", escape(device)), std::move(svg)});
  }
  return plots;
}

}  // namespace headcrash::report
