// Runs the workload again and checks the states that have the same names as the failed ones
// (confirm.h).
#include "harness/explorer/in_process/confirm.h"

#include <fmt/format.h>

#include "harness/explorer/in_process/persistence_points.h"
#include "harness/explorer/reproduce/minimise.h"

namespace headcrash::in_process {
namespace {

constexpr std::size_t kMinimisingChecks = 200;

class SecondRun {
 public:
  SecondRun(const FormattedDisk& formatted, const adapters::SystemUnderTest& system)
      : formatted_(formatted), system_(system), disk_(formatted), fsck_(system.type().checker()) {}

  Result<void> record(std::span<const workload::Operation> operations, const RunOptions& options,
                      const std::filesystem::path& recording) {
    TRY(auto recorded, record_run(formatted_, disk_, system_, operations, options, recording));
    recorded_ = std::move(recorded);
    if (recorded_.failure)
      return fail(recording.string(), "the repeated run failed: " + *recorded_.failure);
    TRY(run_, states::RunHistory::load(recording, formatted_.history));
    TRY(disk_.begin_run(run_));
    TRY(auto checker, StateChecker::create(system_, disk_, *fsck_, recorded_.judged(operations),
                                           recorded_.failed_operations));
    checker_.emplace(std::move(checker));
    points_.emplace(*run_);
    return {};
  }

  void confirm(ExploredState& failure) {
    const auto state = states::parse_crash_state(failure.state);
    const auto image = state ? run_->image(*state, 0) : forward_error(state);
    const auto digest = image ? image->digest() : forward_error(image);
    if (!digest) {
      failure.disagreement = "the repeated run has no such state: " + digest.error().message();
    } else if (*digest != failure.digest) {
      failure.disagreement = "the state has different bytes in the repeated run";
    } else {
      failure.disagreement = difference(check(*state), failure.outcome);
    }
    failure.confirmed = failure.disagreement.empty();
  }

  void minimise(ExploredState& failure) {
    const auto state = states::parse_crash_state(failure.state);
    if (!state) return;
    std::vector<model::RequestId> unflushed;
    for (const std::size_t write : run_->unflushed_at(0, state->event, state->lies_from))
      unflushed.push_back(run_->writes(0)[write].request);
    const auto kind = explorer::kind_of(failure.outcome.judgement, failure.outcome.findings);
    const auto still_fails = [&](const states::CrashState& fewer) {
      if (!recorded_.rules.allow(fewer)) return false;
      const StateOutcome outcome = check(fewer);
      return explorer::fails_like(kind, outcome.judgement, outcome.findings);
    };
    const auto minimised =
        explorer::minimise_state(*state, unflushed, still_fails, {.checks = kMinimisingChecks});
    failure.minimised_state = states::format(minimised.state);
  }

 private:
  StateOutcome check(const states::CrashState& state) {
    disk_.show(state);
    StepTimes times = {};
    const StateFacts facts = facts_of(recorded_, *points_, state);
    StateOutcome outcome = checker_->check(facts, CheckMode::plain, times);
    checker_->judge_later_life(facts, outcome);
    return outcome;
  }

  const FormattedDisk& formatted_;
  const adapters::SystemUnderTest& system_;
  StateDisk disk_;
  std::unique_ptr<adapters::ImageChecker> fsck_;
  RecordedRun recorded_;
  std::shared_ptr<const states::RunHistory> run_;
  std::optional<StateChecker> checker_;
  std::optional<PersistencePoints> points_;
};

}  // namespace

Result<void> confirm_failures(const FormattedDisk& formatted,
                              const adapters::SystemUnderTest& system,
                              std::span<const workload::Operation> operations,
                              const ExplorationOptions& options,
                              const std::filesystem::path& recording, Minimise minimise,
                              ExplorationResult& result) {
  if (result.failures.empty()) return {};
  SecondRun second(formatted, system);
  TRY(second.record(operations, options.run, recording));
  for (ExploredState& failure : result.failures) second.confirm(failure);
  if (minimise == Minimise::none) return {};
  const auto first = std::ranges::find_if(result.failures, &ExploredState::confirmed);
  if (first != result.failures.end()) second.minimise(*first);
  return {};
}

}  // namespace headcrash::in_process
