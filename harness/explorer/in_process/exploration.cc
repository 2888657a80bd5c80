// Checks all states of a run, one after the other (exploration.h).
#include "harness/explorer/in_process/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/explorer/in_process/persistence_points.h"
#include "plugin/base/stopwatch.h"

namespace headcrash::in_process {
namespace {

// Maximum size of a small disk, in sectors. The image of a small disk is audited after each check,
// and the image of a larger disk only after full checks. Checks of a small disk are so fast that
// remembering their outcomes would not save time.
constexpr std::uint64_t kSmallDisk = 2048;

void count(ExplorationResult& result, const StateOutcome& outcome) {
  ++result.checked;
  ++result.verdicts[outcome.judgement.verdict];
  if (keeps_rules(outcome)) ++result.clean;
  if (outcome.remembered) ++result.remembered;
  for (const auto& [kind, many] : outcome.found) ++result.found[kind];
}

void keep(StateOutcome outcome, const states::FoundState& found, double wall_ms,
          const ExplorationOptions& options, ExplorationResult& result) {
  if (keeps_rules(outcome) || result.failures.size() >= options.failures_kept) return;
  // The state may already be in the list: a state can be checked both as an additional state and
  // when the enumerator generates it.
  if (std::ranges::find(result.failures, found.name, &ExploredState::state) !=
      result.failures.end())
    return;
  result.failures.push_back({.state = found.name,
                             .strategy = found.strategy,
                             .digest = found.digest,
                             .wall_ms = wall_ms,
                             .outcome = std::move(outcome)});
}

class Examination {
 public:
  Examination(StateDisk& disk, StateChecker& checker, const PersistencePoints& points,
              const ExplorationOptions& options, ExplorationResult& result,
              adapters::ImageAudit* audit)
      : disk_(disk),
        checker_(checker),
        points_(points),
        options_(options),
        result_(result),
        audit_(audit) {}

  /// Checks a state. For selected states, also checks the later life of the disk (later_life.h).
  Result<StateOutcome> examine(const states::FoundState& found) {
    const StateFacts facts = facts_of(result_.run, points_, found.state);
    TRY(auto outcome, examine_state(found, facts));
    const base::Stopwatch watch;
    checker_.judge_later_life(facts, outcome);
    result_.step_ms.at(static_cast<std::size_t>(StepKind::later_life)) += watch.ms();
    return outcome;
  }

 private:
  /// Checks a state incrementally. Failures, and a share of all states, are also checked in full.
  /// Returns an error if the two results differ.
  Result<StateOutcome> examine_state(const states::FoundState& found, const StateFacts& facts) {
    base::Stopwatch watch;
    const auto step = [&](StepKind kind) {
      result_.step_ms.at(static_cast<std::size_t>(kind)) += watch.lap();
    };
    disk_.show(found.state);
    step(StepKind::show);
    StateOutcome outcome = checker_.check(facts, CheckMode::quick, result_.step_ms);
    watch.lap();  // discards the time, because the checker measures its own steps
    if (disk_.sectors() <= kSmallDisk) {
      TRY(audit(found, outcome));
      step(StepKind::verify);
    }
    const std::uint64_t one_in =
        outcome.remembered ? options_.verify_remembered_one_in : options_.verify_one_in;
    if (keeps_rules(outcome) && found.digest % one_in != 0) return outcome;
    StepTimes none = {};
    disk_.show(found.state);
    StateOutcome plain = checker_.check(facts, CheckMode::plain, none);
    ++result_.verified;
    TRY(audit(found, plain));
    step(StepKind::verify);
    const std::string differs = difference(plain, outcome);
    plain.remembered = outcome.remembered;
    if (differs.empty()) return plain;
    if (options_.contradicted != nullptr) *options_.contradicted = true;
    return fail(fmt::format("state {} of {}", found.name, result_.run.recording.string()),
                "the full check and the incremental check differ: " + differs,
                "this is a bug in the in-process lab; do not rely on either result");
  }

  /// Audits the image after the repair by fsck, if this type of file system has an audit.
  Result<void> audit(const states::FoundState& found, const StateOutcome& outcome) {
    const auto& judgement = outcome.judgement;
    if (judgement.verdict == oracle::Verdict::unmountable) return {};
    std::string problem;
    if (judgement.verdict == oracle::Verdict::not_repairable && !outcome.left_unrepaired) {
      problem = judgement.summary;
    } else if (audit_ != nullptr) {
      problem = audit_->contradiction_in(disk_.bytes());
    }
    if (problem.empty()) return {};
    if (options_.contradicted != nullptr) *options_.contradicted = true;
    return fail(fmt::format("state {} of {}", found.name, result_.run.recording.string()),
                "fsck did not repair the state: " + problem,
                "this is a bug in fsck or in the lab's audit");
  }

