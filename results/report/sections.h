#pragma once
// The parts of the page, each a file of its own; a section without data says so.

#include <string>
#include <vector>

#include "results/report/answer.h"
#include "results/report/facts.h"
#include "results/report/run_plots.h"

namespace headcrash::report {

/// Failed controls, title, status line, notes, table of the file systems.
std::string opening(const Facts& facts, const Answer& answer);
/// `rows_of_answer`: the length of the opening's table; the table of cells is left out where it would repeat it.
std::string verdict_section(const Facts& facts, std::size_t rows_of_answer);
std::string exploration_section(const Facts& facts);  ///< empty for a run without any
std::string recovery_section(const Facts& facts, const std::vector<Plot>& plots);
std::string latency_section(const Facts& facts, const std::vector<Plot>& plots);
std::string io_section(const Facts& facts, const std::vector<Plot>& plots);
std::string lateness_section(const Facts& facts);
std::string environment_section(const Facts& facts);

/// What limits the results; empty without notes.
std::string notes_list(const std::vector<std::string>& notes);
/// The colours of outcome_bar().
std::string outcome_legend();

/// Plots side by side as far as the screen is wide.
std::string plot_grid(const std::vector<Plot>& plots);

}  // namespace headcrash::report
