#pragma once
// Ranks the systems of each group for each cell of several tables, and determines the best systems.

#include <string>
#include <vector>

#include "harness/papers/comparison/interval.h"
#include "harness/papers/comparison/rows.h"
#include "results/db/claim.h"

namespace headcrash::experiment::compare {

/// One workload on one machine, with the times of all systems in a group. The sample of a failed
/// system is empty.
struct Contest {
  Contest(std::string on, std::string of, std::vector<const Sample*> took)
      : machine(std::move(on)),
        workload(std::move(of)),
        samples(std::move(took)),
        ranking(samples) {}
  std::string machine, workload;
  /// The samples of the contenders. The contenders have the same order in all contests.
  std::vector<const Sample*> samples;
  Ranking ranking;
};

/// Returns the number of contests in which contender `first` beats contender `second` over the
/// seeds (interval.h).
std::size_t times_beaten(const std::vector<Contest>& contests, std::size_t first,
                         std::size_t second);
/// Returns the number of contests in which this contender is not beaten by any other contender.
std::size_t times_best(const std::vector<Contest>& contests, std::size_t contender);

/// Returns the times of the contenders as multiples of the best time, with one row per contest. The
/// report draws this table as a heat map (results/db/database.h). `names` contains the names of the
/// contenders.
Table times_the_best(const std::vector<Contest>& contests, const std::vector<std::string>& names,
                     Durability durability);

}  // namespace headcrash::experiment::compare
