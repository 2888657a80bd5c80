#pragma once
// Prints the outcome of a campaign, or of `explore --db`.

#include <cstdint>
#include <string>

#include "harness/campaign/campaign.h"
#include "results/report/report.h"

namespace headcrash::cli {

/// Whether the campaign ran guests. With `some`, the database has a row for every checked state.
/// With `none`, it has rows only for failed states.
enum class Guests : std::uint8_t { none, some };

struct OutcomeText {
  std::string database;  ///< path of the database, which appears in printed commands
  double seconds = 0;
  Guests guests = Guests::some;
  bool as_json = false;
};
void print_outcome(const campaign::CampaignOutcome& outcome, const report::Summary& report,
                   const OutcomeText& text);

/// Writes the files of add_ci_options() with one case for each cell of a run. Returns `exit_code`,
/// or kUsage if the database cannot be read or a file cannot be written.
int finish_ci_of_run(const report::CiFiles& files, const std::string& title, db::Database& database,
                     std::int64_t run, int exit_code, bool as_json);

}  // namespace headcrash::cli
