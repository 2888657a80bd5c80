// Determines the cells, the rounds and the number of repetitions (plan.h).
#include "harness/bench/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "harness/run/text_hash.h"
#include "plugin/base/random.h"
#include "results/statistics/sample.h"

namespace headcrash::bench {
namespace {

constexpr double kShareWithASay = 0.1;

}  // namespace

std::vector<Cell> cells_of(const Bench& bench, const run::Shard& shard) {
  std::vector<Cell> cells;
  std::size_t group = 0;
  for (const BenchWorkload& workload : bench.workloads) {
    for (const BenchDevice& device : bench.devices) {
      if (!workload.runs_on(device.name)) continue;
      if (group++ % shard.count != shard.index) continue;
      for (const adapters::LinuxAdapter& filesystem : bench.filesystems) {
        if (!workload.runs_with(filesystem)) continue;
        Cell cell{.group = fmt::format("{}/{}", device.name, workload.label),
                  .filesystem = &filesystem,
                  .device = &device,
                  .workload = &workload};
        cell.key = filesystem.name + "/" + cell.group;
        cells.push_back(std::move(cell));
      }
    }
  }
  return cells;
}

std::vector<std::size_t> round_order(std::size_t cells, std::uint64_t seed, std::int64_t round) {
  std::vector<std::size_t> order(cells);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed + static_cast<std::uint64_t>(round) * 0x9e3779b97f4a7c15U);
  for (std::size_t i = cells; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

BenchTrialPlan trial_of(const Bench& bench, const Cell& cell, std::int64_t repetition) {
  BenchTrialPlan plan{
      .cell = &cell, .repetition = repetition, .key = fmt::format("{}/{}", cell.key, repetition)};
  // SQLite's integers are signed, so the seed has only 63 bits.
  plan.seed = run::hash_text(fmt::format("{}/{}", cell.group, repetition), bench.seed) >> 1;
  return plan;
}

void CellSamples::count(bool measured) {
  ++trials;
  if (!measured) ++failed;
}

void CellSamples::add(const std::string& label, double time_ms) {
  if (!times_ms.contains(label)) labels.push_back(label);
  times_ms[label].push_back(time_ms);
}

void CellSamples::add(const db::TrialRecord& trial) {
  const bool measured = trial.verdict == db::kMeasured;
  count(measured);
  for (std::size_t i = 0; measured && i < trial.phases.size(); ++i) {
    const auto& measure = trial.phases[i].measure;
    if (!measure || !measure->measured) continue;
    const bool fixed_time = std::ranges::any_of(
        trial.phases[i].metrics,
        [](const db::MetricRecord& metric) { return metric.name == db::kFixedTimeMetric; });
    add(measure->label,
        fixed_time ? measure->elapsed_ms /
                         static_cast<double>(std::max<std::int64_t>(measure->operations, 1))
                   : measure->quiescent_ms.value_or(measure->elapsed_ms));
  }
}

std::int64_t repetitions_wanted(const CellSamples& samples, const Bench& bench) {
  const std::int64_t measured = samples.trials - samples.failed;
  if (samples.trials < bench.least || measured == 0) return bench.least;
  std::vector<double> whole(static_cast<std::size_t>(measured), 0);
  for (const auto& [label, times] : samples.times_ms) {
    for (std::size_t i = 0; i < std::min(times.size(), whole.size()); ++i) whole[i] += times[i];
  }
  const auto sum = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  const double all_ms = sum(whole);
  const auto most = static_cast<std::size_t>(bench.most);
  std::size_t wanted = statistics::repetitions_needed(whole, bench.interval, most);
  for (const auto& [label, times] : samples.times_ms) {
    if (sum(times) >= kShareWithASay * all_ms)
      wanted = std::max(wanted, statistics::repetitions_needed(times, bench.interval, most));
  }
  return std::clamp(static_cast<std::int64_t>(wanted) + samples.failed, bench.least, bench.most);
}

}  // namespace headcrash::bench
