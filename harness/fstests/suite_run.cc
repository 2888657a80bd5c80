// Records a test in a guest and explores its mount periods (suite_run.h).
#include "harness/fstests/suite_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <sstream>

#include "headcrash_fstests_embedded.h"
#include "plugin/base/stopwatch.h"

namespace headcrash::fstests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunner = "run.sh";
constexpr const char* kResultFile = "result.txt";
constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Minimum number of states for an explored mount period.
constexpr std::uint64_t kStatesOfPeriod = 6;
constexpr std::size_t kReasonBytesMost = 200;
/// The power returns after this time, so that the change times of a recovery differ from those of a
/// test (DurableTree).
constexpr std::chrono::hours kRecoveryLater{24};

workload::Application application_of(const Suite& suite, const SuiteRun& run) {
  workload::Application application{.name = "fstests", .title = run.test, .report = kResultFile};
  for (const auto& file : embedded_files())
    application.files[std::string(file.name)] = std::string(file.text);
  application.rootfs = run.image;
  application.environment = {std::string("PATH=") + kPath, "HOME=/root", "LANG=C.UTF-8"};
  workload::Command command{
      .words = {"/bin/sh", fmt::format("/.headcrash/files/{}", kRunner), run.type,
                std::to_string(run.test_device_bytes), std::string(run::kStageDisk),
                std::string(run::kStageMarks), suite.check},
      .shell = false};
  command.words.insert(command.words.end(), run.more_arguments.begin(), run.more_arguments.end());
  command.words.push_back(run.test);
  application.run = {std::move(command)};
  return application;
}

/// Returns the tree at the end of a period. If the state at the end is not usable, returns the
/// reason instead.
struct EndOfPeriod {
  std::vector<oracle::ObservedObject> tree;
  DurableTree::End kind = DurableTree::End::complete;
  std::string problem;
};

Result<EndOfPeriod> end_of_period(explorer::StageGuest& guest,
                                  const adapters::LinuxAdapter& filesystem,
                                  explorer::RecordedWorkload workload,
                                  const std::shared_ptr<const states::RunHistory>& run,
                                  const MountPeriod& period) {
  EndOfPeriod end;
  workload.judge = [&](std::optional<std::size_t>, const auto& tree) {
    end.tree = tree;
    return std::vector<oracle::Finding>();
  };
  TRY(const auto checker, explorer::StateChecker::create(filesystem, workload, run));
  const states::CrashState state{.device = 0, .event = period.to};
  const explorer::StateOutcome outcome = checker.check(guest, state, {});
  if (explorer::is_failure(outcome)) end.problem = outcome.judgement.summary;
  // A clean unmount leaves no log to replay, so a replayed log shows that the test cut the
  // power.
  if (period.drops_writes || outcome.recovery.replayed) end.kind = DurableTree::End::older;
  return end;
}

class PeriodExplorer {
 public:
  PeriodExplorer(const std::vector<explorer::StageGuest*>& guests,
                 const adapters::LinuxAdapter& filesystem,
                 std::shared_ptr<const states::RunHistory> run, const CrashOptions& options)
      : guests_(guests), filesystem_(filesystem), run_(std::move(run)), options_(options) {}

  Result<void> explore(const MountPeriod& period, std::uint64_t budget, CrashOutcome& outcome);
  bool out_of_time() const {
    return options_.limit.count() > 0 && seconds_left() == std::chrono::seconds(0);
  }

 private:
  std::chrono::seconds seconds_left() const {
    const std::chrono::seconds spent(static_cast<std::int64_t>(watch_.ms() / 1000));
    return std::max(options_.limit - spent, std::chrono::seconds(0));
  }

  const std::vector<explorer::StageGuest*>& guests_;
  const adapters::LinuxAdapter& filesystem_;
  std::shared_ptr<const states::RunHistory> run_;
  const CrashOptions& options_;
  const base::Stopwatch watch_;
};

