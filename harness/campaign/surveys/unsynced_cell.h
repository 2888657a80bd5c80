#pragma once
// Measures one cell of `unsynced-loss`: a fresh file system in a guest with the cell's writeback
// settings, rounds of changes in real time without fsync, a cut, and the result in a fresh guest
// (unsynced_ages.h).
//
// The drive is hp-c2447 with its write cache on. Its model time equals the host's during the
// rounds. All times come from the recording. A guest with an emulated processor needs a few
// milliseconds per round.

#include "harness/campaign/surveys/survey.h"
#include "harness/campaign/surveys/survey_cell.h"
#include "harness/campaign/surveys/unsynced_plan.h"

namespace headcrash::campaign {

/// Measures a cell. The trial's phase `workload` has the metrics `loss.*` (results/db/SCHEMA.md).
/// Fails if the device or guest cannot be started, or if interrupted.
Result<db::TrialRecord> measure_unsynced(const UnsyncedCell& cell,
                                         const adapters::LinuxAdapter& filesystem,
                                         const SurveyContext& context);

/// Runs the survey. Fails for an unknown cell, if there is no guest, and for an unwritable database
/// or folder.
Result<CampaignOutcome> run_unsynced_campaign(const UnsyncedCampaign& campaign,
                                              const CampaignOptions& options);

}  // namespace headcrash::campaign
