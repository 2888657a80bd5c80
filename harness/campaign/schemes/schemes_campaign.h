#pragma once
// The campaigns TYPE-schemes: every system of one of our own file systems (fs-adapters/registry.h),
// of ufs every ordering scheme, under short workloads, all their crash states in this process
// (harness/explorer/in_process), no guest and no server. Its names are those of schemes_plan.h.
//
// A trial is one workload under one scheme. It keeps the states that failed, each looked at again
// in a second run, coverage and steps; the rest is counted. A run is repeated from its name
// whenever it is wanted, equal to the byte, so that no recording needs to be kept. Controls (of ufs
// No Order, Ignore and others) must show damage.

#include <string_view>

#include "harness/campaign/campaign.h"
#include "harness/campaign/schemes/schemes_plan.h"

namespace headcrash::campaign {

/// Coverage of a strategy that begins so is of the system's other recovery
/// (adapters::RecoveryTrial), by what it counts: images that were given to it as well, for
/// instance. They are not states of their own.
inline constexpr std::string_view kOtherRecovery = "other recovery: ";

/// One trial after the other, on one core: shards use more. Errors: an unknown scheme or workload;
/// a database or folder that cannot be written; a state of which the incremental and the full check
/// give different things.
Result<CampaignOutcome> run_schemes_campaign(const SchemesCampaign& campaign,
                                             const CampaignOptions& options);

}  // namespace headcrash::campaign
