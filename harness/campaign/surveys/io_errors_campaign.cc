// Creates the survey's cells and runs them (io_errors_campaign.h).
#include "harness/campaign/surveys/io_errors_campaign.h"

#include <fmt/format.h>

#include <map>

#include "harness/campaign/surveys/io_errors_cell.h"
#include "harness/campaign/surveys/survey.h"

namespace headcrash::campaign {
namespace {

constexpr std::uint64_t kSeed = 2020;

}  // namespace

Result<CampaignOutcome> run_io_errors_campaign(const IoErrorsCampaign& campaign,
                                               const CampaignOptions& options) {
  TRY(const auto cells, io_error_cells(campaign, options.shard));
  std::map<std::string, SurveySubject> subjects;
  for (const IoErrorCell& cell : cells) {
    if (subjects.contains(cell.filesystem)) continue;
    TRY(auto subject, survey_subject(cell.filesystem, options.cache));
    subjects.emplace(cell.filesystem, std::move(subject));
  }
  Survey survey{.name = std::string(kIoErrorsName),
                .configuration = fmt::format("{} {} {} seed={}", kIoErrorsName, campaign.filesystem,
                                             campaign.failed, kSeed),
                .seed = kSeed,
                .guest_kernel = cells.empty() ? "" : subjects.begin()->second.image.kernel_version,
                .accelerator = vm::probe_accelerator(options.cache).accelerator};
  for (const IoErrorCell& cell : cells) {
    const SurveySubject& subject = subjects.at(cell.filesystem);
    const auto measure = [&, cell,
                          accelerator = survey.accelerator](const std::filesystem::path& scratch) {
      return measure_io_errors(cell, subject.adapter,
                               {.image = subject.image,
                                .accelerator = accelerator,
                                .cache = options.cache,
                                .scratch = scratch,
                                .seed = kSeed,
                                .interrupted = options.interrupted});
    };
    survey.cells.push_back({cell.key(), measure});
  }
  return run_survey(std::move(survey), options);
}

}  // namespace headcrash::campaign
