// The steps of a trial (trial.h).
//
// After each step, the trial either continues or ends with a verdict, such as a hang, an oops or an
// unmountable file system. An error in headcrash itself becomes the verdict harness-error, so that
// one bad trial never ends the campaign.
#include "harness/campaign/trial/trial.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "harness/campaign/surveys/uncut_work.h"
#include "harness/campaign/trial/recorded_run.h"
#include "harness/device/served_device.h"
#include "harness/explorer/guests/record_workload.h"
#include "harness/oracle/oracle.h"
#include "harness/run/guest_session.h"
#include "harness/run/phases.h"
#include "harness/run/recovery.h"
#include "harness/run/trial_machine.h"
#include "harness/workload/catalogue.h"
#include "plugin/base/stopwatch.h"
#include "plugin/base/wall_clock.h"
#include "plugin/model/core/simulation.h"

namespace headcrash::campaign {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kConsoleLines = 1000;
constexpr std::size_t kIoSampleMost = 2000;
constexpr std::size_t kFewPoints = 6;
constexpr std::size_t kOperationsToACompare = 2000;

double seconds_in_ns(std::int64_t seconds) {
  return static_cast<double>(seconds) * static_cast<double>(model::kSecondNs);
}

class TrialRun : private run::RecoveryGuest {
 public:
  TrialRun(const TrialPlan& plan, const TrialContext& context)
      : plan_(plan),
        context_(context),
        campaign_(*context.campaign),
        random_(plan.seed),
        recovery_(*plan.filesystem, *this) {}

  Result<db::TrialRecord> run();

 private:
  Result<void> start_device();
  Result<void> work_to_verdict();
  Result<void> start_guest(const std::string& phase);
  Result<void> format_and_mount();
  Result<void> begin_work();
  Result<void> work_until_cut();
  Result<void> await_cut();
  Result<void> work_to_the_end();
  void note(const json& message) {
    if (auto failure = run::failure_of(message, operations_)) failure_ = std::move(failure);
    const auto failed = run::failed_operation_of(message);
    if (failed && failed_operations_.size() < operations_.size())
      failed_operations_.push_back(*failed);
  }
  Result<void> power_cycle();
  Result<void> rest_until(double model_ns);
  Result<void> replay();
  Result<void> check();
  Result<void> inspect();
  void judge();
  void keep_judgement(const oracle::Judgement& judgement) {
    verdict_ = judgement.verdict;
    record_.verdict = oracle::name(judgement.verdict);
    record_.summary = judgement.summary;
  }
  Result<std::vector<oracle::Finding>> findings_in(std::optional<std::size_t> persisted) const;
  void keep_findings(const std::vector<oracle::Finding>& findings);
  void keep_artefacts();
  void end_guest();

  Result<run::GuestOutcome> exec(const std::vector<std::string>& argv) override;
  Result<run::Inspection> inspect(const adapters::LinuxAdapter& filesystem, bool again) override;
  Result<MountReplay> replay_by_mount(const adapters::LinuxAdapter& filesystem) override;
  void log(std::string_view text) override { recovery_log_ += text; }
  Result<bool> mount();
  Result<void> begin(const std::string& phase);
  Result<void> end(std::optional<int> exit_code = std::nullopt) { return phases_->end(exit_code); }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  void keep(const std::string& kind, const std::string& file_name);

