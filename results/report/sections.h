#pragma once
// The parts of the page, each a file of its own; a section without data says so in a sentence.

#include <string>
#include <vector>

#include "results/report/answer.h"
#include "results/report/facts.h"
#include "results/report/plots.h"

namespace headcrash::report {

std::string opening(const Facts& facts, const Answer& answer);  ///< title, failed controls, the answer
std::string verdict_section(const Facts& facts);
std::string exploration_section(const Facts& facts);  ///< empty for a run without any
std::string recovery_section(const Facts& facts, const std::vector<Plot>& plots);
std::string latency_section(const Facts& facts, const std::vector<Plot>& plots);
std::string io_section(const Facts& facts, const std::vector<Plot>& plots);
std::string lateness_section(const Facts& facts);
std::string environment_section(const Facts& facts);

/// Plots side by side as far as the screen is wide.
std::string plot_grid(const std::vector<Plot>& plots);

}  // namespace headcrash::report
