#pragma once
// Runs of the simulator, each once however many figures ask for it, several at a time on the host's
// processors. A run's answer depends on its options alone.

#include <deque>
#include <functional>

#include "harness/papers/rosenblum92/cleaning_simulator.h"

namespace headcrash::experiment::rosenblum92 {

struct SimulatorRun {
  SimulatorOptions options;
  StableCost stable;
  UtilizationHistogram at_cleaning, hot_cleaned, cold_cleaned;  ///< with options.histograms

  double cost() const { return stable.cost; }
  double cost(const Positioning& positioning) const {
    return write_cost(stable.counts, options.files_per_segment, positioning);
  }
};

class SimulatorRuns {
 public:
  explicit SimulatorRuns(StabilityOptions stability, std::function<bool()> interrupted = {})
      : stability_(stability), interrupted_(std::move(interrupted)) {}

  /// Runs what is not there yet. An interruption leaves the rest out.
  void prepare(const std::vector<SimulatorOptions>& all);
  /// Runs it if need be. Valid as long as this object.
  const SimulatorRun& get(const SimulatorOptions& options);

  std::uint64_t files_written() const;  ///< by all of them

 private:
  const SimulatorRun* find(const SimulatorOptions& options) const;

  StabilityOptions stability_;
  std::function<bool()> interrupted_;
  std::deque<SimulatorRun> runs_;
};

}  // namespace headcrash::experiment::rosenblum92
