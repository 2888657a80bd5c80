#pragma once
// The plots in a campaign's report. gnuplot draws each plot from a template in this directory and
// from the campaign's Facts.

#include <string>
#include <vector>

#include "results/report/campaign/facts.h"

namespace headcrash::report {

struct Plot {
  std::string title;  ///< HTML
  std::string svg;    ///< the plot, to be included in the page
};

Result<std::vector<Plot>> latency_plots(const Facts& facts);  ///< one for each device

}  // namespace headcrash::report
