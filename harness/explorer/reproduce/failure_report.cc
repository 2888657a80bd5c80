// Minimises, confirms and describes a failure with guests (failure_report.h, minimise.h).
#include "harness/explorer/reproduce/failure_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/explorer/explain/failure_text.h"
#include "harness/explorer/explain/lost_writes.h"
#include "harness/explorer/reproduce/minimise.h"
#include "plugin/base/stopwatch.h"
#include "plugin/record/recording.h"

namespace headcrash::explorer {
namespace {

namespace fs = std::filesystem;
using states::CrashState;
using std::chrono::steady_clock;

struct Failing {
  RecordedWorkload workload;
  std::shared_ptr<const states::RunHistory> run;
  std::optional<StateChecker> checker;
  CrashState state;
  StateOutcome outcome;
};

/// Returns the path relative to the current directory if possible, otherwise the absolute path.
std::string as_typed(const fs::path& path) {
  std::error_code ignored;
  const std::string near = fs::proximate(path, ignored).string();
  return near.empty() || near.starts_with("..") ? path.string() : near;
}

class FailureReporter {
 public:
  FailureReporter(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                  const RecordedWorkload& workload, const ConfirmedFailure& failure,
                  const ReportOptions& options)
      : guest_(guest),
        filesystem_(filesystem),
        workload_(workload),
        failure_(failure),
        options_(options),
        kind_(kind_of(failure.outcome.judgement, failure.outcome.findings)),
        deadline_(steady_clock::now() + options.limit) {}

  Result<FailureReport> run();

 private:
  Result<void> load();
  Result<void> make_writes_of_physical();
  void minimise_lost_writes(Failing& failing);
  void minimise_operations();
  bool fails_too(const std::vector<workload::Operation>& operations);
  bool confirm(Failing& failing);
  /// Returns true if the state fails in the same way as the original state. If the check before the
  /// mount finds damage only in this state, returns false, because this failure is different and
  /// milder.
  bool same(const StateOutcome& outcome) const {
    return fails_like(kind_, outcome.judgement, outcome.findings) &&
           (failure_.outcome.recovery.check_found_damage || !outcome.recovery.check_found_damage);
  }
  bool out_of_time(steady_clock::time_point deadline) const {
    return steady_clock::now() > deadline ||
           (options_.interrupted != nullptr && *options_.interrupted);
  }
  std::string replay_command(const CrashState& state) const {
    const std::string of = failure_.outcome.recovery_of;
    return fmt::format("{} --state {}{}", options_.replay, of.empty() ? "" : of + "/",
                       states::format(state));
  }

