#pragma once
// Runs a campaign's trials and stores each trial in the database as soon as it ends. If a campaign
// is killed, --resume runs the remaining trials; finished trials are neither repeated nor lost.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "harness/campaign/campaign_file.h"
#include "harness/run/stored_run.h"
#include "harness/vm/guest.h"
#include "results/db/database.h"

namespace headcrash::campaign {

struct CampaignProgress {
  std::size_t done = 0, planned = 0;
  /// Estimated remaining time in seconds. The estimate uses those trials of this run_campaign()
  /// call that have the same file systems and workloads as the remaining trials.
  std::optional<double> left_s;
  /// The finished trial; null if the event is the start of a phase.
  const db::TrialRecord* trial = nullptr;
  std::string running, phase;  ///< key and current phase of the trial that is running
};

struct CampaignOptions {
  std::filesystem::path database;
  std::filesystem::path cache;
  std::size_t jobs = 1;
  bool resume = false, redo_errors = false;
  /// Used only for schemes campaigns. If true, the campaign ends as soon as further trials cannot
  /// change its result.
  bool stop_at_first = false;
  run::Shard shard;
  std::function<void(const CampaignProgress&)> on_progress;  ///< never called concurrently
  const std::atomic<bool>* interrupted = nullptr;
};

struct CampaignOutcome {
  std::int64_t run = 0;
  std::size_t planned = 0, done_before = 0, done_now = 0;
  bool interrupted = false;
  bool finished_before = false;  ///< no trial was left when run_campaign() started
  /// Set if the campaign ended because a self-check of the in-process lab failed.
  std::optional<Error> contradiction = {};
};

/// Runs the trials. An error ends the campaign; the trials that finished before are in the
/// database.
Result<CampaignOutcome> run_campaign(const Campaign& campaign, const CampaignOptions& options);

/// Returns the directory for guest images and saved states: $HEADCRASH_CACHE or, if that is unset,
/// headcrash in the user's cache directory.
std::filesystem::path default_cache();

}  // namespace headcrash::campaign
