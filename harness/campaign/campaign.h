#pragma once
// Runs a campaign's trials and stores each in the database as soon as it ends. A campaign killed at
// any moment continues with --resume; it neither repeats nor loses a finished trial.

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
  /// Estimated from the trials in this call, by file system and workload.
  std::optional<double> left_s;
  const db::TrialRecord* trial = nullptr;  ///< finished trial; null at the start of a phase
  std::string running, phase;              ///< key and phase of a running trial
};

struct CampaignOptions {
  std::filesystem::path database;
  std::filesystem::path cache;
  std::size_t jobs = 1;
  bool resume = false, redo_errors = false;
  bool stop_at_first = false;  ///< ufs-schemes: stops at the first unexpected trial
  run::Shard shard;
  std::function<void(const CampaignProgress&)> on_progress;  ///< called from one thread at a time
  const std::atomic<bool>* interrupted = nullptr;
};

struct CampaignOutcome {
  std::int64_t run = 0;
  std::size_t planned = 0, done_before = 0, done_now = 0;
  bool interrupted = false;
  bool finished_before = false;  ///< all trials were already finished
  /// A self-check in the lab failed and ended the campaign.
  std::optional<Error> contradiction = {};
};

/// Runs the trials. An error stops the campaign; finished trials are in the database.
Result<CampaignOutcome> run_campaign(const Campaign& campaign, const CampaignOptions& options);

/// Returns $HEADCRASH_CACHE, or headcrash in the user's cache folder: the place for guest images
/// and saved states.
std::filesystem::path default_cache();

}  // namespace headcrash::campaign
