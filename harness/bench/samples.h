#pragma once
// Queries on earlier trials in a database: those of a resumed run, and others for estimates.

#include <map>
#include <optional>
#include <string>

#include "harness/bench/plan.h"
#include "results/db/database.h"

namespace headcrash::bench {

/// Returns the samples of the run's cells, by key without the repetition.
Result<std::map<std::string, CellSamples>> samples_of(db::Database& database, std::int64_t run);

/// Mean wall time of trials.
struct EarlierTrials {
  std::int64_t trials = 0;
  double mean_s = 0;
};
/// Returns the experience with the same cell in any run: equal file system, device, workload and
/// parameters.
Result<std::optional<EarlierTrials>> earlier_trials(db::Database& database, const Cell& cell);
/// Returns the experience with the same cell on any file system.
Result<std::optional<EarlierTrials>> similar_trials(db::Database& database, const Cell& cell);

}  // namespace headcrash::bench
