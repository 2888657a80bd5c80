#pragma once
// The page of an experiment: a scoreboard of the paper's claims, those that do not hold first;
// behind it each claim, folded: its rules, its numbers as bars beside the paper's (lines where they
// are by a number of users), and the tables and plots that the experiment made itself.

#include <string>

#include "results/db/database.h"

namespace headcrash::report {

struct ExperimentPage {
  std::string html;
  std::int64_t cells = 0, failed = 0, hold = 0, do_not_hold = 0, undecided = 0;
};

/// Errors: gnuplot's, the database's.
Result<ExperimentPage> experiment_page(db::Database& database, std::int64_t run);

}  // namespace headcrash::report
