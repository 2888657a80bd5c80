#pragma once
// Runs of the simulator. Each is done once for all figures, several in parallel on the host's
// processors. The result depends only on the options.

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

  /// Does the missing runs. An interruption omits the rest.
  void prepare(const std::vector<SimulatorOptions>& all);
  /// Returns a run, doing it if necessary. Valid while this object exists.
  const SimulatorRun& get(const SimulatorOptions& options);

  std::uint64_t files_written() const;  ///< by all runs

 private:
  const SimulatorRun* find(const SimulatorOptions& options) const;

  StabilityOptions stability_;
  std::function<bool()> interrupted_;
  std::deque<SimulatorRun> runs_;
};

}  // namespace headcrash::experiment::rosenblum92
