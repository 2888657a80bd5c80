// Checks states on several threads, one per guest (exploration.h).
#include "harness/explorer/guests/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "plugin/base/file_lock.h"
#include "plugin/base/random.h"
#include "plugin/base/stopwatch.h"

namespace headcrash::explorer {
namespace {

namespace fs = std::filesystem;
using states::Strategy;

/// Strategies for a cut during recovery: all writes in flight are lost, or only the earliest of
/// them survive.
constexpr std::array kRecoveryStrategies{Strategy::lose_all, Strategy::prefix};
/// Strategies for a cut during a recovery if the disk is an array. After such a cut, the array
/// itself must recover, too.
constexpr std::array kArrayRecoveryStrategies{Strategy::member, Strategy::physical};

/// Returns how two outcomes of the same state differ, or an empty string if there is no relevant
/// difference.
std::string disagreement(const StateOutcome& first, const StateOutcome& second) {
  if (first.judgement.verdict != second.judgement.verdict) {
    return fmt::format("{} ({}) at first, but {} ({}) when repeated entirely in the guest",
                       oracle::name(first.judgement.verdict), first.judgement.summary,
                       oracle::name(second.judgement.verdict), second.judgement.summary);
  }
  const auto keys = [](const StateOutcome& outcome) {
    std::vector<std::tuple<oracle::Verdict, oracle::Tier, std::string>> list;
    list.reserve(outcome.findings.size());
    for (const oracle::Finding& finding : outcome.findings)
      list.emplace_back(finding.kind, finding.tier, finding.path);
    std::sort(list.begin(), list.end());
    return list;
  };
  if (keys(first) != keys(second))
    return fmt::format(
        "{} findings at first, but {} different ones when repeated entirely in the guest",
        first.findings.size(), second.findings.size());
  return {};
}

/// An enumerator and a checker of states that all threads share.
class SharedEnumerator {
 public:
  SharedEnumerator(states::StateEnumerator explorer, StateChecker checker)
      : explorer_(std::move(explorer)), checker_(std::move(checker)) {}

  Result<std::optional<states::FoundState>> next() {
    const std::lock_guard lock(mutex_);
    const base::Stopwatch watch;
    auto state = explorer_.next();
    generate_ms_ += watch.ms();
    return state;
  }
  const StateChecker& checker() const { return checker_; }
  std::vector<states::Coverage> coverage() const { return explorer_.coverage(); }
  double generate_ms() const { return generate_ms_; }

 private:
  std::mutex mutex_;
  states::StateEnumerator explorer_;
  StateChecker checker_;
  double generate_ms_ = 0;
};

class Exploration {
 public:
  Exploration(const std::vector<StageGuest*>& guests, const adapters::LinuxAdapter& filesystem,
              const RecordedWorkload& workload, const ExplorationOptions& options)
      : guests_(guests), filesystem_(filesystem), workload_(workload), options_(options) {}

  Result<ExplorationResult> run();

 private:
  Result<void> explore_workload(const states::ExploreOptions& explore);
  void explore_recoveries(std::uint64_t budget);
  /// Returns true if the exploration was interrupted. A pending request to a guest may then have
  /// been aborted without an answer.
  bool interrupted() const { return options_.interrupted != nullptr && *options_.interrupted; }
  bool out_of_time() const {
    return options_.limit.count() > 0 &&
           watch_.ms() > 1000.0 * static_cast<double>(options_.limit.count());
  }
  /// Returns true if the check was aborted by the time limit, so that its outcome is meaningless.
  bool given_up(const StateOutcome& outcome) const {
    return out_of_time() && outcome.judgement.verdict == oracle::Verdict::harness_error;
  }
  void give_up_at_limit(bool limited);
  bool stopped() const {
    return error_ || (options_.stop_at_first && confirmed_) || interrupted() || out_of_time();
  }
  /// Checks states until none are left. Counts the outcomes under `strategy` if it is set, and
  /// under the strategy that found the state otherwise.
  void work(StageGuest& guest, SharedEnumerator& source, std::optional<Strategy> strategy);
  void check_found(StageGuest& guest, const StateChecker& checker, const states::FoundState& found,
                   std::optional<Strategy> strategy);
  bool drawn(std::uint64_t digest) const;
  void confirm(StageGuest& guest, const StateChecker& checker, const states::CrashState& state,
               const StateOutcome& outcome);
  void explore_recovery(StageGuest& guest, const StateOutcome& base, std::size_t number,
                        std::uint64_t budget);
  Result<fs::path> record_recovery(StageGuest& guest, const StateOutcome& base, std::size_t number);
  template <typename Work>
  void on_all_guests(Work work);