Result<void> PeriodExplorer::explore(const MountPeriod& period, std::uint64_t budget,
                                     CrashOutcome& outcome) {
  explorer::RecordedWorkload workload{.recording = run_->path(),
                                      .operations = {},
                                      .application = std::nullopt,
                                      .from_event = period.from,
                                      .to_event = period.to};
  adapters::LinuxAdapter filesystem = filesystem_;
  if (!period.mount_options.empty())
    filesystem.mount_options +=
        (filesystem.mount_options.empty() ? "" : ",") + period.mount_options;
  TRY(auto end, end_of_period(*guests_.front(), filesystem, workload, run_, period));
  if (!end.problem.empty()) {
    outcome.skipped.push_back({period, std::move(end.problem)});
    return {};
  }
  const DurableTree durable(std::move(end.tree), filesystem.type, end.kind);
  const auto newest = explorer::persisted_before(*run_, period.to);
  const auto before_us = [&](std::optional<std::size_t> synced) {
    return std::max<std::uint64_t>(period.durable_before_us, synced.value_or(0));
  };
  if (durable.durable_objects(before_us(newest)) > 0) ++outcome.with_durable_objects;
  workload.judge = [&](std::optional<std::size_t> synced, const auto& tree) {
    return durable.judge(before_us(synced), tree);
  };
  const explorer::ExplorationOptions options{
      .explore = {.strategies = options_.strategies, .seed = options_.seed, .budget = budget},
      .in_guest_share = 0,
      .failures_confirmed = 1,
      .limit = seconds_left(),
      .interrupted = options_.interrupted,
      .on_state = {}};
  TRY(auto result, explorer::explore(guests_, filesystem, workload, options));
  ++outcome.explored;
  outcome.states += result.checked;
  outcome.failing += result.checked - result.clean;
  std::ranges::move(result.failures, std::back_inserter(outcome.failures));
  return {};
}

/// Chooses at most `most` periods, spread evenly over the list.
std::vector<MountPeriod> chosen_periods(std::vector<MountPeriod> periods, std::size_t most) {
  if (periods.size() <= most) return periods;
  std::vector<MountPeriod> chosen;
  for (std::size_t i = 0; i < most; ++i)
    chosen.push_back(periods[i * (periods.size() - 1) / std::max<std::size_t>(most - 1, 1)]);
  return chosen;
}

}  // namespace

std::string_view name(SuiteVerdict verdict) {
  constexpr std::array<std::string_view, 3> kNames{"passed", "failed", "not run"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::string SuiteOutcome::reason() const {
  if (verdict == SuiteVerdict::passed) return {};
  constexpr std::string_view kNotRun = "[not run]";
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t not_run = line.find(kNotRun);
    if (verdict == SuiteVerdict::not_run && not_run != std::string::npos)
      return line.substr(std::min(not_run + kNotRun.size() + 1, line.size()));
    for (const char* sign : {"[failed", "- output mismatch", "_check_"})
      if (verdict == SuiteVerdict::failed && line.find(sign) != std::string::npos)
        return line.substr(line.find(sign), kReasonBytesMost);
  }
  return output.substr(0, std::min(output.find('\n'), kReasonBytesMost));
}

SuiteOutcome parse_result(const std::string& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view word = std::string_view(text).substr(0, end);
  SuiteOutcome outcome{.verdict = word == "passed"    ? SuiteVerdict::passed
                                  : word == "not run" ? SuiteVerdict::not_run
                                                      : SuiteVerdict::failed,
                       .output = text.substr(std::min(end + 1, text.size())),
                       .recording = {}};
  return outcome;
}

Result<SuiteOutcome> run_test(explorer::StageGuest& guest, const Suite& suite, const SuiteRun& run,
                              const fs::path& recording) {
  auto recorded =
      explorer::record_unformatted(guest, application_of(suite, run), recording, run.disk);
  if (!recorded && recorded.error().kind == ErrorKind::timeout)
    return SuiteOutcome{
        .verdict = SuiteVerdict::failed, .output = recorded.error().message(), .recording = {}};
  if (!recorded) return forward_error(recorded);
  SuiteOutcome outcome = recorded->failure
                             ? SuiteOutcome{.output = *recorded->failure, .recording = {}}
                             : parse_result(recorded->report);
  outcome.recording = recording;
  return outcome;
}

Result<CrashOutcome> explore_periods(const std::vector<explorer::StageGuest*>& guests,
                                     const adapters::LinuxAdapter& filesystem,
                                     const fs::path& recording, const CrashOptions& options) {
  const base::Stopwatch watch;
  TRY(const auto run, states::RunHistory::load(recording));
  CrashOutcome outcome;
  for (explorer::StageGuest* guest : guests) {
    TRY(guest->set_clock_ahead(kRecoveryLater));
  }
  const auto periods = mount_periods(*run);
  outcome.periods = periods.size();
  const auto chosen =
      chosen_periods(periods, std::max<std::size_t>(options.states / kStatesOfPeriod, 1));
  PeriodExplorer explorer(guests, filesystem, run, options);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (options.interrupted != nullptr && *options.interrupted) break;
    outcome.out_of_time = explorer.out_of_time();
    if (outcome.out_of_time) break;
    const std::uint64_t left = options.states - std::min(outcome.states, options.states);
    TRY(explorer.explore(chosen[i], std::max<std::uint64_t>(left / (chosen.size() - i), 1),
                         outcome));
  }
  outcome.seconds = watch.ms() / 1000;
  return outcome;
}

}  // namespace headcrash::fstests
