// Measures the cells of a survey on several threads (survey.h).
#include "harness/campaign/surveys/survey.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "harness/run/side_by_side.h"
#include "plugin/base/scratch_folder.h"

namespace headcrash::campaign {
namespace {

class SurveyRun {
 public:
  SurveyRun(const CampaignOptions& options, db::Database& database, run::StoredRun run,
            std::vector<SurveyCell> cells)
      : options_(options), database_(database), run_(std::move(run)), cells_(std::move(cells)) {
    outcome_.run = run_.id;
    outcome_.planned = cells_.size();
    std::erase_if(cells_, [&](const SurveyCell& cell) { return run_.finished.contains(cell.key); });
    outcome_.done_before = outcome_.planned - cells_.size();
  }

  Result<CampaignOutcome> run() {
    TRY(run::side_by_side(options_.jobs, cells_.size(), options_.interrupted, [this] {
      return [this](std::size_t index) { return measure(cells_[index]); };
    }));
    outcome_.interrupted = outcome_.done_before + outcome_.done_now < outcome_.planned;
    if (!outcome_.interrupted) TRY(database_.finish_run(run_.id));
    return outcome_;
  }

 private:
  Result<void> measure(const SurveyCell& cell) {
    TRY(const auto scratch, base::ScratchFolder::make());
    TRY(const auto record, cell.measure(scratch.path()));
    const std::lock_guard lock(mutex_);
    TRY(database_.record_trial(run_.id, record));
    ++outcome_.done_now;
    if (options_.on_progress)
      options_.on_progress({.done = outcome_.done_before + outcome_.done_now,
                            .planned = outcome_.planned,
                            .trial = &record,
                            .running = record.key});
    return {};
  }

  const CampaignOptions& options_;
  db::Database& database_;
  run::StoredRun run_;
  std::vector<SurveyCell> cells_;  // cells that have not been measured yet
  std::mutex mutex_;               // protects all members below, and the database
  CampaignOutcome outcome_;
};

}  // namespace

Result<CampaignOutcome> run_survey(Survey survey, const CampaignOptions& options) {
  TRY(auto database, db::Database::open(options.database, db::Database::Access::read_write));
  TRY(auto run, run::open_run(database, {.kind = "campaign",
                                         .name = survey.name,
                                         .configuration = survey.configuration,
                                         .seed = survey.seed,
                                         .digest = survey.configuration,
                                         .shard = options.shard,
                                         .trials = survey.cells.size(),
                                         .guest_kernel = survey.guest_kernel,
                                         .accelerator = survey.accelerator,
                                         .resume = options.resume,
                                         .redo_errors = options.redo_errors}));
  base::sweep_scratch_folders();
  return SurveyRun(options, database, std::move(run), std::move(survey.cells)).run();
}

Result<SurveySubject> survey_subject(const std::string& filesystem,
                                     const std::filesystem::path& cache) {
  const std::size_t plus = std::min(filesystem.find('+'), filesystem.size());
  TRY(auto adapter, adapters::load_adapter(filesystem.substr(0, plus)));
  const std::string option = filesystem.substr(std::min(plus + 1, filesystem.size()));
  if (!option.empty()) adapter.mount_options += (adapter.mount_options.empty() ? "" : ",") + option;
  TRY(auto image, vm::guest_image(cache, adapter.guest));
  return SurveySubject{std::move(adapter), std::move(image)};
}

}  // namespace headcrash::campaign
