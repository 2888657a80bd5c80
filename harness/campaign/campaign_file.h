#pragma once
// A campaign: its file systems, devices and power cuts, and the list of trials that follows from
// them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/campaign/exploration_file.h"
#include "plugin/base/result.h"
#include "plugin/profiles/clock_text.h"
#include "plugin/profiles/device_options.h"

namespace headcrash::campaign {

/// A campaign file. campaigns/demo.toml explains keys and defaults.
struct Campaign {
  std::string name, title;
  std::string takes;  ///< how long the campaign takes, and under which conditions, in words
  std::string text;   ///< the file's text, stored in the database
  std::uint64_t seed = 1;
  std::int64_t trials = 5;  ///< number of power cuts for each file system on each device
  std::vector<adapters::LinuxAdapter> filesystems;
  std::vector<std::string> profiles;  ///< profiles of the emulated drives, each a name or a path
  std::uint64_t size_bytes = 0;
  /// Profile of the log disks. If empty, log disks have the same profile as the disks of the file
  /// systems.
  std::string log_profile;
  profiles::DeviceOptions device_options;
  /// Faults to inject when the workload starts, in the text form of plugin/model/faults/faults.h.
  std::vector<std::string> faults;
  bool virtual_time = false;  ///< runs guests under user-mode Linux; both clocks are then unused
  std::string clock = "real";
  profiles::Clock setup_clock = profiles::kClockOff;
  std::string workload = "small-files";
  std::int64_t rounds = 60;
  std::uint64_t fill_bytes = 0;  ///< total size of the files that fill the disk before the workload
  /// Range of the time from a persistence point to the cut, in model time.
  double cut_earliest_ms = 0, cut_latest_ms = 50;
  /// Time from power-on to the start of recovery, in model time. It simulates how long the machine
  /// takes to boot.
  std::int64_t start_s = 0;
  /// If true, the power is cut only after the whole workload and an unmount, and the result of the
  /// workload is compared with the reference (uncut_work.h).
  bool cut_after_unmount = false;
  std::int64_t memory_mib = 384;
  /// Time limit of a step in the guest. A step that takes longer counts as a hang.
  std::int64_t step_timeout_s = 120;
  /// If set, each trial explores the crash states of a recorded workload. Profiles, faults, clocks
  /// and cuts are then unused, because each cell has its own machine.
  std::optional<Exploration> explore;
};

/// Loads a built-in campaign by name, or a file by path (a name that contains '/' or ends in
/// .toml). If `kernels` or `guest` are not empty, they override the file's settings.
Result<Campaign> load_campaign(const std::string& name_or_path,
                               const std::vector<std::string>& kernels = {},
                               const std::string& guest = {});
Result<Campaign> parse_campaign(const std::string& text, const std::string& file_name);

struct CampaignSummary {
  std::string name, title, takes;
  std::size_t trials = 0;
  std::uint64_t states = 0;  ///< upper limit; only for campaigns that explore
};
std::vector<CampaignSummary> built_in_campaigns();

/// A trial that has not run yet. Its seed determines all random choices.
struct TrialPlan {
  std::string key;  ///< identifies the trial in the campaign: "ext4/hp-c2447/small-files/3"
  const adapters::LinuxAdapter* filesystem = nullptr;  ///< points into the campaign
  std::string profile;
  std::uint64_t seed = 0;
  /// Number of this trial's power cut within the cell, counted from 0. The workload is derived from
  /// this number.
  std::uint64_t number = 0;
  const ExploredCell* cell = nullptr;  ///< null for a trial with one power cut
  std::string workload;  ///< workload with its number, such as "ace-seq1/17", if the trial explores
};

/// The trials of a campaign, in the order in which they run. Cells alternate, so that even an
/// interrupted campaign has covered every file system. There may be millions of trials, so each is
/// computed when it is accessed.
class TrialPlans {
 public:
  /// `campaign` must outlive this object and its plans.
  explicit TrialPlans(const Campaign& campaign);
  TrialPlans(const TrialPlans&) = delete;
  TrialPlans& operator=(const TrialPlans&) = delete;

  std::size_t size() const { return size_; }
  TrialPlan operator[](std::size_t index) const;  ///< REQUIRES: `index` < size()
  /// Returns the maximum total number of crash states that the trials explore. Trials with a single
  /// power cut are not counted.
  std::uint64_t states_most() const;
  std::optional<TrialPlan> find(const std::string& key) const;

 private:
  /// A source of trials: a cell, or a file system on one device. Consecutive trials come from
  /// different places.
  struct Place {
    const adapters::LinuxAdapter* filesystem = nullptr;
    std::string profile;
    const ExploredCell* cell = nullptr;
    CellWorkloads workloads;
  };
  /// Consecutive turns with the same places. Each turn has one trial for each place.
  struct Round {
    std::size_t first_index = 0;
    std::uint64_t first_turn = 0;
    std::vector<const Place*> places;
  };
  TrialPlan plan(const Place& place, std::uint64_t turn) const;

  const Campaign& campaign_;
  std::vector<Place> places_;
  std::vector<Round> rounds_;
  std::size_t size_ = 0;
};

/// Returns all file systems of the campaign. If the campaign explores crash states, the list
/// includes its controls.
std::vector<const adapters::LinuxAdapter*> filesystems_of(const Campaign& campaign);

/// Returns the guests that the trials need, keyed by guest_of().
std::map<std::string, adapters::GuestParts> guests_of(const Campaign& campaign);
/// Returns a key for the guest that a file system needs: the file system's name, and the packages
/// of its application.
std::string guest_of(const adapters::LinuxAdapter& filesystem);

/// Returns a digest of all settings that affect the trials. --resume uses it to find an unfinished
/// run.
std::string campaign_digest(const Campaign& campaign);

}  // namespace headcrash::campaign
