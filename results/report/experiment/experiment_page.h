#pragma once
// Page of an experiment. It begins with a scoreboard of the paper's claims, those that do not hold
// first. Each claim follows, collapsed: its rules, its numbers as bars next to the paper's, and the
// experiment's own tables and plots. Numbers by users are drawn as lines.

#include <string>

#include "results/db/database.h"

namespace headcrash::report {

struct ExperimentPage {
  std::string html;
  std::int64_t cells = 0, failed = 0, hold = 0, do_not_hold = 0, undecided = 0;
};

/// Creates the page. Errors: gnuplot's, the database's.
Result<ExperimentPage> experiment_page(db::Database& database, std::int64_t run);

}  // namespace headcrash::report
