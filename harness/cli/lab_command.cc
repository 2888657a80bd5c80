// Guests for a command (lab_command.h).
#include "harness/cli/lab_command.h"

#include "harness/campaign/campaign.h"

namespace headcrash::cli {

Result<std::unique_ptr<lab::Lab>> start_lab(const adapters::LinuxAdapter& filesystem,
                                            std::uint64_t disk_bytes, std::size_t guests) {
  const std::filesystem::path cache = campaign::default_cache();
  const auto image = vm::guest_image(cache, filesystem.guest);
  if (!image) return pass_on(image);
  return lab::Lab::start(guests, {.image = *image,
                                  .accelerator = vm::probe_accelerator(cache).accelerator,
                                  .disk_bytes = disk_bytes,
                                  .cache = cache});
}

Result<std::unique_ptr<lab::Lab>> one_guest(const StoredTrial& trial, const OpenedState& opened) {
  const std::uint64_t sectors = opened.run->header().devices.at(opened.state.device).sectors;
  return start_lab(trial.filesystem, sectors * model::kSectorBytes, 1);
}

Result<lab::StateChecker> checker_of(const StoredTrial& trial, const OpenedState& opened) {
  auto workload = lab::open_recorded_workload(trial.recording);
  if (!workload) return pass_on(workload);
  if (opened.recovery_of.empty()) return lab::StateChecker::create(trial.filesystem, *workload, opened.run);
  auto run = states::RunHistory::load(trial.recording);
  if (!run) return pass_on(run);
  const auto before = states::parse_crash_state(opened.recovery_of);
  if (!before) return pass_on(before);
  auto checker = lab::StateChecker::create(trial.filesystem, *workload, *run);
  if (!checker) return pass_on(checker);
  lab::StateOutcome of;
  of.state = opened.recovery_of;
  of.persisted_operation = lab::persisted_before(**run, before->event);
  of.persisted_texts = lab::persisted_texts_before(**run, before->event);
  return checker->for_recovery(of, opened.run);
}

nlohmann::json findings_as_json(const std::vector<crash::Finding>& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const crash::Finding& finding : findings) {
    list.push_back({{"kind", crash::name(finding.kind)},
                    {"tier", crash::name(finding.tier)},
                    {"path", finding.path},
                    {"expected", finding.expected},
                    {"found", finding.found}});
  }
  return list;
}

}  // namespace headcrash::cli
