// Finds the files to which a report's cards link (failure_pages.h).
#include "results/report/campaign/failure_pages.h"

#include <algorithm>
#include <set>

#include "results/db/statement.h"
#include "results/report/bench/bench_facts.h"
#include "results/report/campaign/bugs.h"
#include "results/report/campaign/facts.h"
#include "results/report/campaign/io_errors_page.h"
#include "results/report/campaign/unsynced_page.h"

namespace headcrash::report {
namespace {

/// Returns the trials whose recordings have been kept.
Result<std::set<std::int64_t>> recorded_trials(db::Database& database, std::int64_t run) {
  TRY(auto rows,
      db::Statement::prepare(database.handle(),
                             "SELECT t.id FROM trial t JOIN artefact a ON a.trial_id = t.id "
                             "WHERE t.run_id = ? AND a.kind = 'recording'"));
  rows.bind(run);
  std::set<std::int64_t> trials;
  while (true) {
    TRY(const auto more, rows.step());
    if (!more) return trials;
    trials.insert(rows.integer(0));
  }
}

}  // namespace

Result<std::vector<FailurePage>> failure_pages(db::Database& database,
                                               std::optional<std::int64_t> run,
                                               const std::filesystem::path& folder) {
  TRY(const auto kind, kind_of_run(database, run));
  const auto errors = is_io_errors(database, run), unsynced = is_unsynced(database, run);
  if (!errors || !unsynced) return forward_error(!errors ? errors : unsynced);
  if (kind != "campaign" || *errors || *unsynced) return std::vector<FailurePage>{};
  TRY(auto facts, gather(database, run));
  facts.folder = folder;
  TRY(const auto recorded, recorded_trials(database, facts.run.id));
  const std::vector<Bug> bugs = bugs_of(facts);
  std::vector<FailurePage> pages;
  std::size_t most = 0;
  for (const Bug& bug : bugs) most = std::max(most, std::min(bug.instances.size(), kInstancesMost));
  for (std::size_t nth = 0; nth < most; ++nth) {
    for (const Bug& bug : bugs) {
      if (nth >= std::min(bug.instances.size(), kInstancesMost)) continue;
      const Instance& each = bug.instances[nth];
      if (each.page.empty()) continue;
      pages.push_back({each.trial_id, each.shown_state, each.page, each.command,
                       recorded.contains(each.trial_id)});
    }
  }
  return pages;
}

}  // namespace headcrash::report
