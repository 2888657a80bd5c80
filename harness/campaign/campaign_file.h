#pragma once
// A campaign: the file systems, devices and power cuts, and the resulting list of trials.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/campaign/exploration_file.h"
#include "plugin/base/result.h"

namespace headcrash::campaign {

/// A campaign file. campaigns/demo.toml explains keys and defaults.
struct Campaign {
  std::string name, title;
  std::string takes;  ///< duration and conditions, in words
  std::string text;   ///< the file's text, stored in the database
  std::uint64_t seed = 1;
  std::int64_t trials = 5;  ///< power cuts for each file system on each device
  std::vector<adapters::LinuxAdapter> filesystems;
  std::vector<std::string> profiles;  ///< emulated drives, by name or path
  std::uint64_t size_bytes = 0;
  std::string log_profile;  ///< profile of the disk for separate logs; empty to use the disk's
  std::optional<bool> write_cache;  ///< the drives' setting; nullopt to use the profile's
  /// How the cut affects the sectors under the heads (plugin/model/core/tear.h); empty to use the
  /// profile's setting.
  std::string tear;
  /// In the text form of plugin/model/faults/faults.h; injected at the start of the workload.
  std::vector<std::string> faults;
  bool virtual_time = false;  ///< uses user-mode Linux and sets neither clock
  std::string clock = "real", setup_clock = "off";
  std::string workload = "small-files";
  std::int64_t rounds = 60;
  std::uint64_t fill_bytes = 0;  ///< size of filler files written before the workload
  double cut_earliest_ms = 0, cut_latest_ms = 50;  ///< model time after a persistence point
  /// Model time from power-on to recovery, to simulate how long the machine takes to start.
  std::int64_t start_s = 0;
  /// Compares the whole workload with the reference instead of cutting the power (uncut_work.h).
  bool cut_after_unmount = false;
  std::int64_t memory_mib = 384;
  std::int64_t step_timeout_s = 120;  ///< a step in the guest that takes longer is a hang
  /// If set, trials explore the crash states of recorded workloads. Profiles, faults, clocks and
  /// cut are unused, because each cell has its own machine.
  std::optional<Exploration> explore;
};

/// Loads a built-in campaign by name, or a file by path (a name with '/' or ending in .toml).
/// `kernels` and `guest`, if not empty, override the file's settings.
Result<Campaign> load_campaign(const std::string& name_or_path,
                               const std::vector<std::string>& kernels = {},
                               const std::string& guest = {});
Result<Campaign> parse_campaign(const std::string& text, const std::string& file_name);

struct CampaignSummary {
  std::string name, title, takes;
  std::size_t trials = 0;
  std::uint64_t states = 0;  ///< upper limit, for campaigns that explore
};
std::vector<CampaignSummary> built_in_campaigns();

/// One trial before it runs. Its seed determines all random choices.
struct TrialPlan {
  std::string key;  ///< "ext4/hp-c2447/small-files/3": its place in the campaign
  const adapters::LinuxAdapter* filesystem = nullptr;  ///< points into the campaign
  std::string profile;
  std::uint64_t seed = 0;
  std::uint64_t number = 0;            ///< of the cut in its cell, from 0; selects the workload
  const ExploredCell* cell = nullptr;  ///< null for a trial with one power cut
  std::string workload;  ///< an explored trial's workload, with its number: "ace-seq1/17"
};

/// A campaign's trials in execution order. Its cells alternate, so that an interrupted campaign has
/// covered every file system. There may be millions, so a trial is created on access.
class TrialPlans {
 public:
  /// `campaign` must outlive this object and its plans.
  explicit TrialPlans(const Campaign& campaign);
  TrialPlans(const TrialPlans&) = delete;
  TrialPlans& operator=(const TrialPlans&) = delete;

  std::size_t size() const { return size_; }
  TrialPlan operator[](std::size_t index) const;  ///< `index` is below size()
  std::uint64_t states_most() const;  ///< over all trials; 0 for trials with one power cut
  std::optional<TrialPlan> find(const std::string& key) const;

 private:
  /// One of the alternating places: a cell, or a file system on a device.
  struct Place {
    const adapters::LinuxAdapter* filesystem = nullptr;
    std::string profile;
    const ExploredCell* cell = nullptr;
    CellWorkloads workloads;
  };
  /// A series of rounds in which the same places still have trials.
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

/// Returns the candidates and, if the campaign explores, its controls.
std::vector<const adapters::LinuxAdapter*> filesystems_of(const Campaign& campaign);

/// Returns the guests that the trials need, keyed by guest_of() their file systems.
std::map<std::string, adapters::GuestParts> guests_of(const Campaign& campaign);
/// Returns a file system's name, with its application's packages.
std::string guest_of(const adapters::LinuxAdapter& filesystem);

/// Returns a digest of all settings that shape the trials, by which --resume finds an unfinished
/// run.
std::string campaign_digest(const Campaign& campaign);

}  // namespace headcrash::campaign
