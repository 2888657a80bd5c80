#pragma once
// A synthetic run for the report's tests. The same shape always yields the same run.

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "results/db/database.h"

namespace headcrash::report {

struct SyntheticCell {
  std::string filesystem, device, workload, expected;
  std::vector<std::string> verdicts;  ///< one for each trial
  double speed = 1;                   ///< factor for the recovery times
};

struct SyntheticShape {
  std::vector<SyntheticCell> cells;
  int requests = 300;  ///< number of requests in a trial's I/O sample
  int planned = -1;    ///< number of planned trials; -1 if it equals the number of recorded trials
  bool finished = true;
  bool timings = true;  ///< if true, trials have phases, latencies and I/O
};

/// Returns a run of three cells with five trials each: ext4 and xfs, which keep their promises, and
/// the control ext4-nobarrier, which loses data.
SyntheticShape three_cells();
/// Returns a run for visual checks of the page: six file systems on two drives.
SyntheticShape a_real_campaign();

/// Returns the value of a result that cannot be an error, because the data is synthetic. Throws if
/// it is an error.
template <typename T>
T certain(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Sets fixed start and end times, so that golden pages do not depend on the current time. All runs
/// start in the same second. `ended` is a time of day on the same date; empty if the run has not
/// ended.
void set_times(db::Database& database, std::int64_t run, const std::string& ended);

/// Stores a synthetic run of the given shape, and returns its number. Throws if anything fails.
std::int64_t fill(db::Database& database, const SyntheticShape& shape);

}  // namespace headcrash::report
