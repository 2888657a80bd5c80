#pragma once
// The campaign `io-errors`: a survey of the errors that file systems report, and of the data that
// they show and keep, when their disk's writes and flushes fail. Its trials are measured, not
// judged. io_errors_plan.h defines the names.

#include "harness/campaign/campaign.h"
#include "harness/campaign/surveys/io_errors_plan.h"

namespace headcrash::campaign {

/// Runs the survey. Fails for an unknown cell, if there is no guest, and for an unwritable database
/// or folder.
Result<CampaignOutcome> run_io_errors_campaign(const IoErrorsCampaign& campaign,
                                               const CampaignOptions& options);

}  // namespace headcrash::campaign
