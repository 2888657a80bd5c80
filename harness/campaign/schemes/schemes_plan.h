#pragma once
// The trials of the campaign TYPE-schemes, from its name. TYPE is one of fs-adapters/registry.h:
//
//   ufs-schemes                               every scheme: all of seq-1, a seeded sample of seq-2,
//                                             families
//   ufs-schemes/part-nr                       one scheme; "chains,chains-cb": these two; "all"
//   ufs-schemes/all/ace-seq2                  every scheme, all workloads of one kind: for shards
//   ufs-schemes/all/reuse                     a family, with the same number as in the whole
//                                             campaign
//   ufs-schemes/part-nr/ace-seq2/133787       one workload, to repeat a failure
//   ufs-schemes/chains/reuse/3@tiny~2         the same, on the disk `tiny`, in the shuffled order 2
//   ufs-schemes/chains/reuse/3@tiny~2^7       with I/O errors drawn from seed 7
//                                             (in_process/io_errors.h)
//   ufs-schemes/chains/many-users/3~2:5       the same, with the order of fibers drawn from seed 5
//                                             (os/fiber_schedule.h)
//   ufs-schemes/chains/shared-names/7:3       a history of users who change the same names
//                                             (workload/shared_names.h)
//   ufs-schemes/chains/enumerated/7           a short one, under all schedules with one deviation
//   ufs-schemes/chains/io-errors              a dozen histories with faults
//   ufs-schemes/chains/io-errors/7            histories/7^7
//   ufs-schemes/chains/damage/7               number 7 of a family, unmounted; its image is then
//                                             damaged in many ways and repaired each time
//                                             (adapters::RepairTrials)
//
// The form is WORKLOAD[/NUMBER][@DISK][~ORDER][:SCHEDULE][^FAULTS]. The default disk is the plain
// one, or that of the family (in_process/lab_disks.h). The default order is the elevator's
// (in_process/record_run.h). Without a schedule, fibers run in FIFO order. Without a seed of
// faults, no fault is injected. Families of several users run under several schedules, with fewer
// states each. Each workload of a family also runs once with faults.
//
// Trials are numbered by workload, then by scheme. A control that few workloads expose
// (SystemDescription::shown_by) has only one of these in the whole campaign, at the end. In the
// whole campaign the kinds of workloads alternate, so that each is tried early. A complete seq-2
// has millions of workloads, which are found by number. A shard has every n-th workload under every
// scheme, so that each shard has the controls, too.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/registry.h"
#include "harness/campaign/campaign_file.h"
#include "harness/run/stored_run.h"
#include "harness/workload/operation.h"

namespace headcrash::campaign {

/// Parses a campaign's name including its parts; nullopt for any other campaign.
struct SchemesCampaign {
  const adapters::FileSystemType* type = adapters::file_system_types().front();
  /// one or several schemes, separated by commas; empty for all
  std::string scheme;
  std::string workload;                 ///< empty for all
  std::uint64_t seq2_workloads = 4000;  ///< total number, divided among the schemes
  std::uint64_t seed = 1994;
  std::uint64_t budget = 2000;  ///< states per workload

  std::string name() const {
    return std::string(type->name()) + "-schemes";
  }  ///< without its parts
};
std::optional<SchemesCampaign> parse_schemes_campaign(std::string_view name);
/// Returns the entry for lists.
CampaignSummary schemes_campaign_summary(const adapters::FileSystemType& type);

/// The parts of "reuse/3@tiny~2:5^7".
struct SchemesWorkload {
  std::string name;  ///< name in the catalogue
  std::string disk;
  std::uint64_t order = 0;
  std::uint64_t schedule = 0;           ///< seed for the order of fibers; 0 for FIFO
  std::optional<std::uint64_t> shared;  ///< number of a shared history
  /// number of a short shared history whose schedules are enumerated
  std::optional<std::uint64_t> enumerated;
  std::optional<std::uint64_t> faults;  ///< seed for the faults
  std::optional<std::uint64_t> damage;  ///< number that determines the seeds of the damage

  bool shares_names() const { return shared || enumerated; }
  /// Fails if the list is unknown.
  Result<std::vector<workload::Operation>> operations() const;
};
/// Fails for an order or a seed that is not a number, and for an unknown disk.
Result<SchemesWorkload> parse_schemes_workload(std::string_view text);

class SchemesPlan {
 public:
  struct Trial {
    const adapters::SystemUnderTest* system = nullptr;
    std::string workload;  ///< includes number, disk and order
    std::string key() const { return system->full_name() + "/" + workload; }
  };
  /// Fails for an unknown scheme.
  static Result<SchemesPlan> create(const SchemesCampaign& campaign, const run::Shard& shard = {});

  std::uint64_t size() const { return workloads_ * systems_.size() + controls_.size(); }
  Trial at(std::uint64_t number) const;

 private:
  void set_controls_apart();
  std::vector<const adapters::SystemUnderTest*> systems_;  ///< run with every workload
  std::vector<Trial> controls_;  ///< the shard's controls that have one workload each
  run::Shard shard_;
  std::uint64_t workloads_ = 0;      ///< number of workloads in the shard
  std::vector<std::string> listed_;  ///< those of all shards, except seq-2
  std::uint64_t seq2_ = 0;           ///< number of seq-2 workloads, identified by number
};

}  // namespace headcrash::campaign
