#pragma once
// A benchmark's plots. Their number is limited, but the tables contain all data.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/report/bench/bench_facts.h"
#include "results/report/campaign/run_plots.h"

namespace headcrash::report {

struct BenchPlots {
  /// Plots of phases that were repeated at several ages: first the times of the phases, then the
  /// layout of the files.
  std::vector<Plot> ageing;
  /// Plots of recovery times, for workloads that end in a cut and were measured on devices of
  /// several sizes.
  std::vector<Plot> recovery;
  std::vector<Plot> throughput;  ///< workloads measured with several numbers of users
  std::vector<Plot> latency;     ///< one for each device and workload
  std::vector<Plot> flushes;     ///< one for each device and workload
  /// For each device, workload and phase: a plot of throughput in bytes per second, and a plot of
  /// the number of requests at the device.
  std::vector<Plot> load;
};

/// Returns the names of all entrants, in the order that determines the line styles in all plots.
std::vector<std::string> entrant_names(const Benchmark& bench);

Result<BenchPlots> bench_plots(const Benchmark& bench);

/// A phase's action and the simulated day on which it runs, parsed from text such as "read-old day
/// 91".
struct AgedPhase {
  std::string what;
  std::int64_t day = 0;
};
std::optional<AgedPhase> aged_phase(const std::string& phase);

/// The value of one parameter, and the text of the other parameters. For the name "users" in
/// "files=1000 users=4", `value` is 4 and `rest` is "files=1000". The value must be above 0.
struct ParameterValue {
  std::int64_t value = 0;
  std::string rest;
};
std::optional<ParameterValue> value_in(const std::string& parameters, std::string_view name);

}  // namespace headcrash::report
