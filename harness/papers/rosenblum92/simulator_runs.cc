// Executes and caches runs of the simulator (simulator_runs.h).
#include "harness/papers/rosenblum92/simulator_runs.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace headcrash::experiment::rosenblum92 {
namespace {

void run_one(SimulatorRun& run, const StabilityOptions& stability) {
  CleaningSimulator simulator(run.options);
  run.stable = run_until_stable(simulator, stability);
  if (!run.options.histograms) return;
  // Histograms must cover only the stable part of the run.
  simulator.forget_histograms();
  simulator.write(run.stable.counts.written);
  run.at_cleaning = simulator.at_cleaning();
  run.hot_cleaned = simulator.hot_cleaned();
  run.cold_cleaned = simulator.cold_cleaned();
}

}  // namespace

const SimulatorRun* SimulatorRuns::find(const SimulatorOptions& options) const {
  const auto at = std::ranges::find(runs_, options, &SimulatorRun::options);
  return at == runs_.end() ? nullptr : &*at;
}

void SimulatorRuns::prepare(const std::vector<SimulatorOptions>& all) {
  std::vector<SimulatorRun*> wanted;
  for (const SimulatorOptions& options : all) {
    if (find(options) != nullptr) continue;
    runs_.push_back({.options = options});
    wanted.push_back(&runs_.back());
  }
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < wanted.size(); i = next++) {
      if (interrupted_ && interrupted_()) return;
      run_one(*wanted[i], stability_);
    }
  };
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 16);
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min(threads, wanted.size()); ++i) others.emplace_back(work);
  work();
  for (std::thread& each : others) each.join();
}

const SimulatorRun& SimulatorRuns::get(const SimulatorOptions& options) {
  prepare({options});
  return *find(options);
}

std::uint64_t SimulatorRuns::files_written() const {
  std::uint64_t sum = 0;
  for (const SimulatorRun& run : runs_) sum += run.stable.written;
  return sum;
}

}  // namespace headcrash::experiment::rosenblum92
