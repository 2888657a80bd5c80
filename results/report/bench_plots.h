#pragma once
// The plots of a benchmark. Only so many are drawn as a page can bear; the tables have everything.

#include <map>
#include <string>
#include <vector>

#include "results/report/bench_facts.h"
#include "results/report/plots.h"

namespace headcrash::report {

struct BenchPlots {
  std::map<std::string, std::string> bars;  ///< SVG by the contest's identity, of the first kBarsMost
  std::vector<Plot> throughput;             ///< where a workload was run by several numbers of users
  std::vector<Plot> latency;                ///< one per device and workload
  std::vector<Plot> io;
};

Result<BenchPlots> bench_plots(const Benchmark& bench);

/// "files=1000 users=4" -> 4 and "files=1000".
struct UserCount {
  std::int64_t users = 0;
  std::string rest;
};
std::optional<UserCount> users_in(const std::string& parameters);

}  // namespace headcrash::report
