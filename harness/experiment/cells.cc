// Running each cell once (cells.h).
#include "harness/experiment/cells.h"

#include <fmt/format.h>

#include <ctime>

namespace headcrash::experiment {
namespace {

double cpu_seconds_here() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) / static_cast<double>(model::kSecondNs);
}

void run_cell(Cell& cell) {
  const auto machine = ModelledMachine::start(cell.setup.machine);
  if (!machine) {
    cell.remark = is_missing_scheme(machine.error()) ? Cell::kNotBuilt : machine.error().message();
    return;
  }
  auto outcome = run_workload(**machine, cell.run);
  if (outcome)
    cell.outcome = *std::move(outcome);
  else
    cell.remark = outcome.error().message();
}

}  // namespace

Figure Cell::of(std::string_view phase, const std::function<double(const PhaseOutcome&)>& quantity) const {
  if (!outcome) return std::nullopt;
  const PhaseOutcome* found = outcome->phase(phase);
  if (found == nullptr) return std::nullopt;
  return quantity(*found);
}

const Cell& Cells::get(const Setup& setup, const std::string& workload, const timed::Arguments& arguments) {
  std::string key = workload;
  for (const auto& [name, value] : arguments) key += fmt::format(" {}={}", name, value);
  key += " / " + setup.name;
  if (const auto known = by_key_.find(key); known != by_key_.end()) return *known->second;
  auto cell = std::make_unique<Cell>();
  cell->key = key;
  cell->setup = setup;
  cell->run = {.workload = workload,
               .replaced = arguments,
               .scaled = options_.scaled,
               .verify = options_.verify,
               .seed = options_.seed};
  if (interrupted()) {
    cell->remark = "interrupted";
  } else {
    const double before = cpu_seconds_here();
    run_cell(*cell);
    cell->host_s = cpu_seconds_here() - before;
    if (options_.on_cell) options_.on_cell(*cell);
  }
  by_key_[key] = cell.get();
  all_.push_back(std::move(cell));
  return *all_.back();
}

}  // namespace headcrash::experiment
