// Breaks down the CPU times in tables 1 and 2 of the paper. Shows how often our runs incur each
// cost, and which costs fit all times best (cost_fit.h). This part generated the table in
// ncr3433.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "harness/papers/ganger94/cost_fit.h"
#include "harness/papers/ganger94/ganger94.h"
#include "harness/papers/ganger94/ncr3433.h"
#include "harness/papers/ganger94/printed.h"
#include "harness/papers/judge.h"

namespace headcrash::experiment::ganger94 {
namespace {

using os::Cost;

constexpr double kUs = 1e-6;
constexpr double kBytesPerKib = 1024, kThousand = 1000;

/// The costs that are fitted to the paper's times, with their estimates in microseconds. An i486 at
/// 33 MHz executes 33 cycles per microsecond.
constexpr struct {
  Cost cost;
  const char* name;
  double estimate_us;
  /// False if there is no estimate of the cost, for example because the cost includes the program's
  /// own work for a name.
  bool is_known;
} kFittedCosts[] = {
    {Cost::system_call, "system call", 100,
     true},  // 3 300 cycles to trap, copy the arguments and dispatch
    {Cost::copy_per_kib, "KiB copied", 66, true},  // memory in 1993 copied 15 MB per second
    {Cost::transfer_per_kib, "KiB for a process", 190,
     true},  // a copy, and 500 us to map a page and to handle its page fault
    // 1 300 cycles to search the hash chain, lock the block and update the list.
    {Cost::buffer_found, "block requested", 40, true},
    // The driver, two context switches, and a share of the interrupts.
    {Cost::request_issued, "request", 1000, true},
    {Cost::path_component, "path component", 100,
     true},  // 3 300 cycles to copy the name and to find and lock the inode
    {Cost::directory_entry, "entry inspected", 0.9,
     true},  // 30 cycles to compare the length and the first bytes of a name
    {Cost::name_changed, "name changed", 500, false},
    {Cost::inode_changed, "inode changed", 100, true},  // copying 128 bytes, and locking the block
    {Cost::allocation, "allocation", 40, true},         // 1 300 cycles to search a bitmap
    {Cost::dependency, "dependency", 40,
     true},  // 1 300 cycles to create, list and free a structure
};

/// A CPU time in the paper, and the cell that runs the same benchmark.
struct CpuTime {
  std::string name;
  double paper_s = 0;
  const PhaseOutcome* ours = nullptr;
};

std::vector<CpuTime> cpu_times(Cells& cells) {
  std::vector<CpuTime> times;
  const auto add = [&](std::span<const PrintedRow> rows, const char* workload, const char* phase) {
    for (const PrintedRow& row : rows) {
      const Cell& cell =
          cell_of(cells, setup_of(row.scheme, row.initialization), workload, {{"users", 4}});
      times.push_back({.name = fmt::format("{}, {}", phase, row.name),
                       .paper_s = row.cpu_s,
                       .ours = cell.outcome ? cell.outcome->phase(phase) : nullptr});
    }
  };
  add(kTable1, "n-user-copy", "copy");
  add(kTable2, "n-user-remove", "remove");
  return times;
}

double count_of(const CpuTime& time, Cost cost) {
  const auto amount = static_cast<double>(time.ours->user_charged[static_cast<std::size_t>(cost)]);
  return os::is_per_kib(cost) ? amount / kBytesPerKib : amount;
}

double used_us(Cost cost) {
  return static_cast<double>(kNcr3433.*os::kCosts[static_cast<std::size_t>(cost)]) / 1e3;
}

std::vector<double> fitted_us(const std::vector<CpuTime>& times) {
  std::vector<PrintedTime> printed;
  for (const CpuTime& time : times) {
    printed.push_back({.seconds = time.paper_s});
    for (const auto& fitted : kFittedCosts)
      printed.back().counts.push_back(count_of(time, fitted.cost));
  }
  std::vector<FittedCost> costs;
  for (const auto& fitted : kFittedCosts)
    costs.push_back({.estimate_s = fitted.estimate_us * kUs, .is_known = fitted.is_known});
  std::vector<double> us = fit_costs(printed, costs);
  for (double& each : us) each /= kUs;
  return us;
}

experiment::Table table_of_costs(const std::vector<double>& fitted) {
  experiment::Table table{.name = "costs",
                          .title = "Costs fitted to all 14 printed CPU times (us)",
                          .columns = {"cost", "estimate", "fitted", "used"},
                          .rows = {}};
  for (std::size_t i = 0; i < std::size(kFittedCosts); ++i) {
    const auto& cost = kFittedCosts[i];
    table.rows.push_back({cost.name, cost.is_known ? fmt::format("{:g}", cost.estimate_us) : "none",
                          fmt::format("{:.1f}", fitted[i]),
                          fmt::format("{:.1f}", used_us(cost.cost))});
  }
  return table;
}

experiment::Table table_of_counts(const std::vector<CpuTime>& times) {
  experiment::Table table{.name = "counts",
                          .title = "Operations charged to four users (thousands)",
                          .columns = {"benchmark"},
                          .rows = {}};
  for (const auto& cost : kFittedCosts) table.columns.emplace_back(cost.name);
  for (const CpuTime& time : times) {
    std::vector<std::string> row{time.name};
    for (const auto& cost : kFittedCosts)
      row.push_back(fmt::format("{:.2f}", count_of(time, cost.cost) / kThousand));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::vector<ClaimAnswer> cpu_costs(Context& context) {
  ClaimAnswer answer{.id = "costs",
                     .part = "costs",
                     .title = "Processor costs of single operations, fitted to tables 1 and 2",
                     .kind = RuleClass::calibrated};
  const std::vector<CpuTime> times = cpu_times(context.cells);
  if (std::ranges::any_of(times, [](const CpuTime& time) { return time.ours == nullptr; })) {
    answer.remarks.emplace_back("a cell is missing or failed, so nothing is fitted");
    return {answer};
  }
  const std::vector<double> fitted = fitted_us(times);
  std::vector<Named> residuals;
  for (const CpuTime& time : times) {
    const double share = 100 * (time.ours->user_cpu_s / time.paper_s - 1);
    add_row(answer, time.name, "CPU", "s", time.paper_s, time.ours->user_cpu_s);
    residuals.push_back({.name = time.name, .value = share, .unit = "%"});
  }
  add_rule(answer,
           "each time is within 10 %, the possible difference between the paper's own executions",
           residuals, [&] {
             return std::ranges::all_of(
                 residuals, [](const Named& each) { return std::abs(*each.value) <= 10; });
           });
  std::vector<Named> shares;
  shares.reserve(std::size(kFittedCosts));
  for (std::size_t i = 0; i < std::size(kFittedCosts); ++i)
    shares.push_back({.name = kFittedCosts[i].name,
                      .value = 100 * (used_us(kFittedCosts[i].cost) / fitted[i] - 1),
                      .unit = "%"});
  add_rule(answer, "each cost in use equals the fitted cost (3 %)", shares, [&] {
    return std::ranges::all_of(shares,
                               [](const Named& each) { return std::abs(*each.value) <= 3; });
  });
  answer.tables.push_back(table_of_costs(fitted));
  answer.tables.push_back(table_of_counts(times));
  answer.remarks.emplace_back(
      "Fitted: all CPU times of tables 1 and 2 (GP-19, GP-24) are inputs of the cost table, not "
      "predictions. Elapsed times and figures are not inputs. 14 similar times do not determine "
      "11 costs, so each cost also has an estimate from cycle counts, which is used as another "
      "equation with an uncertainty equal to its size. The change of a name has no estimate.");
  return {answer};
}

}  // namespace headcrash::experiment::ganger94
