#pragma once
// One trial of a campaign that explores, and what lives longer than it:
//
//   cell --mkfs--> formatted/NAME.hcrec      once in a run, kept: recordings of workloads begin where it ends
//   formatted --workload--> workload.hcrec --explore--> states --confirm, minimise--> failures
//
// A worker has a state server and a guest of its own. Both are used from the one thread that made
// them: QEMU dies with the thread that started it (vm/guest.h).

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "harness/campaign/campaign_file.h"
#include "harness/explorer/guests/lab.h"
#include "harness/explorer/guests/record_workload.h"
#include "results/db/database.h"

namespace headcrash::campaign {

/// The formatted disks of a run, shared by its workers.
class FormattedDisks {
 public:
  /// `folder` is made when the first disk is. What an interrupted run left there is used again.
  explicit FormattedDisks(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Formats with this guest unless another has done so. A disk that could not be formatted is not
  /// tried again.
  run::Step<explorer::FormattedDisk> get(const ExploredCell& cell, std::uint64_t uuid_seed,
                                         explorer::StageGuest& guest);

 private:
  run::Step<explorer::FormattedDisk> make(const ExploredCell& cell, const std::string& called,
                                          std::uint64_t uuid_seed,
                                          explorer::StageGuest& guest) const;

  struct Disk {
    std::mutex mutex;  ///< held while it is formatted
    std::optional<run::Step<explorer::FormattedDisk>> disk;
  };
  std::filesystem::path folder_;
  std::mutex mutex_;  ///< of the map
  std::map<std::string, Disk> disks_;
};

struct ExplorationContext {
  const Campaign* campaign = nullptr;
  FormattedDisks* disks = nullptr;
  const std::map<std::string, vm::GuestImage>* images = nullptr;  ///< by guest_of(); most share one
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::filesystem::path cache;            ///< saved guest states
  std::filesystem::path database_folder;  ///< artefact paths are stored relative to it
  bool describes_failures =
      true;  ///< false: they are confirmed and judged, not minimised and written up
  const std::atomic<bool>* interrupted = nullptr;
};

class ExplorationWorker {
 public:
  explicit ExplorationWorker(const ExplorationContext& context) : context_(context) {}

  /// `artefacts`: existing folder, emptied when nothing failed. Errors: what would fail every trial
  /// alike (no plugin, no guest), or an interruption. What goes wrong in the guest is a verdict.
  Result<db::TrialRecord> run(const TrialPlan& plan, const std::filesystem::path& artefacts,
                              const std::function<void(const std::string& phase)>& on_phase);

 private:
  Result<void> make_ready(const vm::GuestImage& image, std::uint64_t log_bytes);

  ExplorationContext context_;
  std::unique_ptr<explorer::Lab> lab_;
  std::string image_key_;        ///< of the lab's guest ...
  std::uint64_t log_bytes_ = 0;  ///< ... and the size of its second disk
  std::map<std::string, std::size_t>
      minimised_;  ///< failures that were made small, by cell and kind
};

}  // namespace headcrash::campaign
