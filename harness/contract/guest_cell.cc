// Records and explores litmus tests in guests (guest_cell.h).
#include "harness/contract/guest_cell.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/explorer/in_process/persistence_points.h"
#include "plugin/base/stopwatch.h"

namespace headcrash::contract {
namespace {

/// Number of failures of each kind to repeat on a fresh guest.
constexpr std::size_t kConfirmed = 2;

}  // namespace

Result<GuestCells> GuestCells::start(explorer::GuestPool& pool,
                                     const adapters::LinuxAdapter& filesystem,
                                     const std::filesystem::path& folder,
                                     const CellOptions& options) {
  GuestCells cells(pool, filesystem, folder, options);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(folder.string(), error.message(), "choose a writable folder with -o");
  TRY(cells.disk_,
      explorer::format_disk(pool.guest(0), filesystem, folder / "formatted.hcrec",
                            explorer::uuid_from(options.seed), {.seed = options.seed}));
  return cells;
}

Result<Cell> GuestCells::run(const LitmusTest& given) {
  const base::Stopwatch watch;
  test_ = filesystem_->promises.sync_waits ? given : given.with_initial_fsyncs();
  const LitmusTest& test = test_;
  Cell cell{.test = test.number,
            .system = filesystem_->name,
            .promise = test.promise_of(filesystem_->name),
            .literature = test.literature_on(filesystem_->name)};
  if (filesystem_->expected == adapters::Expectation::loss)
    cell.promise = {PromiseKind::none, filesystem_->expected_reason};
  const auto recording = folder_ / fmt::format("{:02}-{}.hcrec", test.number, test.name);
  auto recorded =
      explorer::record_workload(pool_->guest(0), *filesystem_, disk_, test.whole_list(), recording);
  if (!recorded) {
    cell.problem = recorded.error().message();
    return cell;
  }
  workload_ = std::move(*recorded);
  cell.recording = recording.string();
  if (workload_.failure) {
    cell.problem = *workload_.failure;
    return cell;
  }
  cell.problem = unsupported_operation(test, workload_.failed_operations);
  if (!cell.problem.empty()) {
    cell.answer = Answer::unsupported;
    return cell;
  }
  workload_.judge = judge_of(test);
  TRY(const auto run, states::RunHistory::load(recording));
  const in_process::PersistencePoints points(*run);
  workload_.from_event = points.event_of(test.offset() - 1).value_or(workload_.from_event);
  TRY(explore(*run, cell));
  cell.seconds = watch.ms() / 1000;
  return cell;
}

Result<void> GuestCells::explore(const states::RunHistory& run, Cell& cell) {
  using enum states::Strategy;
  explorer::ExplorationOptions options{.explore = {.strategies = {prefix, lose_all, reorder, torn},
                                                   .seed = options_.seed,
                                                   .budget = options_.states},
                                       .in_guest_share = 0,
                                       .failures_confirmed = kConfirmed,
                                       .limit = std::chrono::seconds(options_.time_s),
                                       .interrupted = options_.interrupted};
  options.on_state = [&](const explorer::StateOutcome& outcome) {
    const std::string before = cell.smallest.state;
    const auto state = states::parse_crash_state(outcome.state);
    cell.add(outcome.judgement, outcome.findings, outcome.state,
             state ? missing_writes(run, *state) : 0);
    if (cell.smallest.state != before) outcome_ = outcome;
  };
  TRY(const auto result, explorer::explore(pool_->guests(), *filesystem_, workload_, options));
  cell.finish(result.coverage);
  if (result.out_of_time) cell.whole = false;
  // The answer is confirmed if at least one failure with this answer recurred on a fresh guest. The
  // page shows the smallest failure, which may be a different one.
  cell.smallest.confirmed = std::ranges::any_of(result.failures, [&](const auto& failure) {
    const bool answers = std::ranges::any_of(
        failure.outcome.findings,
        [](const oracle::Finding& finding) { return finding.tier == oracle::Tier::litmus; });
    return failure.confirmed && answers == (cell.broken > 0);
  });
  return {};
}

}  // namespace headcrash::contract