  const std::vector<StageGuest*>& guests_;
  const adapters::LinuxAdapter& filesystem_;
  const RecordedWorkload& workload_;
  const ExplorationOptions& options_;
  std::shared_ptr<const states::RunHistory> run_;
  std::optional<StateChecker> checker_;
  const base::Stopwatch watch_;
  const base::Deadline deadline_ = base::after(options_.limit);

  std::mutex mutex_;  // protects all members below
  ExplorationResult result_;
  std::map<std::pair<oracle::Verdict, oracle::Tier>, std::size_t> failures_of_kind_;
  // Candidates for the strategy `recovery`: states whose recovery may be recorded.
  std::vector<StateOutcome> replayed_;
  std::uint64_t replayed_seen_ = 0;
  states::Coverage recovery_{.strategy = Strategy::recovery};
  bool confirmed_ = false;  // at least one failure has been confirmed
  std::optional<Error> error_;
};

template <typename Work>
void Exploration::on_all_guests(Work work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < guests_.size(); ++i)
    threads.emplace_back([&, i] { work(*guests_[i]); });
  work(*guests_[0]);
  for (std::thread& thread : threads) thread.join();
}

/// If `limited` is true, checks will be aborted at the time limit. If it is false, checks have no
/// limit.
void Exploration::give_up_at_limit(bool limited) {
  if (options_.limit.count() == 0) return;
  for (StageGuest* guest : guests_)
    guest->give_up_at(limited ? std::optional(deadline_) : std::nullopt);
}

Result<ExplorationResult> Exploration::run() {
  if (guests_.empty()) return fail("exploration", "requires at least one guest");
  const auto& strategies = options_.explore.strategies;
  const bool recoveries =
      std::find(strategies.begin(), strategies.end(), Strategy::recovery) != strategies.end();
  // The recordings of recoveries are stored next to the workload's recording. All explorations use
  // the same names for them, so only one exploration may record recoveries at a time.
  const auto claim = recoveries
                         ? base::FileLock::try_take(workload_.recording.string() + ".exploring")
                         : std::nullopt;
  if (recoveries && !claim)
    return fail(workload_.recording.string(),
                "is in use: another process explores it with --strategy recovery",
                "wait until it has ended, or explore a copy in another folder");
  TRY(auto run, states::RunHistory::load(workload_.recording));
  run_ = run;
  TRY(auto checker, StateChecker::create(filesystem_, workload_, run_));
  checker_ = std::move(checker);
  result_.judged = checker_->judges_content();

  states::ExploreOptions explore = options_.explore;
  if (explore.from_event == 0) explore.from_event = workload_.from_event;
  if (!explore.to_event && workload_.to_event > 0) explore.to_event = workload_.to_event;
  explore.all_disks = filesystem_.has_several_disks();
  const std::size_t asked = explore.strategies.size();
  std::erase(explore.strategies, Strategy::recovery);
  const std::uint64_t recovery_budget =
      recoveries ? std::max<std::uint64_t>(explore.budget / std::max<std::size_t>(asked, 1), 1) : 0;
  // The strategy `recovery` interrupts the recoveries of states that other strategies have
  // generated, so at least one other strategy must run.
  if (explore.strategies.empty())
    explore.strategies = {guests_[0]->machine().is_array() ? Strategy::physical : Strategy::prefix};
  if (asked > 1) explore.budget -= std::min(recovery_budget, explore.budget);
  give_up_at_limit(true);
  const auto explored = explore_workload(explore);
  if (explored && recoveries && !stopped()) explore_recoveries(recovery_budget);
  give_up_at_limit(false);
  TRY(explored);
  if (error_) return tl::unexpected(*error_);
  for (const StageGuest* guest : guests_) result_.restores += guest->restores();
  result_.wall_ms = watch_.ms();
  result_.out_of_time = out_of_time();
  return std::move(result_);
}

Result<void> Exploration::explore_workload(const states::ExploreOptions& explore) {
  TRY(auto explorer, states::StateEnumerator::create(run_, explore));
  SharedEnumerator source(std::move(explorer), *checker_);
  on_all_guests([&](StageGuest& guest) { work(guest, source, std::nullopt); });
  result_.coverage = source.coverage();
  result_.generate_ms += source.generate_ms();
  return {};
}

void Exploration::work(StageGuest& guest, SharedEnumerator& source,
                       std::optional<Strategy> strategy) {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (stopped()) return;
    }
    const auto found = source.next();
    if (!found) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = found.error();
      return;
    }
    if (!*found) return;
    check_found(guest, source.checker(), **found, strategy);
  }
}

