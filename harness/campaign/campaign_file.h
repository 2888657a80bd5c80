#pragma once
// A campaign: which file systems on which devices go through how many power cuts, and the list of
// trials that follows.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/campaign/exploration_file.h"
#include "plugin/base/result.h"

namespace headcrash::campaign {

/// Keys and defaults are explained in campaigns/demo.toml.
struct Campaign {
  std::string name, title;
  std::string takes;  ///< how long, roughly and on what, in words
  std::string text;   ///< the file itself, kept in the database
  std::uint64_t seed = 1;
  std::int64_t trials = 5;  ///< power cuts for each file system on each device
  std::vector<adapters::LinuxAdapter> filesystems;
  std::vector<std::string> profiles;  ///< emulated drives, by name or path
  std::uint64_t size_bytes = 0;
  std::string log_profile;          ///< of the disk for logs of their own; empty: as the disk
  std::optional<bool> write_cache;  ///< of the drives; none: as the profile says
  std::string
      /// what the cut leaves under the heads (plugin/model/core/tear.h); empty: as the profile says
      tear;
  std::vector<std::string>
      faults;  ///< in the text form of plugin/model/faults/faults.h; added when the workload begins
  bool virtual_time = false;  ///< guests of user-mode Linux: neither clock is set
  std::string clock = "real", setup_clock = "off";
  std::string workload = "small-files";
  std::int64_t rounds = 60;
  std::uint64_t fill_bytes = 0;                    ///< taken by filler files before the workload
  double cut_earliest_ms = 0, cut_latest_ms = 50;  ///< model time after a persistence point
  std::int64_t start_s =
      0;  ///< model time from power-on to recovery, as the start of a machine takes
  /// Instead: the whole workload is compared with the reference (uncut_work.h).
  bool cut_after_unmount = false;
  std::int64_t memory_mib = 384;
  std::int64_t step_timeout_s = 120;  ///< a step in the guest that takes longer is a hang
  /// Trials are recorded workloads whose crash states are explored; profiles, faults, clocks and
  /// cut are unused (each cell has its machine).
  std::optional<Exploration> explore;
};

/// A built-in campaign by name, or a file by path (any name with a '/' or ending in .toml).
/// `kernels` and `guest`, if they are given, in place of the file's own.
Result<Campaign> load_campaign(const std::string& name_or_path,
                               const std::vector<std::string>& kernels = {},
                               const std::string& guest = {});
Result<Campaign> parse_campaign(const std::string& text, const std::string& file_name);

struct CampaignSummary {
  std::string name, title, takes;
  std::size_t trials = 0;
  std::uint64_t states = 0;  ///< at most, of those that explore
};
std::vector<CampaignSummary> built_in_campaigns();

/// One trial before it runs. Everything random in it comes from its seed.
struct TrialPlan {
  std::string key;  ///< "ext4/hp-c2447/small-files/3": its place in the campaign
  const adapters::LinuxAdapter* filesystem = nullptr;  ///< in the campaign
  std::string profile;
  std::uint64_t seed = 0;
  std::uint64_t number = 0;  ///< of the cut in its cell, from 0: which workload of an enumerator
  const ExploredCell* cell = nullptr;  ///< in the campaign; null for a power cut under way
  std::string workload;                ///< of an explored trial, with its number: "ace-seq1/17"
};

/// The trials of a campaign in the order they are run: its cells take turns, so that an interrupted
/// one has seen every file system. There may be millions; a trial is made when it is asked for.
class TrialPlans {
 public:
  /// `campaign` must outlive this and its plans.
  explicit TrialPlans(const Campaign& campaign);
  TrialPlans(const TrialPlans&) = delete;
  TrialPlans& operator=(const TrialPlans&) = delete;

  std::size_t size() const { return size_; }
  TrialPlan operator[](std::size_t index) const;  ///< below size()
  std::uint64_t states_most() const;              ///< of all trials; 0 for power cuts under way
  std::optional<TrialPlan> find(const std::string& key) const;

 private:
  /// What takes turns: a cell, or a file system on a device.
  struct Place {
    const adapters::LinuxAdapter* filesystem = nullptr;
    std::string profile;
    const ExploredCell* cell = nullptr;
    CellWorkloads workloads;
  };
  /// Turns in which the same places have a trial left.
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

/// The candidates, and the controls of a campaign that explores.
std::vector<const adapters::LinuxAdapter*> filesystems_of(const Campaign& campaign);

/// The guests that its trials need, by guest_of() their file systems.
std::map<std::string, adapters::GuestParts> guests_of(const Campaign& campaign);
/// A file system's name, and the packages that an application on it needs.
std::string guest_of(const adapters::LinuxAdapter& filesystem);

/// Of everything that shapes the trials: what --resume recognises an unfinished run by.
std::string campaign_digest(const Campaign& campaign);

}  // namespace headcrash::campaign
