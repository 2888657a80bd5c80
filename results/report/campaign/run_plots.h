#pragma once
// The plots in a campaign's report. Each combines a gnuplot template from this folder with data
// from the facts.

#include <string>
#include <vector>

#include "results/report/campaign/facts.h"

namespace headcrash::report {

struct Plot {
  std::string title;  ///< HTML
  std::string svg;    ///< for inclusion in the page
};

Result<std::vector<Plot>> latency_plots(const Facts& facts);  ///< one per device

}  // namespace headcrash::report
