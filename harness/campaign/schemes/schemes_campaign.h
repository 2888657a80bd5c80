#pragma once
// The campaigns TYPE-schemes. They run short workloads under every variant of one of our file
// systems (fs-adapters/registry.h; for ufs, a variant is an ordering scheme). All crash states are
// checked in this process (harness/explorer/in_process), without guests and servers. schemes_plan.h
// defines the names.
//
// A trial is one workload under one scheme. It stores the failed states, each confirmed in a second
// run, the coverage, and the times of the steps; other states are only counted. A run can be
// repeated from its name, byte for byte, so no recording is kept. Controls (for ufs, No Order,
// Ignore and others) must show damage.

#include <string_view>

#include "harness/campaign/campaign.h"
#include "harness/campaign/schemes/schemes_plan.h"

namespace headcrash::campaign {

/// Prefix of the coverage rows for a system's alternative recovery (adapters::RecoveryTrial). The
/// row's count is, for example, the number of images that were also recovered in this way. It must
/// not be added to the number of states, because other rows already include these states.
inline constexpr std::string_view kOtherRecovery = "other recovery: ";

/// Runs the trials one after the other, on one core; to use more cores, run several shards. Fails
/// if a scheme or workload is unknown, if the database or directory is not writable, or if the
/// incremental and the full check of a state differ.
Result<CampaignOutcome> run_schemes_campaign(const SchemesCampaign& campaign,
                                             const CampaignOptions& options);

}  // namespace headcrash::campaign
