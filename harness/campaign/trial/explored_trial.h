#pragma once
// One trial of a campaign that explores, and the objects that outlive it:
//
//   cell --mkfs--> formatted/NAME.hcrec      once per run; base of the recordings of workloads
//   formatted --workload--> workload.hcrec --explore--> states --confirm, minimise--> failures
//
// A worker has a separate state server and guest. Use both only from the thread that created them:
// QEMU dies with the thread that started it (vm/guest.h).

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "harness/campaign/campaign_file.h"
#include "harness/explorer/guests/guest_pool.h"
#include "harness/explorer/guests/record_workload.h"
#include "results/db/database.h"

namespace headcrash::campaign {

/// A run's formatted disks, shared by its workers.
class FormattedDisks {
 public:
  /// `folder` is created with the first disk. Disks left there by an interrupted run are reused.
  explicit FormattedDisks(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Formats the disk with this guest unless another worker has done so. After a harness error,
  /// such as a missing command, mkfs is not tried again.
  Result<explorer::FormattedDisk> get(const ExploredCell& cell, std::uint64_t uuid_seed,
                                      explorer::StageGuest& guest);

 private:
  Result<explorer::FormattedDisk> make(const ExploredCell& cell, const std::string& called,
                                       std::uint64_t uuid_seed, explorer::StageGuest& guest) const;

  struct Disk {
    std::mutex mutex;  ///< held while the disk is formatted
    std::optional<Result<explorer::FormattedDisk>> disk;
  };
  std::filesystem::path folder_;
  std::mutex mutex_;  ///< protects the map
  std::map<std::string, Disk> disks_;
};

struct ExplorationContext {
  const Campaign* campaign = nullptr;
  FormattedDisks* disks = nullptr;
  /// keyed by guest_of(); most share one
  const std::map<std::string, vm::GuestImage>* images = nullptr;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::filesystem::path cache;            ///< saved guest states
  std::filesystem::path database_folder;  ///< folder to which stored artefact paths are relative
  /// Minimises and reports failures; otherwise, they are only confirmed and judged.
  bool describes_failures = true;
  const std::atomic<bool>* interrupted = nullptr;
};

class ExplorationWorker {
 public:
  explicit ExplorationWorker(const ExplorationContext& context) : context_(context) {}

  /// Runs a trial. `artefacts` is an existing folder, emptied if nothing failed. Fails on errors
  /// that would affect every trial (no plugin, no guest), or on an interruption. Errors in the
  /// guest are verdicts.
  Result<db::TrialRecord> run(const TrialPlan& plan, const std::filesystem::path& artefacts,
                              const std::function<void(const std::string& phase)>& on_phase);

 private:
  Result<void> make_ready(const vm::GuestImage& image,
                          const std::vector<adapters::OtherDisk>& others);

  ExplorationContext context_;
  std::unique_ptr<explorer::GuestPool> pool_;
  std::string image_key_;                    ///< image of the current guest
  std::vector<adapters::OtherDisk> others_;  ///< the guest's disks after the first one
  /// Number of minimised failures, by cell and kind.
  std::map<std::string, std::size_t> minimised_;
};

}  // namespace headcrash::campaign
