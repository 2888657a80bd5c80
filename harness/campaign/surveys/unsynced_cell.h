#pragma once
// Measures one cell of `unsynced-loss`. A guest formats a file system, applies the cell's writeback
// settings, and makes rounds of changes in real time, without fsync. Then the power is cut, and a
// fresh guest shows what is left (unsynced_ages.h).
//
// The drive is an hp-c2447 with its write cache on. During the rounds, its model time runs at the
// speed of the host's clock. All times come from the recording. A guest with an emulated processor
// needs a few milliseconds for each round.

#include "harness/campaign/surveys/survey.h"
#include "harness/campaign/surveys/survey_cell.h"
#include "harness/campaign/surveys/unsynced_plan.h"

namespace headcrash::campaign {

/// Measures one cell. The returned trial stores the metrics `loss.*` in the phase `workload`
/// (results/db/SCHEMA.md). Fails if the device or guest cannot be started, or if the measurement is
/// interrupted.
Result<db::TrialRecord> measure_unsynced(const UnsyncedCell& cell,
                                         const adapters::LinuxAdapter& filesystem,
                                         const SurveyContext& context);

/// Runs the survey. Fails if a cell is unknown, if there is no guest, or if the database or
/// directory is not writable.
Result<CampaignOutcome> run_unsynced_campaign(const UnsyncedCampaign& campaign,
                                              const CampaignOptions& options);

}  // namespace headcrash::campaign
