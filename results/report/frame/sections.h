#pragma once
// The parts of a campaign's page, each a file of its own.

#include <string>
#include <vector>

#include "results/report/campaign/facts.h"
#include "results/report/campaign/run_plots.h"
#include "results/report/frame/answer.h"
#include "results/report/frame/page.h"

namespace headcrash::report {

/// Failed controls, title, verdict, cautions, table of the file systems.
std::string opening(const Facts& facts, const Answer& answer);
/// A map of workloads by file systems; without a title where the opening's table says it all.
Section outcomes_section(const Facts& facts);
/// A card a bug, and a map of operations by file systems; without a title where nothing was lost.
Section bugs_section(const Facts& facts);
Section exploration_section(const Facts& facts);  ///< without a title for a run without any
Section trials_section(const Facts& facts);
Section recovery_section(const Facts& facts);
Section latency_section(const Facts& facts, const std::vector<Plot>& plots);
Section io_section(const Facts& facts);
Section lateness_section(const Facts& facts);
Section environment_section(const Facts& facts);

/// What limits the results, folded with their number; empty without notes.
std::string cautions(const std::vector<std::string>& notes);
/// The marks of outcome_bar().
std::string outcome_legend();
/// "run 3, 2026-..", "seed", ..., from pairs of name and value.
std::string facts_line(const std::vector<std::pair<std::string, std::string>>& facts);

/// Plots side by side as far as the screen is wide.
std::string plot_grid(const std::vector<Plot>& plots);

}  // namespace headcrash::report