  const TrialPlan& plan_;
  const TrialContext& context_;
  const Campaign& campaign_;
  std::mt19937_64 random_;
  db::TrialRecord record_;
  std::vector<workload::Operation> operations_;
  /// indices of the rests in `operations_`; used only if cut_after_unmount is set
  std::vector<std::size_t> rests_;
  std::vector<workload::FailedOperation> failed_operations_;
  std::optional<std::string> failure_;  ///< operation that failed and thereby ended the workload
  std::unique_ptr<device::ServedDevice> device_;
  std::unique_ptr<vm::Guest> guest_;
  std::unique_ptr<run::GuestSession> session_;
  std::optional<run::PhaseClock> phases_;
  run::Recovery recovery_;
  std::string recovery_log_;
  /// Judgement of the mounted tree before any power cut; set only if the tree was already wrong.
  std::optional<oracle::Judgement> early_judgement_;
  oracle::Verdict verdict_ = oracle::Verdict::harness_error;
  std::optional<Error> unusable_;
  std::optional<int> exit_code_;  // exit code of the last command
};

Result<db::TrialRecord> TrialRun::run() {
  const base::Stopwatch watch;
  record_.key = plan_.key;
  record_.filesystem = plan_.filesystem->name;
  record_.device = std::filesystem::path(plan_.profile).stem();
  record_.seed = static_cast<std::int64_t>(plan_.seed);
  record_.clock = campaign_.clock;
  record_.expected = adapters::name(plan_.filesystem->expected);
  if (plan_.filesystem->expected == adapters::Expectation::loss)
    record_.control = std::string(name(Control::lose));
  record_.started_at = base::now_utc();
  const workload::WorkloadRequest request{.name = campaign_.workload,
                                          .seed = plan_.seed,
                                          .rounds = static_cast<std::uint32_t>(campaign_.rounds),
                                          .trial = plan_.number,
                                          .fill_bytes = campaign_.fill_bytes};
  TRY(auto list, workload::make_workload(request));
  operations_ = std::move(list);
  if (campaign_.cut_after_unmount) {
    auto rested = with_rests(operations_, kOperationsToACompare);
    operations_ = std::move(rested.operations), rests_ = std::move(rested.rests);
  }
  record_.workload = campaign_.workload;
  recovery_log_ = fmt::format("workload {}\n", workload::numbered_name(request));
  record_.operations = static_cast<std::int64_t>(operations_.size());

  TRY(start_device());
  const Result<void> worked = work_to_verdict();
  if (context_.interrupted != nullptr && *context_.interrupted)
    return fail(plan_.key, "interrupted");
  if (unusable_) return tl::unexpected(*unusable_);
  if (!worked) {
    keep_judgement(oracle::judgement_of(worked.error()));
  } else if (early_judgement_) {
    keep_judgement(*early_judgement_);
  } else {
    judge();
  }
  keep_artefacts();
  record_.late = run::came_late(record_.phases);
  record_.wall_ms = watch.ms();
  return std::move(record_);
}

Result<void> TrialRun::start_device() {
  TRY(auto started, run::start_trial_machine(
                        {.disk = {.machine = {.profile = plan_.profile,
                                              .size_bytes = campaign_.size_bytes,
                                              .options = campaign_.device_options,
                                              .record = context_.artefacts / "recording.hcrec",
                                              .clock = campaign_.setup_clock,
                                              .seed = plan_.seed},
                                  .virtual_time = campaign_.virtual_time},
                         .log_profile = campaign_.log_profile},
                        *plan_.filesystem, context_.scratch));
  device_ = std::move(started);
  phases_.emplace(device_->control(), record_.phases);
  return {};
}

Result<void> TrialRun::work_to_verdict() {
  using Part = Result<void> (TrialRun::*)();
  const Part work =
      campaign_.cut_after_unmount ? &TrialRun::work_to_the_end : &TrialRun::work_until_cut;
  const Part parts[] = {&TrialRun::format_and_mount,
                        work,
                        &TrialRun::power_cycle,
                        &TrialRun::replay,
                        &TrialRun::check,
                        &TrialRun::inspect};
  TRY(start_guest("restore"));
  for (const Part part : parts) {
    if (context_.interrupted != nullptr && *context_.interrupted)
      return fail(ErrorKind::interrupted, "", "interrupted");
    TRY((this->*part)());
    if (early_judgement_) return {};
    if (const auto oops = guest_->oops())
      return run::stop(ErrorKind::guest_died, "the guest's kernel reported: " + *oops);
  }
  return {};
}

Result<void> TrialRun::begin(const std::string& phase) {
  if (context_.on_phase) context_.on_phase(phase);
  return phases_->begin(phase);
}

/// Restores a guest. Verifies that it sees the disk of this server and has no stale cached pages.
Result<void> TrialRun::start_guest(const std::string& phase) {
  TRY(begin(phase));
  session_.reset();
  guest_.reset();  // stop the old guest first, because both guests write to the same console log
  const std::uint64_t high = random_(), low = random_();
  auto started = run::start_trial_guest({.image = context_.image,
                                         .accelerator = context_.accelerator,
                                         .memory_mib = campaign_.memory_mib,
                                         .disk_bytes = campaign_.size_bytes,
                                         .step_timeout_s = campaign_.step_timeout_s,
                                         .seed = fmt::format("{:016x}{:016x}", high, low),
                                         .interrupted = context_.interrupted,
                                         .cache = context_.cache,
                                         .scratch = context_.scratch},
                                        *device_, *plan_.filesystem);
  // A trial without phases has not had any guest. If the first guest of a trial does not start, no
  // other trial can run either.
  if (!started && record_.phases.empty()) unusable_ = started.error();
  if (!started) return run::stop(ErrorKind::timeout, started.error().message());
  guest_ = std::move(started->guest);
  session_ = std::move(started->session);
  if (!started->met) return std::move(started->met);
  return end();
}

Result<run::GuestOutcome> TrialRun::exec(const std::vector<std::string>& argv) {
  Result<run::GuestOutcome> outcome =
      run::with_tool_remedy(session_->exec(argv), *plan_.filesystem);
  if (!outcome) return outcome;
  exit_code_ = outcome->exit_code;
  log(fmt::format("$ {}\n{}exit {}\n\n", fmt::join(argv, " "), outcome->output,
                  outcome->exit_code));
  return outcome;
}

/// Mounts the file system. Returns true on success. Logs the output of the mount command, or the
/// kernel's error.
Result<bool> TrialRun::mount() {
  std::string why;
  const Result<bool> mounted =
      run::with_tool_remedy(session_->mount(*plan_.filesystem, &why), *plan_.filesystem);
  if (mounted && !*mounted) log(fmt::format("$ mount\n{}\n\n", why));
  return mounted;
}

Result<void> TrialRun::format_and_mount() {
  TRY(begin("mkfs"));
  TRY(const auto made,
      exec(run::in_guest(plan_.filesystem->mkfs.argv, explorer::uuid_from(random_))));
  if (!plan_.filesystem->mkfs.good(made.exit_code)) {
    return run::stop(ErrorKind::other,
                     fmt::format("mkfs failed with exit code {}: {}", made.exit_code, made.output));
  }
  TRY(end(made.exit_code));
  TRY(const auto mounted, mount());
  if (!mounted)
    return run::stop(ErrorKind::other,
                     "the fresh file system could not be mounted:\n" + recovery_log_);
  return {};
}

/// Runs the workload until the power is cut. Chooses a persistence point at random from the middle
/// half of the workload, and cuts the power some time after this point. If the workload has only a
/// few persistence points, it was designed to test the last one, so the last one is chosen.
Result<void> TrialRun::work_until_cut() {
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < operations_.size(); ++i)
    if (workload::is_persistence_point(operations_[i])) points.push_back(i);
  const std::size_t point =
      points.size() < kFewPoints
          ? points.back()
          : points[points.size() / 4 + below(std::max<std::size_t>(points.size() / 2, 1))];
  const double span_ms = campaign_.cut_latest_ms - campaign_.cut_earliest_ms;
  const double delay_ms =
      campaign_.cut_earliest_ms + span_ms * static_cast<double>(below(1'000'000)) / 1e6;
  record_.cut = fmt::format("after-mark:{}+{:.6f}", workload::persisted_mark(point), delay_ms);

