#pragma once
// Measures one cell of `unsynced-loss`: a fresh file system in a guest with the kernel's writeback
// settings of the cell, rounds of changes in real time without fsync, a cut, and what a fresh guest
// finds (unsynced_ages.h).
//
// The drive is hp-c2447 with its write cache on, whose model time is the host's while the rounds
// run. All times are the recording's. A guest whose processor is emulated needs some milliseconds
// for a round.

#include "harness/campaign/surveys/survey.h"
#include "harness/campaign/surveys/survey_cell.h"
#include "harness/campaign/surveys/unsynced_plan.h"

namespace headcrash::campaign {

/// The trial's phase `workload` has the metrics `loss.*` (results/db/SCHEMA.md). Errors: nothing
/// could be started, or it was interrupted.
Result<db::TrialRecord> measure_unsynced(const UnsyncedCell& cell,
                                         const adapters::LinuxAdapter& filesystem,
                                         const SurveyContext& context);

/// Errors: an unknown cell; no guest; a database or folder that cannot be written.
Result<CampaignOutcome> run_unsynced_campaign(const UnsyncedCampaign& campaign,
                                              const CampaignOptions& options);

}  // namespace headcrash::campaign
