#include "harness/campaign/surveys/survey_cell.h"

#include "harness/explorer/guests/record_workload.h"
#include "harness/run/trial_machine.h"

namespace headcrash::campaign {
namespace {

// The smallest disk that mkfs.xfs accepts. All file systems use this size, so that they share one
// saved guest.
constexpr std::uint64_t kDriveBytes = 320ULL << 20;

}  // namespace

Result<void> SurveyCellRun::start_drive() {
  TRY(auto started, device::ServedDevice::start({.machine = {.profile = kSurveyDrive,
                                                             .size_bytes = kDriveBytes,
                                                             .options = {.write_cache = true},
                                                             .record = recording(),
                                                             .clock = profiles::kClockOff,
                                                             .seed = context_.seed}},
                                                context_.scratch));
  device_ = std::move(started);
  return {};
}

Result<void> SurveyCellRun::end_guest_and_drive() {
  session_.reset();
  guest_.reset();
  return device_->stop();
}

Result<void> SurveyCellRun::control(const nlohmann::json& request) {
  const auto done = device_->control().request(request);
  if (!done) return run::stop(ErrorKind::other, request.dump() + ": " + done.error().message());
  return {};
}

Result<void> SurveyCellRun::start_guest() {
  session_.reset();
  guest_.reset();  // stop the old guest first, because both guests write to the same console log
  TRY(auto started, run::start_trial_guest({.image = context_.image,
                                            .accelerator = context_.accelerator,
                                            .disk_bytes = kDriveBytes,
                                            .step_timeout_s = step_timeout_s_,
                                            .seed = run::seed_digits(random_()),
                                            .interrupted = context_.interrupted,
                                            .cache = context_.cache,
                                            .scratch = context_.scratch},
                                           *device_, filesystem_));
  guest_ = std::move(started.guest);
  session_ = std::move(started.session);
  return std::move(started.met);
}

Result<void> SurveyCellRun::make_file_system() {
  TRY(const auto made,
      session_->exec(run::in_guest(filesystem_.mkfs.argv, explorer::uuid_from(random_))));
  if (!filesystem_.mkfs.good(made.exit_code))
    return run::stop(ErrorKind::other, "mkfs failed: " + made.output);
  return {};
}

Result<void> SurveyCellRun::mount_fresh() {
  std::string why;
  TRY(const auto mounted, session_->mount(filesystem_, &why));
  if (!mounted)
    return run::stop(ErrorKind::other, "the new file system could not be mounted: " + why);
  return {};
}

}  // namespace headcrash::campaign
