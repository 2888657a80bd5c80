#pragma once
// The sections of a campaign's page. Each is in a separate file.

#include <string>
#include <vector>

#include "results/report/campaign/facts.h"
#include "results/report/campaign/run_plots.h"
#include "results/report/frame/answer.h"
#include "results/report/frame/page.h"

namespace headcrash::report {

/// Returns the top of the page: failed controls, title, verdict, cautions and the table of the file
/// systems.
std::string opening(const Facts& facts, const Answer& answer);
/// Returns a map with a row for each workload and a column for each file system. With fewer than
/// two rows or columns, the section has no title, so the page omits it.
Section outcomes_section(const Facts& facts);
/// Returns a card for each bug, and a map with a row for each operation and a column for each file
/// system. If nothing was lost, the returned section has no title, and the page omits the section.
Section bugs_section(const Facts& facts);
Section exploration_section(const Facts& facts);  ///< has no title if no crash states were explored
Section trials_section(const Facts& facts);
Section recovery_section(const Facts& facts);
Section latency_section(const Facts& facts, const std::vector<Plot>& plots);
Section io_section(const Facts& facts);
Section lateness_section(const Facts& facts);
Section environment_section(const Facts& facts);

/// Returns a collapsible element that lists the limitations of the results. The summary line states
/// their number. Empty if there are no limitations.
std::string cautions(const std::vector<std::string>& notes);
std::string outcome_legend();
/// Joins pairs of name and value, such as ("run", "3") and ("seed", "7"), in one line.
std::string facts_line(const std::vector<std::pair<std::string, std::string>>& facts);

/// Arranges plots next to each other as far as the width of the screen allows.
std::string plot_grid(const std::vector<Plot>& plots);

}  // namespace headcrash::report
