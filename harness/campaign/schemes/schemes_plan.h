#pragma once
// What the campaign TYPE-schemes will do, from its name; TYPE is one of fs-adapters/registry.h:
//
//   ufs-schemes                               every scheme: all of seq-1, a seeded sample of seq-2, families
//   ufs-schemes/part-nr                       one scheme; "chains,chains-cb": these two; "all"
//   ufs-schemes/all/ace-seq2                  every scheme, all workloads of one kind: for shards
//   ufs-schemes/all/reuse                     as many of a family as the whole campaign has
//   ufs-schemes/part-nr/ace-seq2/133787       one workload: what shows a failure again
//   ufs-schemes/chains/reuse/3@tiny~2         likewise; on the disk `tiny`, in the shuffled order 2
//   ufs-schemes/chains/reuse/3@tiny~2^7       with I/O errors drawn from seed 7 (in_process/io_errors.h)
//   ufs-schemes/chains/io-errors              a dozen of them; they are not part of the whole
//   ufs-schemes/chains/io-errors/7            histories/7^7
//   ufs-schemes/chains/damage/7               number 7 of a family, unmounted; then its image is damaged in
//                                             many ways, and each time repaired
//                                             (adapters::RepairTrials)
//
// WORKLOAD[/NUMBER][@DISK][~ORDER][^FAULTS]: without a disk the plain one, of a family that of the
// family (in_process/lab_disks.h); without an order the elevator's (in_process/record_run.h);
// without the seed of faults none.
//
// Trials are numbered by workload, then scheme; a control that few workloads show
// (SystemDescription::shown_by) has only that one in the whole campaign, and comes last. In the
// whole campaign the kinds of workloads take turns, so that each of them has been tried early. A
// complete seq-2 is millions: it is found by number. A shard has every n-th workload, under every
// scheme, so that each has the controls, too.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/registry.h"
#include "harness/campaign/campaign_file.h"
#include "harness/run/stored_run.h"

namespace headcrash::campaign {

/// Of the campaign's name with its parts, or nothing: it is another campaign.
struct SchemesCampaign {
  const adapters::FileSystemType* type = adapters::file_system_types().front();
  std::string scheme;                   ///< or several, with commas; empty: all
  std::string workload;                 ///< empty: all
  std::uint64_t seq2_workloads = 4000;  ///< in all: the schemes share them
  std::uint64_t seed = 1994;
  std::uint64_t budget = 2000;  ///< states of one workload

  std::string name() const {
    return std::string(type->name()) + "-schemes";
  }  ///< without its parts
};
std::optional<SchemesCampaign> parse_schemes_campaign(std::string_view name);
/// For lists.
CampaignSummary schemes_campaign_summary(const adapters::FileSystemType& type);

/// "reuse/3@tiny~2^7" in parts.
struct SchemesWorkload {
  std::string name;  ///< the catalogue's
  std::string disk;
  std::uint64_t order = 0;
  std::optional<std::uint64_t> faults;  ///< their seed
  std::optional<std::uint64_t> damage;  ///< the number, from which the seeds of the damage follow
};
/// Errors: an order or a seed that is not a number, an unknown disk.
Result<SchemesWorkload> parse_schemes_workload(std::string_view text);

class SchemesPlan {
 public:
  struct Trial {
    const adapters::SystemUnderTest* system = nullptr;
    std::string workload;  ///< with number, disk and order
    std::string key() const { return system->full_name() + "/" + workload; }
  };
  /// Errors: an unknown scheme.
  static Result<SchemesPlan> create(const SchemesCampaign& campaign, const run::Shard& shard = {});

  std::uint64_t size() const { return workloads_ * systems_.size() + controls_.size(); }
  Trial at(std::uint64_t number) const;

 private:
  void set_controls_apart();
  std::vector<const adapters::SystemUnderTest*> systems_;  ///< with every workload
  std::vector<Trial> controls_;                            ///< of the shard, with one workload each
  run::Shard shard_;
  std::uint64_t workloads_ = 0;      ///< of the shard
  std::vector<std::string> listed_;  ///< of all shards, but for ...
  std::uint64_t seq2_ = 0;           ///< ... these, by number
};

}  // namespace headcrash::campaign
