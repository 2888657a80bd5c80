#pragma once
// The campaign `ufs-schemes`: every ordering scheme of headcrash's own file system under short workloads, all
// their crash states in this process (harness/lab/in_process), no guest and no server.
//
//   ufs-schemes                               every scheme; seq-1 complete, a seeded sample of seq-2
//   ufs-schemes/part-nr                       one scheme
//   ufs-schemes/part-nr/ace-seq2/133787       one workload: what shows a failure again
//
// A trial is one workload under one scheme. It keeps the states that failed, coverage and steps; the rest is
// counted. A run is made anew from its name whenever it is wanted, equal to the byte, so that no recording
// needs to be kept. No Order and Ignore are controls that must show damage.

#include "harness/campaign/campaign.h"

namespace headcrash::campaign {

/// Of the campaign's name with its parts, or nothing: it is another campaign.
struct SchemesCampaign {
  std::string scheme, workload;        ///< empty: all
  std::uint64_t seq2_workloads = 250;  ///< of each scheme; 17 of them make 4250
  std::uint64_t seed = 1994;
  std::uint64_t disk_bytes = 16 << 20;
  std::uint64_t budget = 2000;  ///< states of one workload
};
std::optional<SchemesCampaign> parse_schemes_campaign(std::string_view name);

/// One trial after the other, on one core: shards use more. Errors: an unknown scheme or workload; a database
/// or folder that cannot be written.
Result<CampaignOutcome> run_schemes_campaign(const SchemesCampaign& campaign, const CampaignOptions& options);

}  // namespace headcrash::campaign