  TRY(device_->control().request({{"power", "cut"}, {"when", record_.cut}}));
  TRY(begin_work());
  TRY(guest_->send(run::run_request(operations_)));
  return await_cut();
}

Result<void> TrialRun::begin_work() {
  TRY(device_->set_clock(campaign_.clock));
  TRY(begin("workload"));
  for (const std::string& fault : campaign_.faults) {
    TRY(device_->control().request({{"fault", "add"}, {"spec", fault}}));
  }
  return {};
}

/// Runs the whole workload and cuts the power after the unmount. This shows whether an unmount
/// writes everything to the disk.
Result<void> TrialRun::work_to_the_end() {
  record_.cut = "after the unmount";
  TRY(begin_work());
  TRY(auto worked,
      work_and_compare(*session_, {.operations = operations_, .rests = rests_}, *plan_.filesystem));
  failed_operations_ = std::move(worked.failed_operations);
  if (!worked.findings.empty()) {
    keep_findings(worked.findings);
    const oracle::Judgement judgement = oracle::judge_trial({}, worked.findings);
    early_judgement_ = {judgement.verdict,
                        fmt::format("while it was mounted, after {} operations: {}",
                                    worked.operations, judgement.summary)};
    return {};
  }
  TRY(session_->unmount());
  TRY(device_->control().request({{"power", "cut"}}));
  return end();
}

