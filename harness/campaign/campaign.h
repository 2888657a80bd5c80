#pragma once
// Runs a campaign's trials and keeps each in the database the moment it is finished: a campaign
// killed at any moment resumes with --resume, repeats no finished trial and loses none.

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
  std::optional<double>
      left_s;  ///< estimate from the trials of this call, by file system and workload
  const db::TrialRecord* trial = nullptr;  ///< just finished; null when a phase begins
  std::string running, phase;              ///< key and phase of a trial that is under way
};

struct CampaignOptions {
  std::filesystem::path database;
  std::filesystem::path cache;
  std::size_t jobs = 1;
  bool resume = false, redo_errors = false;
  bool stop_at_first = false;  ///< ufs-schemes: at a trial that was not as expected
  run::Shard shard;
  std::function<void(const CampaignProgress&)> on_progress;  ///< called from one thread at a time
  const std::atomic<bool>* interrupted = nullptr;
};

struct CampaignOutcome {
  std::int64_t run = 0;
  std::size_t planned = 0, done_before = 0, done_now = 0;
  bool interrupted = false;
  bool finished_before = false;  ///< there was nothing to do
  std::optional<Error> contradiction =
      {};  ///< a self-check of the lab failed, and ended the campaign
};

/// Errors stop the campaign; what was finished before is in the database.
Result<CampaignOutcome> run_campaign(const Campaign& campaign, const CampaignOptions& options);

/// $HEADCRASH_CACHE, or headcrash in the user's cache folder: guest images and saved states.
std::filesystem::path default_cache();

}  // namespace headcrash::campaign