  StateDisk& disk_;
  StateChecker& checker_;
  const PersistencePoints& points_;
  const ExplorationOptions& options_;
  ExplorationResult& result_;
  adapters::ImageAudit* audit_;
};

/// Checks the state that a cut at `event` leaves if all writes in flight are lost. This state has
/// the contents of the medium.
Result<void> check_held(std::uint64_t event, const states::RunHistory& run,
                        Examination& examination, const ExplorationOptions& options,
                        ExplorationResult& result) {
  states::FoundState found{.state = {.event = event}};
  found.state.keep_others = run.unflushed_at(0, event).empty();
  found.name = states::format(found.state);
  const auto image = run.image(found.state, 0);
  TRY(const auto digest, image ? image->digest() : forward_error(image));
  found.digest = digest;
  const base::Stopwatch watch;
  TRY(auto outcome, examination.examine(found));
  count(result, outcome);
  if (options.on_state) options.on_state(found, outcome);
  keep(std::move(outcome), found, watch.ms(), options, result);
  return {};
}

}  // namespace

DiskExplorer::DiskExplorer(const FormattedDisk& formatted)
    : formatted_(formatted),
      disk_(formatted),
      fsck_(formatted.type->checker()),
      remembered_(disk_.sectors() > kSmallDisk ? std::make_unique<RememberedChecks>(disk_)
                                               : nullptr),
      audit_(formatted.type->audit()) {}

Result<ExplorationResult> DiskExplorer::explore(const adapters::SystemUnderTest& system,
                                                std::span<const workload::Operation> operations,
                                                const ExplorationOptions& options,
                                                const std::filesystem::path& recording) {
  const base::Stopwatch all;
  base::Stopwatch watch;
  ExplorationResult result;
  TRY(auto recorded, record_run(formatted_, disk_, system, operations, options.run, recording));
  result.run = std::move(recorded);
  result.record_ms = watch.lap();
  if (result.run.failure) return result;
  TRY(const auto run, states::RunHistory::load(recording, formatted_.history));
  TRY(disk_.begin_run(run));
  TRY(auto checker,
      StateChecker::create(system, disk_, *fsck_, result.run.judged(operations),
                           result.run.failed_operations, remembered_.get(), options.judge));
  const PersistencePoints points(*run);
  states::ExploreOptions explore{.strategies = options.strategies,
                                 .seed = options.run.seed,
                                 .budget = options.budget,
                                 .reorder_per_cut = options.reorder_per_cut,
                                 .from_event = result.run.from_event,
                                 .to_event = result.run.to_event};
  if (options.from_operation > 0)
    explore.from_event = points.event_of(options.from_operation).value_or(explore.from_event);
  if (!options.run.faults.empty())
    explore.from_event = result.run.met.first_failure.value_or(result.run.to_event);
  TRY(auto explorer, states::StateEnumerator::create(run, explore));
  result.load_ms = watch.lap();
  const auto step = [&](StepKind kind) {
    result.step_ms.at(static_cast<std::size_t>(kind)) += watch.lap();
  };
  Examination examination(disk_, checker, points, options, result, audit_.get());
  for (const auto& settled : result.run.settled) {
    TRY(check_held(settled.first, *run, examination, options, result));
    ++result.settled;
  }
  for (const std::uint64_t event : result.run.met.informative) {
    if (result.run.settled.contains(event)) continue;
    TRY(check_held(event, *run, examination, options, result));
    ++result.informative;
  }
  watch.lap();
  std::map<states::Strategy, StrategyCoverage> by_strategy;
  while (options.interrupted == nullptr || !*options.interrupted) {
    TRY(auto found, explorer.next());
    step(StepKind::generate);
    if (!found) break;
    ++result.generated;
    StrategyCoverage& coverage = by_strategy[found->strategy];
    const bool allowed = result.run.rules.allow(found->state);
    step(StepKind::rules);
    if (!allowed) {
      ++result.forbidden;
      ++coverage.forbidden;
      continue;
    }
    ++coverage.checked;
    const base::Stopwatch state_watch;
    TRY(auto outcome, examination.examine(*found));
    count(result, outcome);
    if (options.on_state) options.on_state(*found, outcome);
    keep(std::move(outcome), *found, state_watch.ms(), options, result);
    watch.lap();  // discards the time, because the examination measures its own steps
  }
  result.recovery = checker.recovery_counts();
  for (states::Coverage& one : explorer.coverage()) {
    StrategyCoverage& coverage = by_strategy[one.strategy];
    coverage.found = std::move(one);
    result.coverage.push_back(std::move(coverage));
  }
  if (options.damage) {
    watch.lap();
    TRY(damage(options, result));
    result.damage_ms = watch.lap();
  }
  result.wall_ms = all.ms();
  return result;
}

/// Tests repairs on many damaged copies of the image after the unmount. Does nothing if the unmount
/// failed or if any state has failed.
Result<void> DiskExplorer::damage(const ExplorationOptions& options, ExplorationResult& result) {
  if (result.run.unmount != Unmount::succeeded || !result.failures.empty()) return {};
  disk_.show({.event = result.run.to_event});
  const std::vector<std::byte> sound(disk_.bytes().begin(), disk_.bytes().end());
  TRY(auto trials, formatted_.type->repair_trials(sound, formatted_.log_at));
  for (std::uint64_t i = 0; i < options.damage->images; ++i) {
    if (options.interrupted != nullptr && *options.interrupted) return {};
    TRY(trials->run(options.damage->seed + i, result.damage));
  }
  return {};
}

Result<ExploredState> DiskExplorer::check(const adapters::SystemUnderTest& system,
                                          std::span<const workload::Operation> operations,
                                          const RecordedRun& recorded,
                                          const std::filesystem::path& recording,
                                          const std::string& state) {
  TRY(const auto parsed, states::parse_crash_state(state));
  TRY(const auto run, states::RunHistory::load(recording, formatted_.history));
  TRY(run->image(parsed, 0));  // fails if the recording has no such state
  if (parsed.base != states::CrashState::Base::writes)
    return fail(recording, "has no media events, which the state " + state + " requires",
                "use a state that is based on writes, such as w1234-17");
  TRY(disk_.begin_run(run));
  TRY(auto checker, StateChecker::create(system, disk_, *fsck_, recorded.judged(operations),
                                         recorded.failed_operations));
  disk_.show(parsed);
  StepTimes times = {};
  const base::Stopwatch watch;
  ExploredState explored{.state = state};
  explored.outcome =
      checker.check(facts_of(recorded, PersistencePoints(*run), parsed), CheckMode::plain, times);
  explored.wall_ms = watch.ms();
  return explored;
}

}  // namespace headcrash::in_process
