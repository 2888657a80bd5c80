#pragma once
// The data for the claims about chapter 5: the configurations that the chapter names, and the
// curves in its figures.

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "harness/papers/paper.h"
#include "harness/papers/rosenblum92/cleaning_simulator.h"
#include "results/db/claim.h"

namespace headcrash::experiment::rosenblum92 {

inline constexpr double kUnixToday = 10, kUnixImproved = 4;  ///< write costs of Unix in figure 5-1

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

/// Simulator runs. Each run is executed only once for all figures. Several runs execute in parallel
/// on the host's processors. The result of a run depends only on its options.
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

/// A curve in a figure. All points have the same `options` except for the utilization.
struct Curve {
  std::string name;
  SimulatorOptions options;
};

/// A definition of the age of a segment, and its name: "as printed" or "since the last write".
struct AgeReading {
  SegmentAge age;
  std::string name;
};
const std::vector<AgeReading>& age_readings();

class SimulatorFigures {
 public:
  explicit SimulatorFigures(Context& context);

  /// Returns the options for the greedy cleaner, which is the first design in the dissertation.
  SimulatorOptions greedy(const AccessPattern& pattern) const;
  SimulatorOptions cost_benefit(const AccessPattern& pattern, SegmentAge age,
                                lfs::WriteBackOrder order = lfs::WriteBackOrder::by_age) const;
  static SimulatorOptions at(SimulatorOptions options, double utilization) {
    options.utilization = utilization;
    return options;
  }
  /// Converts a number of files that the dissertation gives for segments of 512 files to the
  /// segment size of this run.
  std::uint32_t scaled_files(std::uint32_t files) const;

  /// Runs all points on all curves in parallel.
  void prepare(const std::vector<Curve>& curves, const std::vector<double>& utilizations);
  const SimulatorRun& run(const SimulatorOptions& options) { return runs_.get(options); }
  double cost(const SimulatorOptions& options, double utilization) {
    return runs_.get(at(options, utilization)).cost();
  }
  Series series(const Curve& curve, const std::vector<double>& utilizations);
  SimulatorRuns& runs() { return runs_; }
  const std::vector<double>& utilizations() const { return utilizations_; }

 private:
  bool scaled_;
  std::uint64_t seed_;
  std::vector<double> utilizations_;
  SimulatorRuns runs_;
};

/// Returns a series whose value is `height` everywhere.
Series level(std::string name, double height, const std::vector<double>& xs);
Series computed(std::string name, const std::vector<double>& xs,
                const std::function<double(double)>& y);
Series distribution(std::string name, const UtilizationHistogram& histogram);
/// Returns the midpoint of the bin with the most segments.
double mode(const UtilizationHistogram& histogram);

std::vector<ClaimAnswer> greedy_claims(SimulatorFigures& figures);        ///< LFS-11 to LFS-15
std::vector<ClaimAnswer> cost_benefit_claims(SimulatorFigures& figures);  ///< LFS-16 to LFS-18
std::vector<ClaimAnswer> parameter_claims(SimulatorFigures& figures);     ///< LFS-19, LFS-20
std::vector<ClaimAnswer> arithmetic(Context& context);  ///< LFS-05, 08, 21, 35, 41
std::vector<ClaimAnswer> simulator(Context& context);   ///< all of chapter 5
/// Variants that are not in the dissertation.
std::vector<ClaimAnswer> beyond(Context& context);

}  // namespace headcrash::experiment::rosenblum92