/// Returns true if a state belongs to the sample. The result depends only on the seed and the
/// state's contents, not on the guest that checks the state.
bool Exploration::drawn(std::uint64_t digest) const {
  Random random(digest ^ options_.explore.seed);
  return static_cast<double>(random.below(1'000'000)) < options_.in_guest_share * 1e6;
}

void Exploration::check_found(StageGuest& guest, const StateChecker& checker,
                              const states::FoundState& found, std::optional<Strategy> strategy) {
  StateOutcome outcome = checker.check(guest, found.state, {});
  if (interrupted() || given_up(outcome)) return;
  outcome.strategy = strategy.value_or(found.strategy);
  outcome.digest = found.digest;
  const bool failed = is_failure(outcome);
  {
    const std::lock_guard lock(mutex_);
    ++result_.checked;
    if (oracle::keeps_promises(outcome.judgement.verdict)) ++result_.clean;
    for (std::size_t i = 0; i < kStepKinds; ++i) result_.step_ms.at(i) += outcome.step_ms.at(i);
    if (!oracle::keeps_promises(outcome.judgement.verdict)) result_.outcomes.push_back(outcome);
    if (strategy) ++recovery_.distinct;
    if (!strategy && outcome.recovery.replayed && outcome.recovery.mounted) {
      // Select candidates from the whole exploration. Once the list is full, each replayed state
      // whose number is a power of two replaces an entry.
      ++replayed_seen_;
      if (replayed_.size() < options_.recoveries) {
        replayed_.push_back(outcome);
      } else if (options_.recoveries > 0 && (replayed_seen_ & (replayed_seen_ - 1)) == 0) {
        replayed_[replayed_seen_ % options_.recoveries] = outcome;
      }
    }
    if (options_.on_state) options_.on_state(outcome);
  }
  if (failed) return confirm(guest, checker, found.state, outcome);
  // If the first check ran wholly in the guest, a second check would only repeat it, unless the
  // stack defines a scrub.
  const bool has_scrub = filesystem_.stack && !filesystem_.stack->scrub.argv.empty();
  if ((outcome.in_guest_only && !has_scrub) || !drawn(found.digest)) return;
  const StateOutcome second = checker.check(guest, found.state, {.wholly_in_guest = true});
  if (interrupted() || given_up(second)) return;
  const std::string differs = disagreement(outcome, second);
  const std::lock_guard lock(mutex_);
  ++result_.sampled;
  if (differs.empty()) return;
  ++result_.disagreements;
  result_.failures.push_back(
      {.outcome = std::move(outcome), .confirmed = false, .disagreement = differs});
}

void Exploration::confirm(StageGuest& guest, const StateChecker& checker,
                          const states::CrashState& state, const StateOutcome& outcome) {
  {
    const std::lock_guard lock(mutex_);
    const oracle::Tier tier =
        outcome.findings.empty() ? oracle::Tier::integrity : outcome.findings.front().tier;
    if (++failures_of_kind_[{outcome.judgement.verdict, tier}] > options_.failures_confirmed) {
      ++result_.unconfirmed;
      return;
    }
  }
  // Confirm the failure even after the time limit. The failure was found in time, and only the
  // confirmation is late.
  guest.give_up_at(std::nullopt);
  StateOutcome second = checker.check(guest, state, {.wholly_in_guest = true, .fresh_guest = true});
  if (options_.limit.count() > 0) guest.give_up_at(deadline_);
  if (interrupted()) {
    const std::lock_guard lock(mutex_);
    ++result_.unconfirmed;
    return;
  }
  ConfirmedFailure failure{
      .outcome = outcome,
      .confirmed = is_failure(second) && second.judgement.verdict != oracle::Verdict::harness_error,
      .disagreement = disagreement(outcome, second)};
  failure.outcome.log += "== again, wholly in a fresh guest\n" + second.log;
  const std::lock_guard lock(mutex_);
  if (failure.confirmed) {
    confirmed_ = true;
  } else {
    ++result_.disagreements;
  }
  result_.failures.push_back(std::move(failure));
}

