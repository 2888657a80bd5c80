#pragma once
// The campaign `io-errors`: what file systems answer, show and keep when writes and flushes of
// their disk fail. A survey: its trials are measured, not judged. Its names are those of
// io_errors_plan.h.

#include "harness/campaign/campaign.h"
#include "harness/campaign/surveys/io_errors_plan.h"

namespace headcrash::campaign {

/// Errors: an unknown cell; no guest; a database or folder that cannot be written.
Result<CampaignOutcome> run_io_errors_campaign(const IoErrorsCampaign& campaign,
                                               const CampaignOptions& options);

}  // namespace headcrash::campaign