Result<void> TrialRun::await_cut() {
  const auto deadline = steady_clock::now() + std::chrono::seconds(campaign_.step_timeout_s);
  while (true) {
    const auto message = guest_->receive(milliseconds(20));
    TRY(const auto status, device_->control().request({{"power", "status"}}));
    if (message) note(*message);
    if (status.value("power", "") == "off") break;
    if (message && message->contains("ok")) {
      if (failure_) return run::stop(ErrorKind::workload, *failure_);
      if (!message->value("ok", false) ||
          message->value("done", std::size_t{0}) < operations_.size()) {
        return run::stop(ErrorKind::refused,
                         "the workload failed before the cut: " + message->dump());
      }
      record_.cut = "at the end of the workload";
      TRY(device_->control().request({{"power", "cut"}}));
      break;
    }
    if (const auto oops = guest_->oops())
      return run::stop(ErrorKind::guest_died, "the guest's kernel reported: " + *oops);
    if (guest_->malformed()) return tl::unexpected(*guest_->malformed());
    if (!guest_->alive()) return fail(ErrorKind::guest_died, "", "the guest died before the cut");
    if (context_.interrupted != nullptr && *context_.interrupted)
      return fail(ErrorKind::interrupted, "", "interrupted");
    if (steady_clock::now() > deadline) {
      return fail(
          ErrorKind::timeout, "",
          fmt::format("the workload did not reach the cut within {} s", campaign_.step_timeout_s));
    }
  }
  while (const auto message = guest_->receive(milliseconds(0)))
    note(*message);  // events that arrived before the cut and have not been processed
  return end();
}

/// Waits until the model's clock reaches `model_ns`.
Result<void> TrialRun::rest_until(double model_ns) {
  constexpr milliseconds kPoll{50};
  const auto deadline = steady_clock::now() + std::chrono::seconds(campaign_.step_timeout_s);
  while (true) {
    TRY(const auto stats, device_->control().request({{"stats", "read"}}));
    if (stats.value("model_ns", 0.) >= model_ns) return {};
    if (context_.interrupted != nullptr && *context_.interrupted)
      return fail(ErrorKind::interrupted, "", "interrupted");
    if (steady_clock::now() > deadline)
      return fail(
          ErrorKind::other, "",
          fmt::format(
              "the pause that cut.start-s sets took longer than the limit of {} s for a step",
              campaign_.step_timeout_s));
    std::this_thread::sleep_for(kPoll);
  }
}

/// Cuts the guest's power, powers the disk on again, and starts a fresh guest.
Result<void> TrialRun::power_cycle() {
  TRY(begin("cut"));
  guest_->kill();
  TRY(const auto on, device_->control().request({{"power", "on"}}));
  if (campaign_.start_s > 0)
    TRY(rest_until(on.value("at_ns", 0.) + seconds_in_ns(campaign_.start_s)));
  TRY(end());
  recovery_log_ += "== recovery\n";
  return start_guest("restore");
}

Result<void> TrialRun::replay() {
  TRY(begin("replay"));
  exit_code_.reset();
  TRY(recovery_.replay());
  return end(exit_code_);
}

Result<void> TrialRun::check() {
  TRY(begin("fsck"));
  TRY(recovery_.check());
  const auto exit_code = exit_code_;
  TRY(recovery_.repair());
  return end(exit_code);
}

Result<void> TrialRun::inspect() {
  TRY(begin("mount"));
  if (const Result<void> looked = recovery_.inspect(); !looked || !recovery_.state().mounted)
    return looked;
  TRY(recovery_.recover_again());
  return end();
}

/// Mounts the file system to replay its log, and measures the time that this takes. The tree is
/// judged after a later mount.
Result<run::RecoveryGuest::MountReplay> TrialRun::replay_by_mount(const adapters::LinuxAdapter&) {
  MountReplay seen;
  TRY(session_->kernel_log());
  TRY(const auto mounted, mount());
  seen.cycle.mounted = mounted;
  exit_code_ = mounted ? 0 : 1;
  if (mounted) {
    TRY(session_->unmount());
  }
  TRY(auto kernel, session_->kernel_log());
  seen.log = std::move(kernel);
  return seen;
}

