#pragma once
// Queries earlier trials in a database: those of a resumed run, and those of other runs for
// estimates.

#include <map>
#include <optional>
#include <string>

#include "harness/bench/plan.h"
#include "results/db/database.h"

namespace headcrash::bench {

/// Returns the samples of the run's cells, keyed by the trial's key without the repetition.
Result<std::map<std::string, CellSamples>> samples_of(db::Database& database, std::int64_t run);

/// Number of earlier trials, and their mean wall time.
struct EarlierTrials {
  std::int64_t trials = 0;
  double mean_s = 0;
};
/// Returns earlier trials, from any run, with the same file system, device, workload and
/// parameters.
Result<std::optional<EarlierTrials>> earlier_trials(db::Database& database, const Cell& cell);
/// Returns earlier trials that differ from the cell only in the file system.
Result<std::optional<EarlierTrials>> similar_trials(db::Database& database, const Cell& cell);

}  // namespace headcrash::bench
