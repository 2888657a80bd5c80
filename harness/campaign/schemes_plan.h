#pragma once
// What the campaign `ufs-schemes` will do, from its name:
//
//   ufs-schemes                               every scheme; seq-1 complete, a seeded sample of seq-2
//   ufs-schemes/part-nr                       one scheme
//   ufs-schemes/all/ace-seq2                  every scheme, all workloads of one kind: for shards
//   ufs-schemes/part-nr/ace-seq2/133787       one workload: what shows a failure again
//
// Trials are numbered by workload, then scheme, and found by their number: the complete seq-2 is millions.
// A shard has every n-th workload, under every scheme, so that each has the controls, too.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/ufs/scheme_variants.h"
#include "harness/campaign/campaign_file.h"
#include "harness/campaign/kept_run.h"

namespace headcrash::campaign {

inline constexpr std::string_view kSchemesName = "ufs-schemes";

/// Of the campaign's name with its parts, or nothing: it is another campaign.
struct SchemesCampaign {
  std::string scheme, workload;         ///< empty: all
  std::uint64_t seq2_workloads = 5000;  ///< in all: the schemes share them
  std::uint64_t seed = 1994;
  std::uint64_t disk_bytes = 16 << 20;
  std::uint64_t budget = 2000;  ///< states of one workload
};
std::optional<SchemesCampaign> parse_schemes_campaign(std::string_view name);
/// For lists.
CampaignSummary schemes_campaign_summary();

class SchemesPlan {
 public:
  struct Trial {
    const ufs::SchemeVariant* scheme = nullptr;  ///< in the plan
    std::string workload;                        ///< with its number
    std::string key() const { return "ufs-" + scheme->name + "/" + workload; }
  };
  /// Errors: an unknown scheme.
  static Result<SchemesPlan> create(const SchemesCampaign& campaign, const Shard& shard = {});

  std::uint64_t size() const { return workloads_ * schemes_.size(); }
  Trial at(std::uint64_t number) const;

 private:
  std::string workload(std::uint64_t number) const;

  std::vector<ufs::SchemeVariant> schemes_;
  Shard shard_;
  std::uint64_t workloads_ = 0;  ///< of the shard
  std::string one_;              ///< if it is not empty: the only one
  std::uint64_t seq1_ = 0;       ///< the first ones, by number
  std::uint64_t seq2_ = 0;       ///< then these, by number, or ...
  std::vector<std::uint64_t> seq2_sample_;
};

}  // namespace headcrash::campaign
