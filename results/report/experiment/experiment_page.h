#pragma once
// The page of an experiment. It begins with a scoreboard of the paper's claims, in which claims
// that do not hold are first. Each claim follows in a collapsible part, with its rules, its numbers
// as bars next to the paper's numbers, and the experiment's own tables and plots. Numbers that
// depend on the number of users are drawn as lines.

#include <string>

#include "results/db/database.h"

namespace headcrash::report {

struct ExperimentPage {
  std::string html;
  std::int64_t cells = 0, failed = 0, hold = 0, do_not_hold = 0, undecided = 0;
};

/// Creates the page. Fails if gnuplot or the database fails.
Result<ExperimentPage> experiment_page(db::Database& database, std::int64_t run);

}  // namespace headcrash::report
