// Runs each cell once (cells.h).
#include "harness/papers/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "harness/papers/in_parallel.h"

namespace headcrash::experiment {
namespace {

double elapsed_of(const WorkloadOutcome& outcome) {
  double elapsed_s = 0;
  for (const PhaseOutcome& phase : outcome.phases)
    elapsed_s += phase.measured ? phase.elapsed_s : 0;
  return elapsed_s;
}

Result<WorkloadOutcome> execute(const Cell& cell, std::size_t number) {
  TRY(const auto machine, ModelledMachine::start(cell.setup.machine));
  WorkloadRun run = cell.run;
  run.begins_after_ns += number * kBetweenBeginnings;
  run.verify = cell.run.verify && number == 0;
  return run_workload(*machine, run);
}

/// Runs all executions of a cell in parallel, each on a separate machine.
void run_cell(Cell& cell, const Interrupted& interrupted) {
  std::vector<Result<WorkloadOutcome>> executions(cell.executions);
  if (!in_parallel(interrupted, executions.size(),
                   [&](std::size_t i) { executions[i] = execute(cell, i); })) {
    cell.remark = Cell::kInterrupted;
    return;
  }
  std::vector<WorkloadOutcome> outcomes;
  outcomes.reserve(executions.size());
  for (auto& execution : executions) {
    if (!execution) {
      cell.remark = execution.error().message();
      return;
    }
    outcomes.push_back(*std::move(execution));
  }
  cell.outcome = mean_of(outcomes);
  const auto [least, most] = std::minmax_element(
      outcomes.begin(), outcomes.end(),
      [](const auto& a, const auto& b) { return elapsed_of(a) < elapsed_of(b); });
  if (const double mean = elapsed_of(*cell.outcome); mean > 0)
    cell.spread = (elapsed_of(*most) - elapsed_of(*least)) / mean;
}

}  // namespace

double cpu_seconds_here() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) / static_cast<double>(model::kSecondNs);
}

Figure Cell::of(std::string_view phase,
                const std::function<double(const PhaseOutcome&)>& quantity) const {
  if (!outcome) return std::nullopt;
  const PhaseOutcome* found = outcome->phase(phase);
  if (found == nullptr) return std::nullopt;
  return quantity(*found);
}

const Cell& Cells::get(const Setup& setup, const std::string& workload,
                       const timed::Arguments& arguments, std::uint32_t executions) {
  if (executions == 0) executions = usual_executions_;
  if (options_.scaled || options_.once) executions = 1;
  std::string key = workload;
  for (const auto& [name, value] : arguments) key += fmt::format(" {}={}", name, value);
  key += " / " + setup.name;
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    if (known->second->executions == executions) return *known->second;
    // A cell with another number of executions gets a separate key.
    key += fmt::format(" x{}", executions);
    if (const auto again = by_key_.find(key); again != by_key_.end()) return *again->second;
  }
  auto cell = std::make_unique<Cell>();
  cell->key = key;
  cell->setup = setup;
  cell->executions = executions;
  cell->run = {.workload = workload,
               .replaced = arguments,
               .scaled = options_.scaled,
               .verify = options_.verify,
               .seed = options_.seed,
               .begins_after_ns = options_.begins_after_ns};
  const double before = cpu_seconds_here();
  run_cell(*cell, options_.interrupted);
  cell->host_s = cpu_seconds_here() - before;
  if (options_.on_cell && cell->remark != Cell::kInterrupted) options_.on_cell(*cell);
  by_key_[key] = cell.get();
  all_.push_back(std::move(cell));
  return *all_.back();
}

}  // namespace headcrash::experiment
