#pragma once
// The campaign `io-errors`, a survey of failing writes and flushes. It measures which errors the
// file systems report, which contents they show after an error, and which data survives. Trials are
// measured, not judged. io_errors_plan.h defines the names.

#include "harness/campaign/campaign.h"
#include "harness/campaign/surveys/io_errors_plan.h"

namespace headcrash::campaign {

/// Runs the survey. Fails if a cell is unknown, if no guest is available, or if the database or
/// directory is not writable.
Result<CampaignOutcome> run_io_errors_campaign(const IoErrorsCampaign& campaign,
                                               const CampaignOptions& options);

}  // namespace headcrash::campaign
