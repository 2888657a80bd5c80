#pragma once
// A campaign whose trials are measured, not judged. Each cell has its own server and guests.
// Several cells run concurrently, and each cell is stored in the database as soon as it ends.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/campaign/campaign.h"

namespace headcrash::campaign {

struct SurveyCell {
  std::string key;  ///< unique
  /// Measures the cell. `scratch` is an existing directory for this cell; the caller removes the
  /// directory. Different cells are measured on different threads.
  std::function<Result<db::TrialRecord>(const std::filesystem::path& scratch)> measure;
};

struct Survey {
  /// `configuration` is a digest of all settings that affect the trials.
  std::string name, configuration;
  std::uint64_t seed = 0;
  std::string guest_kernel;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::vector<SurveyCell> cells;
};

/// Runs a survey. Fails if a cell fails, or if the database or directory is not writable. Cells
/// that finished before the error are in the database.
Result<CampaignOutcome> run_survey(Survey survey, const CampaignOptions& options);

/// An adapter, to which a mount option may have been added ("ext4+data_err=abort"), and its guest.
struct SurveySubject {
  adapters::LinuxAdapter adapter;
  vm::GuestImage image;
};
Result<SurveySubject> survey_subject(const std::string& filesystem,
                                     const std::filesystem::path& cache);

}  // namespace headcrash::campaign
