#pragma once
// A made-up run for the tests of the report: the same from the same shape, every time.

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "results/db/database.h"

namespace headcrash::report {

struct SyntheticCell {
  std::string filesystem, device, workload, expected;
  std::vector<std::string> verdicts;  ///< one per trial
  double speed = 1;                   ///< multiplies recovery times
};

struct SyntheticShape {
  std::vector<SyntheticCell> cells;
  int requests = 300;  ///< of the I/O sample of a trial
  int planned = -1;    ///< default: as many as there are
  bool finished = true;
  bool timings = true;  ///< phases, latency and I/O
};

/// Three cells of five trials: ext4 and xfs keep their promises, the control ext4-nobarrier loses.
SyntheticShape three_cells();
/// Enough for a look at the page: six file systems, two drives.
SyntheticShape a_real_campaign();

/// For what synthetic data cannot fail at: throws when it does.
template <typename T>
T certain(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Golden pages cannot show when they were made: every run began in the same second. `ended` is a
/// time of day of that date; empty: it has not.
void set_times(db::Database& database, std::int64_t run, const std::string& ended);

/// The number of the run; throws on any failure.
std::int64_t fill(db::Database& database, const SyntheticShape& shape);

}  // namespace headcrash::report
