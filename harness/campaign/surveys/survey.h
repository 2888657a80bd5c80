#pragma once
// A campaign whose trials are measured and not judged: cells, each with a server and guests of its
// own, some at a time, each kept in the database the moment it is done.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/campaign/campaign.h"

namespace headcrash::campaign {

/// The verdict of a cell that was measured; others are harness-error.
inline constexpr const char* kMeasured = "measured";

struct SurveyCell {
  std::string key;  ///< unique
  /// With an existing folder of the cell's own, which goes afterwards. Called from one of several
  /// threads.
  std::function<Result<db::TrialRecord>(const std::filesystem::path& scratch)> measure;
};

struct Survey {
  std::string name, configuration;  ///< the latter: of all that shapes the trials
  std::uint64_t seed = 0;
  std::string guest_kernel;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::vector<SurveyCell> cells;
};

/// Errors: a cell's; a database or folder that cannot be written. What was finished before is in
/// the database.
Result<CampaignOutcome> run_survey(Survey survey, const CampaignOptions& options);

/// What cells of a survey run on: an adapter, with one more mount option ("ext4+data_err=abort"),
/// and its guest.
struct SurveySubject {
  adapters::LinuxAdapter adapter;
  vm::GuestImage image;
};
Result<SurveySubject> survey_subject(const std::string& filesystem,
                                     const std::filesystem::path& cache);

}  // namespace headcrash::campaign