  StageGuest& guest_;
  const adapters::LinuxAdapter& filesystem_;
  const RecordedWorkload& workload_;
  const ConfirmedFailure& failure_;
  const ReportOptions& options_;
  FailureKind kind_;
  steady_clock::time_point deadline_;
  Failing here_;                    // the failing state in the original recording
  std::optional<Failing> smaller_;  // the shortest failing workload that was found
  std::size_t recorded_ = 0;
  std::vector<std::string> notes_;
};

Result<void> FailureReporter::load() {
  const StateOutcome& outcome = failure_.outcome;
  here_.workload = workload_;
  here_.outcome = outcome;
  TRY(auto state, states::parse_crash_state(outcome.state));
  here_.state = std::move(state);
  const bool of_recovery = !outcome.recovery_of.empty();
  TRY(auto run, states::RunHistory::load(workload_.recording));
  here_.run = std::move(run);
  TRY(auto checker, StateChecker::create(filesystem_, workload_, here_.run));
  here_.checker = std::move(checker);
  if (!of_recovery) return {};
  here_.workload.recording = outcome.recording;
  TRY(auto recovery, states::RunHistory::load(outcome.recording));
  here_.run = std::move(recovery);
  const StateOutcome before{.state = outcome.recovery_of,
                            .persisted_operation = outcome.persisted_operation};
  here_.checker = here_.checker->for_recovery(before, here_.run);
  return {};
}

/// Replaces a physical state with an equivalent state that lists lost writes, because only such a
/// state can be minimised.
Result<void> FailureReporter::make_writes_of_physical() {
  if (here_.state.base != CrashState::Base::physical || here_.run->header().of_array()) return {};
  TRY(const auto writes, as_lost_writes(*here_.run, here_.state));
  if (!writes) return {};
  notes_.push_back(
      fmt::format("The content of the medium equals state {}, which this report "
                  "describes.",
                  states::format(*writes)));
  here_.state = *writes;
  return {};
}

void FailureReporter::minimise_lost_writes(Failing& failing) {
  if (failing.state.base != CrashState::Base::writes || options_.state_checks == 0) return;
  const auto half = steady_clock::now() + (deadline_ - steady_clock::now()) / 2;
  const MinimisedState small = minimise_state(
      failing.state, unflushed_requests(*failing.run, failing.state),
      [&](const CrashState& state) {
        StateOutcome outcome = failing.checker->check(guest_, state, {});
        if (!same(outcome)) return false;
        failing.outcome = std::move(outcome);
        return true;
      },
      {.checks = options_.state_checks, .out_of_time = [&] { return out_of_time(half); }});
  failing.state = small.state;
  notes_.push_back(fmt::format(
      "Lost or torn writes minimised from {} to {} ({}; states checked: {}).", small.lost_before,
      small.lost, small.minimal ? "minimal" : "the time limit was reached", small.checks));
}

/// Records the operations. Then searches for a state that fails in the same way, with the strategy
/// that found the original failure.
bool FailureReporter::fails_too(const std::vector<workload::Operation>& operations) {
  const fs::path recording =
      options_.recordings /
      fmt::format("smaller-{:016x}-{}.hcrec", failure_.outcome.digest, ++recorded_);
  std::error_code ignored;
  const auto discard = [&](const fs::path& path) {
    fs::remove(path, ignored);
    fs::remove(operations_file(path), ignored);
    fs::remove(issuers_file(path), ignored);
  };
  auto recorded = options_.record(guest_, operations, recording);
  if (!recorded) {
    discard(recording);
    return false;
  }
  Failing failing{.workload = std::move(*recorded)};
  const auto run = states::RunHistory::load(recording);
  auto checker = run ? StateChecker::create(filesystem_, failing.workload, *run)
                     : Result<StateChecker>(tl::unexpected(run.error()));
  if (checker) {
    failing.run = *run;
    failing.checker = std::move(*checker);
    auto explorer =
        states::StateEnumerator::create(failing.run, {.strategies = {failure_.outcome.strategy},
                                                      .all_disks = filesystem_.has_several_disks(),
                                                      .budget = options_.states_per_workload,
                                                      .from_event = failing.workload.from_event,
                                                      .to_event = failing.workload.to_event});
    while (explorer && !out_of_time(deadline_)) {
      const auto found = explorer->next();
      if (!found || !*found) break;
      failing.outcome = failing.checker->check(guest_, (*found)->state, {});
      if (!same(failing.outcome)) continue;
      failing.state = (*found)->state;
      if (smaller_) discard(smaller_->workload.recording);
      smaller_ = std::move(failing);
      return true;
    }
  }
  discard(recording);
  return false;
}

void FailureReporter::minimise_operations() {
  const bool of_recovery = failure_.outcome.strategy == states::Strategy::recovery;
  if (!options_.record || of_recovery || workload_.operations.empty() ||
      !failure_.outcome.recovery_of.empty())
    return;
  // Includes the first unreported persistence point, because it may have begun before the cut.
  // Later operations cannot have begun.
  std::size_t end =
      failure_.outcome.persisted_operation ? *failure_.outcome.persisted_operation + 1 : 0;
  while (end < workload_.operations.size() &&
         !workload::is_persistence_point(workload_.operations[end]))
    ++end;
  end = std::min(end + 1, workload_.operations.size());
  const std::vector<workload::Operation> begun(
      workload_.operations.begin(),
      workload_.operations.begin() + static_cast<std::ptrdiff_t>(end));
  const MinimisedWorkload small = minimise_workload(
      begun, [&](const auto& operations) { return fails_too(operations); },
      {.checks = options_.workload_checks, .out_of_time = [&] { return out_of_time(deadline_); }});
  if (!smaller_) {
    notes_.push_back(
        fmt::format("No shorter workload failed in the same way ({}; workloads recorded: {}).",
                    small.minimal ? "all were tried" : "the time limit was reached", small.checks));
    return;
  }
  notes_.push_back(fmt::format("Operations minimised from {} to {} ({}; workloads recorded: {}).",
                               workload_.operations.size(), smaller_->workload.operations.size(),
                               small.minimal ? "minimal" : "the time limit was reached",
                               small.checks));
}

/// Checks the failure again on a fresh guest, with every step in the guest.
bool FailureReporter::confirm(Failing& failing) {
  StateOutcome outcome =
      failing.checker->check(guest_, failing.state, {.wholly_in_guest = true, .fresh_guest = true});
  if (!same(outcome)) return false;
  failing.outcome = std::move(outcome);
  return true;
}

Result<FailureReport> FailureReporter::run() {
  TRY(load());
  const Failing original = here_;
  const base::Stopwatch minimising;
  if (failure_.confirmed) {
    TRY(make_writes_of_physical());
    minimise_lost_writes(here_);
    if (here_.state == original.state) {
      notes_.push_back("Reproduced on a fresh guest, with the complete recovery in the guest.");
    } else if (confirm(here_)) {
      notes_.push_back(
          "Reproduced as described on a fresh guest, with the complete recovery in the guest.");
    } else {
      here_ = original;
      notes_.push_back(
          "The smaller state did not fail on a fresh guest, so this report describes the "
          "original state.");
    }
    minimise_operations();
    if (smaller_) {
      minimise_lost_writes(*smaller_);
      if (!confirm(*smaller_)) {
        smaller_.reset();
        notes_.push_back(
            "The smaller workload did not fail on a fresh guest, so this report describes the "
            "original workload.");
      }
    }
  } else {
    notes_.push_back("NOT CONFIRMED on a fresh guest (" + failure_.disagreement +
                     "): this is a bug in headcrash, not in the file system.");
  }

  const double minimise_ms = minimising.ms();
  Failing& reported = smaller_ ? *smaller_ : here_;
  FailureReport report{
      .confirmed = failure_.confirmed,
      .disagreement = failure_.disagreement,
      .tier = std::string(oracle::name(kind_.tier.value_or(oracle::Tier::integrity))),
      .minimised_state = states::format(here_.state),
      .replay = replay_command(here_.state),
      .minimise_ms = minimise_ms};
  for (const workload::Operation& operation : reported.workload.operations)
    report.operations += workload::format(operation) + "\n";
  std::vector<std::string> commands{report.replay};
  if (smaller_) {
    report.recording = smaller_->workload.recording;
    report.recording_state = states::format(smaller_->state);
    commands.push_back(fmt::format("headcrash replay {} --fs {}{} --state {}",
                                   as_typed(*report.recording),
                                   as_typed(adapters::name_to_load(filesystem_)),
                                   guest_.machine().as_options(), report.recording_state));
  }
  TRY(auto account, failure_text({.filesystem = &filesystem_,
                                  .workload = &reported.workload,
                                  .run = reported.run.get(),
                                  .state = reported.state,
                                  .outcome = &reported.outcome,
                                  .kind = kind_,
                                  .faults = guest_.machine().faults_in_recovery(),
                                  .notes = notes_,
                                  .replay = commands}));
  report.account = std::move(account);
  return report;
}

}  // namespace

Result<Recorder> recorder_like(const adapters::LinuxAdapter& filesystem,
                               const RecordedWorkload& workload, const DiskOptions& options) {
  TRY(const auto reader, record::RecordingReader::open(workload.recording));
  if (!reader.header().base) return Recorder();
  const FormattedDisk disk{workload.recording.parent_path() / reader.header().base->recording,
                           reader.header().base->state, options};
  return [&filesystem, disk](StageGuest& guest, const std::vector<workload::Operation>& operations,
                             const fs::path& recording) {
    return record_workload(guest, filesystem, disk, operations, recording);
  };
}

std::vector<std::size_t> first_of_each_kind(const std::vector<ConfirmedFailure>& failures) {
  std::vector<std::size_t> firsts;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const StateOutcome& outcome = failures[i].outcome;
    if (failures[i].confirmed &&
        seen.insert(format(kind_of(outcome.judgement, outcome.findings))).second)
      firsts.push_back(i);
  }
  return firsts;
}

Result<FailureReport> report_failure(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                     const RecordedWorkload& workload,
                                     const ConfirmedFailure& failure,
                                     const ReportOptions& options) {
  return FailureReporter(guest, filesystem, workload, failure, options).run();
}

}  // namespace headcrash::explorer
