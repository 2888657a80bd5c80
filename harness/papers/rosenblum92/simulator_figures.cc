// Configures the simulator as in chapter 5, and runs the curves in its figures
// (simulator_figures.h).
#include "harness/papers/rosenblum92/simulator_figures.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr std::uint32_t kScaledBy = 64;  ///< divisor for the numbers of files in scaled runs

StabilityOptions stability_of(bool scaled) {
  if (scaled) return {.windows_min = 2, .windows_max = 3};
  return {};
}

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

const std::vector<AgeReading>& age_readings() {
  static const std::vector<AgeReading> kReadings{
      {SegmentAge::last_write, "age since the segment's last write"},
      {SegmentAge::youngest_file, "age of the youngest file, as printed"},
  };
  return kReadings;
}

SimulatorFigures::SimulatorFigures(Context& context)
    : scaled_(context.scaled),
      seed_(context.seed),
      utilizations_(context.scaled ? std::vector<double>{.2, .6, .75, .8, .9}
                                   : std::vector<double>{.1, .15, .2, .3, .4, .5, .6, .7, .75, .8,
                                                         .85, .9, .95}),
      runs_(stability_of(context.scaled), context.interrupt_requested) {}

std::uint32_t SimulatorFigures::scaled_files(std::uint32_t files) const {
  return scaled_ ? std::max<std::uint32_t>(1, files / kScaledBy) : files;
}

SimulatorOptions SimulatorFigures::greedy(const AccessPattern& pattern) const {
  SimulatorOptions options{.pattern = pattern, .seed = seed_};
  if (!scaled_) return options;
  // In scaled runs, segments hold 16 files, or fewer in figures that vary the segment size.
  options.files = 8192;
  options.files_per_segment = 16;
  options.files_cleaned_at_once = 80;
  return options;
}

SimulatorOptions SimulatorFigures::cost_benefit(const AccessPattern& pattern, SegmentAge age,
                                                lfs::WriteBackOrder order) const {
  SimulatorOptions options = greedy(pattern);
  options.selection = lfs::Selection::cost_benefit;
  options.order = order;
  options.segment_age = age;
  return options;
}

void SimulatorFigures::prepare(const std::vector<Curve>& curves,
                               const std::vector<double>& utilizations) {
  std::vector<SimulatorOptions> all;
  // Starts the most expensive runs first, so that only short runs are left at the end.
  for (auto u = utilizations.rbegin(); u != utilizations.rend(); ++u) {
    for (const Curve& curve : curves) all.push_back(at(curve.options, *u));
  }
  runs_.prepare(all);
}

Series SimulatorFigures::series(const Curve& curve, const std::vector<double>& utilizations) {
  Series series{.name = curve.name};
  for (const double u : utilizations) series.points.emplace_back(u, cost(curve.options, u));
  return series;
}

Series level(std::string name, double height, const std::vector<double>& xs) {
  return computed(std::move(name), xs, [&](double) { return height; });
}

Series computed(std::string name, const std::vector<double>& xs,
                const std::function<double(double)>& y) {
  Series series{.name = std::move(name)};
  for (const double x : xs) series.points.emplace_back(x, y(x));
  return series;
}

Series distribution(std::string name, const UtilizationHistogram& histogram) {
  Series series{.name = std::move(name)};
  for (std::size_t bin = 0; bin < UtilizationHistogram::kBins; ++bin)
    series.points.emplace_back((static_cast<double>(bin) + .5) / UtilizationHistogram::kBins,
                               histogram.share(bin));
  return series;
}

double mode(const UtilizationHistogram& histogram) {
  const auto most = std::ranges::max_element(histogram.segments) - histogram.segments.begin();
  return (static_cast<double>(most) + .5) / UtilizationHistogram::kBins;
}

}  // namespace headcrash::experiment::rosenblum92
