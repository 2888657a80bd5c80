#pragma once
// The campaign `io-errors`, a survey. It makes writes and flushes fail. It measures which errors
// the file systems report, and which data they show and keep. Its trials are measured, not judged.
// io_errors_plan.h defines the names.

#include "harness/campaign/campaign.h"
#include "harness/campaign/surveys/io_errors_plan.h"

namespace headcrash::campaign {

/// Runs the survey. Fails if a cell is unknown, if no guest is available, or if the database or
/// folder is not writable.
Result<CampaignOutcome> run_io_errors_campaign(const IoErrorsCampaign& campaign,
                                               const CampaignOptions& options);

}  // namespace headcrash::campaign
