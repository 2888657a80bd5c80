// Takes states one by one (exploration.h).
#include "harness/lab/in_process/exploration.h"

#include <algorithm>
#include <utility>

#include "harness/process/stopwatch.h"

namespace headcrash::in_process {
namespace {

/// The persistence points of a run, by event.
class Points {
 public:
  explicit Points(const states::RunHistory& run) {
    for (const states::RecordedMark& mark : run.marks())
      if (const auto operation = workload::parse_persisted_mark(mark.text))
        points_.emplace_back(mark.event, *operation);
  }
  /// The last one before a cut.
  std::optional<std::size_t> before(std::uint64_t cut) const {
    const auto next =
        std::ranges::lower_bound(points_, cut, {}, &std::pair<std::uint64_t, std::size_t>::first);
    if (next == points_.begin()) return {};
    return std::prev(next)->second;
  }
  /// After the mark of the first point from this operation on.
  std::optional<std::uint64_t> event_of(std::uint64_t operation) const {
    const auto found =
        std::ranges::find_if(points_, [&](const auto& point) { return point.second >= operation; });
    if (found == points_.end()) return {};
    return found->first + 1;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::size_t>> points_;
};

void count(ExplorationResult& result, const StateOutcome& outcome) {
  ++result.checked;
  ++result.verdicts[outcome.judgement.verdict];
  if (keeps_rules(outcome)) ++result.clean;
  for (const auto& [kind, many] : outcome.found) ++result.found[kind];
}

}  // namespace

Result<ExplorationResult> Bench::explore(const ufs::SchemeVariant& scheme,
                                         std::span<const workload::Operation> operations,
                                         const ExplorationOptions& options,
                                         const std::filesystem::path& recording) {
  const process::Stopwatch all;
  process::Stopwatch watch;
  ExplorationResult result;
  auto recorded = record_run(formatted_, disk_, scheme, operations, options.run, recording);
  if (!recorded) return pass_on(recorded);
  result.run = std::move(*recorded);
  result.record_ms = watch.lap();
  if (result.run.failure) return result;
  const auto run = states::RunHistory::load(recording);
  if (!run) return pass_on(run);
  if (const auto begun = disk_.begin_run(*run); !begun) return pass_on(begun);
  auto checker = StateChecker::create(scheme, disk_, fsck_, operations, result.run.mishaps);
  if (!checker) return pass_on(checker);
  const Points points(**run);
  states::ExploreOptions explore{.strategies = options.strategies,
                                 .seed = options.run.seed,
                                 .budget = options.budget,
                                 .reorder_per_cut = options.reorder_per_cut,
                                 .from_event = result.run.from_event,
                                 .to_event = result.run.to_event};
  if (options.from_operation > 0)
    explore.from_event = points.event_of(options.from_operation).value_or(explore.from_event);
  auto explorer = states::Explorer::create(*run, explore);
  if (!explorer) return pass_on(explorer);
  result.load_ms = watch.lap();
  const auto step = [&](StepKind kind) {
    const double ms = watch.lap();
    result.step_ms.at(static_cast<std::size_t>(kind)) += ms;
    return ms;
  };
  while (options.interrupted == nullptr || !*options.interrupted) {
    auto found = explorer->next();
    if (!found) return pass_on(found);
    step(StepKind::generate);
    if (!*found) break;
    ++result.generated;
    const bool allowed = result.run.rules.allow(**run, (*found)->state);
    step(StepKind::rules);
    if (!allowed) {
      ++result.forbidden;
      continue;
    }
    disk_.show((*found)->state);
    const double show_ms = step(StepKind::show);
    StateOutcome outcome = checker->check(points.before((*found)->state.event), result.step_ms);
    count(result, outcome);
    const double check_ms = watch.lap();  // the checker has told its steps itself
    if (!keeps_rules(outcome) && result.failures.size() < options.failures_kept)
      result.failures.push_back({.state = (*found)->name,
                                 .strategy = (*found)->strategy,
                                 .digest = (*found)->digest,
                                 .wall_ms = show_ms + check_ms,
                                 .outcome = std::move(outcome)});
  }
  result.coverage = explorer->coverage();
  result.wall_ms = all.ms();
  return result;
}

Result<ExploredState> Bench::check(const ufs::SchemeVariant& scheme,
                                   std::span<const workload::Operation> operations,
                                   const std::vector<workload::Mishap>& mishaps,
                                   const std::filesystem::path& recording, const std::string& state) {
  const auto parsed = states::parse_crash_state(state);
  if (!parsed) return pass_on(parsed);
  const auto run = states::RunHistory::load(recording);
  if (!run) return pass_on(run);
  const auto image = (*run)->image(*parsed, 0);  // says in words when there is no such state
  if (!image) return pass_on(image);
  if (parsed->base != states::CrashState::Base::writes)
    return fail(recording, "is of a run without media, and " + state + " is a state of media",
                "give a state by writes (w1234-17)");
  if (const auto begun = disk_.begin_run(*run); !begun) return pass_on(begun);
  auto checker = StateChecker::create(scheme, disk_, fsck_, operations, mishaps);
  if (!checker) return pass_on(checker);
  disk_.show(*parsed);
  StepTimes times = {};
  const process::Stopwatch watch;
  ExploredState explored{.state = state};
  explored.outcome = checker->check(Points(**run).before(parsed->event), times);
  explored.wall_ms = watch.ms();
  return explored;
}

}  // namespace headcrash::in_process