void Exploration::explore_recoveries(std::uint64_t budget) {
  const std::vector<StateOutcome> bases = std::exchange(replayed_, {});
  const std::uint64_t each = bases.empty() ? 0 : std::max<std::uint64_t>(budget / bases.size(), 1);
  std::size_t next = 0;
  on_all_guests([&](StageGuest& guest) {
    while (true) {
      std::size_t number = 0;
      {
        const std::lock_guard lock(mutex_);
        if (stopped() || next == bases.size()) return;
        number = next++;
      }
      explore_recovery(guest, bases[number], number, each);
    }
  });
  recovery_.bound = fmt::format("recovery cut in {} of {} states whose recovery replays data{}",
                                bases.size(), replayed_seen_, recovery_.bound);
  if (bases.empty()) recovery_.bound = "no state needed a replay";
  result_.coverage.push_back(recovery_);
}

/// Records the recovery of a state. The new recording refers to the workload's recording by a
/// relative path, so both must be in the same directory.
Result<fs::path> Exploration::record_recovery(StageGuest& guest, const StateOutcome& base,
                                              std::size_t number) {
  const fs::path recording =
      fs::path(workload_.recording).replace_extension(fmt::format(".recovery-{}.hcrec", number));
  std::error_code error;
  fs::remove(recording, error);
  const auto failed = [&](const Error& why) {
    fs::remove(recording, error);
    return fail("recovery of " + base.state, why.message());
  };
  const auto loaded = guest.load({.recording = fs::absolute(workload_.recording),
                                  .state = base.state,
                                  .record = fs::absolute(recording),
                                  .faults = guest.machine().faults_in_recovery()});
  if (!loaded) return failed(loaded.error());
  if (const auto assembled = guest.assemble_stack(filesystem_, StageGuest::Assembly::after_cut);
      !assembled)
    return failed(assembled.error());
  const auto seen = guest.inspect(filesystem_, {});
  if (!seen) return failed(seen.error());
  const auto sealed = guest.server().seal(guest.stage());
  if (!sealed) return failed(sealed.error());
  return recording;
}

void Exploration::explore_recovery(StageGuest& guest, const StateOutcome& base, std::size_t number,
                                   std::uint64_t budget) {
  const auto give_up = [&](const Error& why) {
    const std::lock_guard lock(mutex_);
    recovery_.bound +=
        fmt::format("; the recovery of {} could not be cut: {}", base.state, why.message());
  };
  const auto recording = record_recovery(guest, base, number);
  if (!recording) return give_up(recording.error());
  const auto history = states::RunHistory::load(*recording);
  if (!history) return give_up(history.error());
  const auto& strategies =
      guest.machine().is_array() ? kArrayRecoveryStrategies : kRecoveryStrategies;
  states::ExploreOptions explore{.strategies = {strategies.begin(), strategies.end()},
                                 .device = options_.explore.device,
                                 .all_disks = filesystem_.has_several_disks(),
                                 .seed = options_.explore.seed,
                                 .budget = budget};
  for (const states::RecordedMark& mark : (*history)->marks())
    if (mark.text == states::kCachesWrittenBackMark) explore.from_event = mark.event + 1;
  auto explorer = states::StateEnumerator::create(*history, explore);
  if (!explorer) return give_up(explorer.error());
  SharedEnumerator source(std::move(*explorer), checker_->for_recovery(base, *history));
  work(guest, source, Strategy::recovery);
  bool keep = false;
  {
    const std::lock_guard lock(mutex_);
    keep =
        std::any_of(result_.outcomes.begin(), result_.outcomes.end(),
                    [&](const StateOutcome& outcome) { return outcome.recording == *recording; });
    result_.generate_ms += source.generate_ms();
    for (const states::Coverage& part : source.coverage()) {
      recovery_.space += part.space;
      recovery_.generated += part.generated;
    }
  }
  std::error_code error;
  if (!keep) fs::remove(*recording, error);  // keep only the recordings of recoveries that failed
}

}  // namespace

const ConfirmedFailure* first_confirmed(const std::vector<ConfirmedFailure>& failures) {
  const auto found = std::ranges::find_if(failures, &ConfirmedFailure::confirmed);
  return found == failures.end() ? nullptr : &*found;
}

Result<ExplorationResult> explore(const std::vector<StageGuest*>& guests,
                                  const adapters::LinuxAdapter& filesystem,
                                  const RecordedWorkload& workload,
                                  const ExplorationOptions& options) {
  return Exploration(guests, filesystem, workload, options).run();
}

}  // namespace headcrash::explorer
