#pragma once
// Determines the trials of a campaign TYPE-schemes from its name. TYPE is one of the types in
// fs-adapters/registry.h:
//
//   ufs-schemes                               every scheme: all of seq-1, a random sample of seq-2,
//                                             families
//   ufs-schemes/part-nr                       one scheme; or "chains,chains-cb" for two; or "all"
//   ufs-schemes/all/ace-seq2                  every scheme, all workloads of one kind; for shards
//   ufs-schemes/all/reuse                     a family, with as many workloads as in the whole
//                                             campaign
//   ufs-schemes/part-nr/ace-seq2/133787       one workload, to repeat a failure
//   ufs-schemes/chains/reuse/3@tiny~2         one workload on the disk `tiny`, in random order 2
//   ufs-schemes/chains/reuse/3@tiny~2^7       the same, with I/O errors from seed 7
//                                             (in_process/io_errors.h)
//   ufs-schemes/chains/many-users/3~2:5       one workload, with the order of fibers from seed 5
//                                             (os/fiber_schedule.h)
//   ufs-schemes/chains/shared-names/7:3       a history of users who change the same names
//                                             (workload/shared_names.h)
//   ufs-schemes/chains/enumerated/7           a short history, under all schedules with one
//                                             deviation
//   ufs-schemes/chains/io-errors              a dozen histories with faults
//   ufs-schemes/chains/io-errors/7            the same as histories/7^7
//   ufs-schemes/chains/damage/7               workload 7 of a family; after the unmount, the image
//                                             is damaged in many ways and repaired each time
//                                             (adapters::RepairTrials)
//
// The form is WORKLOAD[/NUMBER][@DISK][~ORDER][:SCHEDULE][^FAULTS]. By default, a family runs on
// its own disk (in_process/lab_disks.h), and all other workloads on the plain disk. The default
// order is that of the elevator (in_process/record_run.h). Without a schedule, fibers run in FIFO
// order. Without a seed of faults, no fault is injected. Families with several users run under
// several schedules, with fewer states for each schedule. Each workload of a family also runs once
// with faults.
//
// Trials are numbered by workload, then by scheme. If only a few workloads expose a control
// (SystemDescription::shown_by), the whole campaign runs only one of these workloads under this
// control, at the end. In the whole campaign, the kinds of workloads alternate, so that each kind
// runs early. The complete seq-2 has millions of workloads, which are found by number. A shard has
// every n-th workload under every scheme, so that each shard also has the controls.

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

/// The parts of a campaign's name. parse_schemes_campaign() returns nullopt if the name is not that
/// of a schemes campaign.
struct SchemesCampaign {
  const adapters::FileSystemType* type = adapters::file_system_types().front();
  /// One or several schemes, separated by commas; empty for all schemes.
  std::string scheme;
  std::string workload;  ///< empty for all
  /// Total number of seq-2 trials. All schemes run the same workloads, so the number of workloads
  /// is this number divided by the number of schemes.
  std::uint64_t seq2_workloads = 4000;
  std::uint64_t seed = 1994;
  std::uint64_t budget = 2000;  ///< maximum number of states for each workload

  /// Returns the first part of the campaign's name, for example "ufs-schemes".
  std::string name() const { return std::string(type->name()) + "-schemes"; }
};
std::optional<SchemesCampaign> parse_schemes_campaign(std::string_view name);
/// Returns a description of the campaign for lists of campaigns.
CampaignSummary schemes_campaign_summary(const adapters::FileSystemType& type);

/// The parts of a workload's name, such as "reuse/3@tiny~2:5^7".
struct SchemesWorkload {
  std::string name;  ///< name of the workload in the catalogue
  std::string disk;
  std::uint64_t order = 0;
  std::uint64_t schedule = 0;  ///< seed for the order of fibers; 0 for FIFO
  /// Number of the shared history; nullopt for other workloads.
  std::optional<std::uint64_t> shared;
  /// Number of the short shared history whose schedules are enumerated; nullopt for other
  /// workloads.
  std::optional<std::uint64_t> enumerated;
  std::optional<std::uint64_t> faults;  ///< seed of the faults, if there are any
  /// The image is damaged with seeds derived from this number; nullopt if it is not damaged.
  std::optional<std::uint64_t> damage;

  bool shares_names() const { return shared || enumerated; }
  /// Returns the workload's operations. Fails if the workload is unknown.
  Result<std::vector<workload::Operation>> operations() const;
};
/// Parses a workload's name. Fails if an order or a seed is not a number, or if the disk is
/// unknown.
Result<SchemesWorkload> parse_schemes_workload(std::string_view text);

class SchemesPlan {
 public:
  struct Trial {
    const adapters::SystemUnderTest* system = nullptr;
    std::string workload;  ///< name with number, disk and order
    std::string key() const { return system->full_name() + "/" + workload; }
  };
  /// Plans the trials of a campaign or of one shard. Fails if a scheme is unknown.
  static Result<SchemesPlan> create(const SchemesCampaign& campaign, const run::Shard& shard = {});

  std::uint64_t size() const { return workloads_ * systems_.size() + controls_.size(); }
  Trial at(std::uint64_t number) const;

 private:
  void set_controls_apart();
  /// The systems that run with every workload. Excludes the controls in `controls_`.
  std::vector<const adapters::SystemUnderTest*> systems_;
  /// The trials in this shard of those controls that run with only one workload.
  std::vector<Trial> controls_;
  run::Shard shard_;
  std::uint64_t workloads_ = 0;      ///< number of workloads in the shard
  std::vector<std::string> listed_;  ///< workloads of all shards, except those of seq-2
  /// number of seq-2 workloads; they are not listed but found by index
  std::uint64_t seq2_ = 0;
};

}  // namespace headcrash::campaign
