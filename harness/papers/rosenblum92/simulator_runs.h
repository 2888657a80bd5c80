#pragma once
// Simulator runs. Each run is executed only once for all figures. Several runs execute in parallel
// on the host's processors. The result of a run depends only on its options.

#include <deque>
#include <functional>

#include "harness/papers/rosenblum92/cleaning_simulator.h"

namespace headcrash::experiment::rosenblum92 {

struct SimulatorRun {
  SimulatorOptions options;
  StableCost stable;
  /// Set only if options.histograms is set.
  UtilizationHistogram at_cleaning, hot_cleaned, cold_cleaned;

  double cost() const { return stable.cost; }
  double cost(const Positioning& positioning) const {
    return write_cost(stable.counts, options.files_per_segment, positioning);
  }
};

class SimulatorRuns {
 public:
  explicit SimulatorRuns(StabilityOptions stability, std::function<bool()> interrupted = {})
      : stability_(stability), interrupted_(std::move(interrupted)) {}

  /// Executes the runs in `all` that have not been executed yet. After an interruption, skips the
  /// remaining runs.
  void prepare(const std::vector<SimulatorOptions>& all);
  /// Returns a run, and executes it first if necessary. The reference is valid as long as this
  /// object exists.
  const SimulatorRun& get(const SimulatorOptions& options);

  std::uint64_t files_written() const;  ///< total number over all runs

 private:
  const SimulatorRun* find(const SimulatorOptions& options) const;

  StabilityOptions stability_;
  std::function<bool()> interrupted_;
  std::deque<SimulatorRun> runs_;
};

}  // namespace headcrash::experiment::rosenblum92
