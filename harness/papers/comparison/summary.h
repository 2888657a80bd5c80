#pragma once
// Who wins where: cells of several tables, ranked group by group.

#include <string>
#include <vector>

#include "harness/papers/claim.h"
#include "harness/papers/comparison/interval.h"
#include "harness/papers/comparison/rows.h"

namespace headcrash::experiment::compare {

/// One workload on one machine, and what the systems of a group took for it. A sample that is empty
/// failed.
struct Contest {
  Contest(std::string on, std::string of, std::vector<const Sample*> took)
      : machine(std::move(on)),
        workload(std::move(of)),
        samples(std::move(took)),
        ranking(samples) {}
  std::string machine, workload;
  std::vector<const Sample*> samples;  ///< of each contender, in the same order in every contest
  Ranking ranking;                     ///< of them
};

/// In how many contests the first beats the second, over the seeds (interval.h).
std::size_t times_beaten(const std::vector<Contest>& contests, std::size_t first,
                         std::size_t second);
/// In how many no other beats the contender.
std::size_t times_best(const std::vector<Contest>& contests, std::size_t contender);

/// User times as multiples of the best one, a row a contest: what the report draws as a heat map
/// (results/db/database.h). `names` are the contenders'.
Table times_the_best(const std::vector<Contest>& contests, const std::vector<std::string>& names,
                     Durability durability);

}  // namespace headcrash::experiment::compare
