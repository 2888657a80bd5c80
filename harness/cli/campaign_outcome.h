#pragma once
// What a campaign prints at its end, also one that `explore --db` has made.

#include <cstdint>
#include <string>

#include "harness/campaign/campaign.h"
#include "results/report/report.h"

namespace headcrash::cli {

/// States that were checked are rows of their own when guests checked them; without guests only
/// those that failed are.
enum class Guests : std::uint8_t { none, some };

struct OutcomeText {
  std::string database;  ///< for the commands that it prints
  double seconds = 0;
  Guests guests = Guests::some;
  bool as_json = false;
};
void print_outcome(const campaign::CampaignOutcome& outcome, const report::Summary& report,
                   const OutcomeText& text);

/// Of a run of a database that nothing writes to any more. Errors: it cannot be read.
Result<report::Summary> stored_summary(const std::string& database, std::int64_t run);

}  // namespace headcrash::cli
