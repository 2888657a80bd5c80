// Explores a litmus test in process (in_process_cell.h).
#include "harness/contract/in_process_cell.h"

#include <fmt/format.h>

#include <algorithm>

namespace headcrash::contract {
oracle::TreeJudge judge_of(const LitmusTest& test) {
  return [&test](std::optional<std::size_t> persisted, const Tree& tree) {
    return test.allowed.judge(test.own_operation(persisted), tree);
  };
}

std::string unsupported_operation(const LitmusTest& test,
                                  const std::vector<workload::FailedOperation>& failed) {
  if (failed.empty()) return {};
  const auto list = test.whole_list();
  const std::size_t number = failed.front().operation;
  return fmt::format(
      "{}: {}", workload::format(list.at(number)),
      failed.front().outcome == workload::Outcome::skipped ? "not supported" : "out of space");
}

Result<Cell> run_in_process(const LitmusTest& test, const adapters::SystemUnderTest& system,
                            in_process::DiskExplorers& explorers, const CellOptions& options,
                            const std::filesystem::path& recording) {
  Cell cell{.test = test.number,
            .system = system.full_name(),
            .promise = test.promise_of(system.full_name()),
            .literature = test.literature_on(system.full_name())};
  if (system.control()) cell.promise = {PromiseKind::none, "a control that breaks promises"};
  TRY(auto* const disk, explorers.get(std::string(in_process::kPlainDisk), system));
  const auto list = test.whole_list();
  std::shared_ptr<const states::RunHistory> history;
  in_process::ExplorationOptions explore{.budget = options.states,
                                         .reorder_per_cut = options.states,
                                         .run = {.seed = options.seed, .pause_ns_max = 0},
                                         .from_operation = test.offset() - 1,
                                         .interrupted = options.interrupted,
                                         .judge = judge_of(test)};
  explore.on_state = [&](const states::FoundState& found, const in_process::StateOutcome& outcome) {
    if (history == nullptr) {
      if (const auto loaded = states::RunHistory::load(recording, disk->formatted.history))
        history = *loaded;
    }
    cell.add(outcome.judgement, outcome.findings, found.name,
             history == nullptr ? 0 : missing_writes(*history, found.state));
  };
  TRY(const auto result, disk->explorer.explore(system, list, explore, recording));
  cell.seconds = result.wall_ms / 1000;
  if (result.run.failure) {
    cell.problem = *result.run.failure;
    return cell;
  }
  cell.problem = unsupported_operation(test, result.run.failed_operations);
  if (!cell.problem.empty()) {
    cell.answer = Answer::unsupported;
    return cell;
  }
  std::vector<states::Coverage> coverage;
  for (const auto& part : result.coverage) coverage.push_back(part.found);
  cell.finish(coverage);
  // No further check is needed. The explorer has checked each failure twice, and its second check
  // reused no earlier outcome (exploration.h).
  cell.smallest.confirmed = cell.lost();
  return cell;
}

}  // namespace headcrash::contract
