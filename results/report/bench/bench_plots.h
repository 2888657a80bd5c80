#pragma once
// The plots of a benchmark. The number of plots is bounded; the tables have everything.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/report/bench/bench_facts.h"
#include "results/report/campaign/run_plots.h"

namespace headcrash::report {

struct BenchPlots {
  std::vector<Plot>
      ageing;  ///< where phases were repeated at several ages: their times, then how files lie
  std::vector<Plot> recovery;    ///< where a workload that ends in a cut had several sizes
  std::vector<Plot> throughput;  ///< where a workload was run by several numbers of users
  std::vector<Plot> latency;     ///< one per device and workload
  std::vector<Plot> flushes;     ///< likewise
  std::vector<Plot> load;  ///< two per device, workload and phase: bytes a second, requests inside
};

/// All of them, in order: what the lines of a plot are told apart by.
std::vector<std::string> entrant_names(const Benchmark& bench);

Result<BenchPlots> bench_plots(const Benchmark& bench);

/// Of a phase "read-old day 91" what was measured, and at which age.
struct AgedPhase {
  std::string what;
  std::int64_t day = 0;
};
std::optional<AgedPhase> aged_phase(const std::string& phase);

/// Of "files=1000 users=4" the name "users": 4 and "files=1000". Only numbers above 0.
struct ParameterValue {
  std::int64_t value = 0;
  std::string rest;
};
std::optional<ParameterValue> value_in(const std::string& parameters, std::string_view name);

}  // namespace headcrash::report
