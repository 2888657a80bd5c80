#pragma once
// Determines winners: ranks the cells of several tables in each group.

#include <string>
#include <vector>

#include "harness/papers/claim.h"
#include "harness/papers/comparison/interval.h"
#include "harness/papers/comparison/rows.h"

namespace headcrash::experiment::compare {

/// One workload on one machine, with the time of each system of a group. The sample of a failed
/// system is empty.
struct Contest {
  Contest(std::string on, std::string of, std::vector<const Sample*> took)
      : machine(std::move(on)),
        workload(std::move(of)),
        samples(std::move(took)),
        ranking(samples) {}
  std::string machine, workload;
  std::vector<const Sample*> samples;  ///< of each contender, in the same order in all contests
  Ranking ranking;                     ///< of the samples
};

/// Returns the number of contests in which the first beats the second, over the seeds (interval.h).
std::size_t times_beaten(const std::vector<Contest>& contests, std::size_t first,
                         std::size_t second);
/// Returns the number of contests in which no other beats the contender.
std::size_t times_best(const std::vector<Contest>& contests, std::size_t contender);

/// Returns user times as multiples of the best, one row per contest, which the report draws as a
/// heat map (results/db/database.h). `names` are those of the contenders.
Table times_the_best(const std::vector<Contest>& contests, const std::vector<std::string>& names,
                     Durability durability);

}  // namespace headcrash::experiment::compare
