#pragma once
// A made-up run for the tests of the report: the same from the same shape, every time.

#include <string>
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

/// The number of the run; throws on any failure.
std::int64_t fill(db::Database& database, const SyntheticShape& shape);

}  // namespace headcrash::report
