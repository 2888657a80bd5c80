#pragma once
// One trial of a campaign that explores, and the objects that several trials share:
//
//   cell --mkfs--> formatted/NAME.hcrec      once per run; base of the recordings of workloads
//   formatted --workload--> workload.hcrec --explore--> states --confirm, minimise--> failures
//
// Each worker has its own state server and guest. A worker must be used only from the thread that
// created it, because QEMU dies with the thread that started it (vm/guest.h).

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

/// The formatted disks of a run, shared by all workers.
class FormattedDisks {
 public:
  /// The first get() that formats a disk creates `folder`. Disks that an interrupted run has left
  /// there are reused.
  explicit FormattedDisks(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Returns the cell's formatted disk. If no worker has formatted it yet, formats it with `guest`.
  /// After a harness error, such as a missing command, mkfs is not tried again.
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
  std::mutex mutex_;  ///< protects the map, but not its elements
  std::map<std::string, Disk> disks_;
};

struct ExplorationContext {
  const Campaign* campaign = nullptr;
  FormattedDisks* disks = nullptr;
  /// Images, keyed by the name that guest_of() returns. Most file systems use the same image.
  const std::map<std::string, vm::GuestImage>* images = nullptr;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::filesystem::path cache;  ///< saved guest states
  /// Directory to which the stored paths of artefacts are relative.
  std::filesystem::path database_folder;
  /// If true, failures are minimised and reported. Otherwise, they are only confirmed and judged.
  bool describes_failures = true;
  const std::atomic<bool>* interrupted = nullptr;
};

class ExplorationWorker {
 public:
  explicit ExplorationWorker(const ExplorationContext& context) : context_(context) {}

  /// Runs a trial. `artefacts` is an existing directory. Removes the directory if no failure was
  /// found and no error occurred, unless the campaign keeps the recordings of clean trials. Fails
  /// on errors that would affect every trial (no plugin, no guest), or if interrupted. Errors in
  /// the guest become verdicts.
  Result<db::TrialRecord> run(const TrialPlan& plan, const std::filesystem::path& artefacts,
                              const std::function<void(const std::string& phase)>& on_phase);

 private:
  Result<void> make_ready(const vm::GuestImage& image, std::uint64_t disk_bytes,
                          const std::vector<adapters::OtherDisk>& others);
  Result<std::string> attribute(const TrialPlan& plan, const std::filesystem::path& artefacts,
                                const std::function<void(const std::string& phase)>& on_phase);

  ExplorationContext context_;
  std::unique_ptr<explorer::GuestPool> pool_;
  std::string image_key_;                    ///< key of the image that the current guest uses
  std::vector<adapters::OtherDisk> others_;  ///< all disks of the guest except the first one
  std::uint64_t disk_bytes_ = 0;
  /// Number of minimised failures, by cell and kind.
  std::map<std::string, std::size_t> minimised_;
};

}  // namespace headcrash::campaign