/// Inspects the file system. The phase "mount" contains only the first mount, because only that
/// mount delays a user after a crash. All other steps are in the phase "verify".
Result<run::Inspection> TrialRun::inspect(const adapters::LinuxAdapter& filesystem, bool again) {
  const auto after_mount = [this](bool mounted) -> Result<void> {
    if (const Result<void> ended = end(mounted ? 0 : 1); !ended || !mounted) return ended;
    return begin("verify");
  };
  return run::with_tool_remedy(session_->inspect_in_steps(filesystem, again, after_mount),
                               *plan_.filesystem);
}

/// Stops the server, and then judges the tree. The recording is complete only after the server has
/// stopped, and the marks before the cut are read from the recording.
void TrialRun::judge() {
  const auto not_judged = [&](const Error& error) {
    keep_judgement({oracle::Verdict::harness_error, error.message()});
  };
  end_guest();  // nbdkit exits only after the guest has disconnected
  if (const auto stopped = device_->stop(); !stopped) return not_judged(stopped.error());
  Result<RecordedRun> recorded =
      read_recorded_run(context_.artefacts / "recording.hcrec", kIoSampleMost);
  if (!recorded) return not_judged(recorded.error());
  record_.cut_at_ns = recorded->cut_at_ns;
  if (campaign_.cut_after_unmount) {
    record_.persisted_operation = static_cast<std::int64_t>(operations_.size()) - 1;
  } else if (recorded->persisted_operation) {
    record_.persisted_operation = static_cast<std::int64_t>(*recorded->persisted_operation);
    record_.after_persistence_ns = *recorded->cut_at_ns - *recorded->persisted_at_ns;
  }
  record_.devices = std::move(recorded->devices);
  record_.incidents = std::move(recorded->incidents);
  record_.io = std::move(recorded->io);

  const auto findings = findings_in(recorded->persisted_operation);
  if (!findings) return not_judged(findings.error());
  keep_findings(*findings);
  keep_judgement(recovery_.judge(*findings));
}

Result<std::vector<oracle::Finding>> TrialRun::findings_in(
    std::optional<std::size_t> persisted) const {
  if (!recovery_.state().mounted) return std::vector<oracle::Finding>();
  if (campaign_.cut_after_unmount)
    return differences(operations_, failed_operations_, *plan_.filesystem, recovery_.tree());
  TRY(const auto oracle,
      oracle::Oracle::follow(operations_, {.promises = plan_.filesystem->promises,
                                           .failed_operations = failed_operations_}));
  return oracle.judge(persisted, recovery_.tree());
}

void TrialRun::keep_findings(const std::vector<oracle::Finding>& findings) {
  for (const oracle::Finding& finding : findings) {
    record_.findings.push_back({std::string(oracle::name(finding.kind)),
                                std::string(oracle::name(finding.tier)), finding.path,
                                finding.expected, finding.found});
  }
}

void TrialRun::keep(const std::string& kind, const std::string& file_name) {
  const std::filesystem::path path = context_.artefacts / file_name;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) return;
  record_.artefacts.push_back({kind,
                               std::filesystem::relative(path, context_.database_folder, error),
                               static_cast<std::int64_t>(bytes)});
}

void TrialRun::end_guest() {
  if (!guest_) return;
  std::ofstream(context_.artefacts / "console.txt") << guest_->console_tail(kConsoleLines);
  session_.reset();
  guest_.reset();
}

void TrialRun::keep_artefacts() {
  std::ofstream(context_.artefacts / "recovery.txt") << recovery_log_;
  end_guest();
  device_.reset();
  std::error_code ignored;
  // Remove the recording of a clean trial, because it is long and is not needed for exploring crash
  // states.
  if (campaign_.cut_after_unmount && verdict_ == oracle::Verdict::clean)
    std::filesystem::remove(context_.artefacts / "recording.hcrec", ignored);
  keep("recording", "recording.hcrec");
  keep("fsck-output", "recovery.txt");
  keep("console", "console.txt");
}

}  // namespace

Result<db::TrialRecord> run_trial(const TrialPlan& plan, const TrialContext& context) {
  return TrialRun(plan, context).run();
}

}  // namespace headcrash::campaign
