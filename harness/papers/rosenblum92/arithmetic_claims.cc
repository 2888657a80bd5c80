// Repeats the dissertation's calculations: LFS-05, LFS-08, LFS-21, LFS-35 and LFS-41.
#include <array>
#include <cmath>

#include "harness/papers/judge.h"
#include "harness/papers/rosenblum92/closed_forms.h"
#include "harness/papers/rosenblum92/simulator_figures.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

ClaimAnswer sequential_scan() {
  ClaimAnswer answer{.id = "LFS-05",
                     .part = "arithmetic",
                     .title = "A lookup by a scan of 1 GB at 2 MB/s (4.2)",
                     .kind = RuleClass::arithmetic};
  const double scan_s = 1024.0 / 2, added_ms = scan_s * 1000 * .001;
  answer.numbers = {{"whole disk", "scan", "min", 8., scan_s / 60, ""},
                    {"hit rate 99.9 %", "added to a read", "ms", 480., added_ms, ""}};
  add_rule(answer, "the scan takes over 8 minutes", {in_unit(scan_s / 60, "minutes")},
           [&] { return scan_s / 60 > 8; });
  add_rule(answer, "480 ms", {in_unit(added_ms, "ms")},
           [&] { return std::abs(added_ms / 480 - 1) <= .1; });
  answer.remarks.push_back("480 ms is .1 % of the rounded 8 minutes");
  return answer;
}

ClaimAnswer usage_table() {
  ClaimAnswer answer{.id = "LFS-08",
                     .part = "arithmetic",
                     .title = "Size of the segment usage table (4.4.3)",
                     .kind = RuleClass::arithmetic};
  const double entries = 1024.0 * 1024 / 512;
  answer.numbers = {{"1 GB, segments of 512 KB", "entries", "", {}, entries, ""},
                    {"48 KB per GB", "an entry", "bytes", 24., 48 * 1024 / entries, ""}};
  add_rule(answer, "48 KB per GB gives a whole number of bytes per entry",
           {in_unit(48 * 1024 / entries, "bytes")}, [&] { return 48 * 1024 / entries == 24; });
  return answer;
}

ClaimAnswer two_groups() {
  ClaimAnswer answer{.id = "LFS-21",
                     .part = "arithmetic",
                     .title = "90 % of the segments 90 % full, 10 % of them 10 % full (5.1)",
                     .kind = RuleClass::arithmetic};
  const double overall = .9 * .9 + .1 * .1;
  answer.numbers = {{"all segments", "utilization", "%", 82., 100 * overall, ""},
                    {"u = .1", "write cost", "", 2.2, write_cost_of(.1), ""},
                    {"u = .82", "write cost", "", 11.1, write_cost_of(overall), ""}};
  add_rule(answer, "the printed 82 %, 2.2 and 11.1 are correct",
           {{"U", overall}, {"cost", write_cost_of(.1)}, {"guarantee", write_cost_of(overall)}},
           [&] {
             return std::abs(overall - .82) < .005 && std::abs(write_cost_of(.1) - 2.2) < .05 &&
                    std::abs(write_cost_of(overall) - 11.1) < .05;
           });
  return answer;
}

/// A row of table 6-3: the fraction of cleaned segments that were empty, the utilization of the
/// other cleaned segments, and the write cost.
struct ProductionRow {
  const char* name;
  double empty, u, cost;
};
constexpr std::array kTable63{
    ProductionRow{"/src/kernel", .740, .296, 1.36}, ProductionRow{"/local", .362, .205, 1.88},
    ProductionRow{"/swap1", .463, .281, 1.81},      ProductionRow{"/tmp", .832, .144, 1.20},
    ProductionRow{"/pcs", .583, .177, 1.53},        ProductionRow{"/src", .704, .280, 1.41},
    ProductionRow{"/X11", .612, .552, 1.77},        ProductionRow{"/user1", .509, .321, 1.77},
    ProductionRow{"/user4", .562, .328, 1.68},      ProductionRow{"/user6", .701, .210, 1.39},
    ProductionRow{"/user5", .612, .226, 1.52}};

ClaimAnswer production_costs() {
  ClaimAnswer answer{.id = "LFS-35",
                     .part = "arithmetic",
                     .title = "Consistency of table 6-3: empty segments, write cost (6.5)",
                     .kind = RuleClass::arithmetic};
  double half_empty = 0, farthest = 0, lowest = 100, highest = 0;
  for (const ProductionRow& row : kTable63) {
    const double read = 1 - row.empty, live = read * row.u, cost = (1 + read) / (1 - live);
    half_empty += row.empty > .5 ? 1 : 0;
    farthest = std::max(farthest, std::abs(cost - row.cost));
    lowest = std::min(lowest, row.cost);
    highest = std::max(highest, row.cost);
    answer.numbers.push_back({row.name, "write cost", "", row.cost, cost, ""});
  }
  answer.numbers.push_back(
      {"more than half of them empty", "file systems", "", 11., half_empty, ""});
  add_rule(answer, "cost = (1 + read) / (1 - live) for a cleaned segment, +- .005",
           {{"largest difference", farthest}}, [&] { return farthest <= .0055; });
  add_rule(answer, "more than half of the segments cleaned were empty, in each file system",
           {in_unit(half_empty, "of 11 file systems")}, [&] { return half_empty == 11; });
  add_rule(answer, "the costs are from 1.2 to 1.8", {{"lowest", lowest}, {"highest", highest}},
           [&] { return lowest >= 1.15 && highest < 1.85; });
  answer.remarks.push_back(
      "The costs of /local and /swap1 are not in this range; /local has "
      "1.88.");
  return answer;
}

ClaimAnswer amdahl() {
  ClaimAnswer answer{
      .id = "LFS-41",
      .part = "arithmetic",
      .title =
          "A job of 600 s with 30 ms of disk time per 100 ms of processor time, on faster "
          "processors (3.1.1)",
      .kind = RuleClass::arithmetic};
  const double cpu_s = 600.0 * 100 / 130, disk_s = 600 - cpu_s;
  const auto time_s = [&](double faster) { return disk_s + cpu_s / faster; };
  // The disk time t and the processor time c that would yield the published numbers, from t + c /
  // 100 = 154.8 and t + c / 1000 = 120.5.
  const double implied_cpu_s = (154.8 - 120.5) / (1.0 / 100 - 1.0 / 1000),
               implied_disk_s = 154.8 - implied_cpu_s / 100;
  answer.numbers = {{"100 times", "elapsed", "s", 154.8, time_s(100), ""},
                    {"1000 times", "elapsed", "s", 120.5, time_s(1000), ""},
                    {"100 times", "speedup", "", 3.9, 600 / time_s(100), ""},
                    {"from 100 to 1000 times", "speedup", "", 1.3, time_s(100) / time_s(1000), ""},
                    {"; implied by the printed times", "processor", "s", cpu_s, implied_cpu_s, ""},
                    {"; implied by the printed times", "disk", "s", disk_s, implied_disk_s, ""}};
  add_rule(answer, "154.8 s and 120.5 s follow from the premises (+- 1 %)",
           {{"100", time_s(100)}, {"1000", time_s(1000)}}, [&] {
             return std::abs(time_s(100) / 154.8 - 1) <= .01 &&
                    std::abs(time_s(1000) / 120.5 - 1) <= .01;
           });
  add_rule(answer, "a processor ten times as fast gives a speedup below 1.3",
           {{"ratio", time_s(100) / time_s(1000)}},
           [&] { return time_s(100) / time_s(1000) < 1.3; });
  answer.remarks.push_back(
      "no division of a 600 s job into processor and disk time gives the printed times; they "
      "imply far more processor time than 600 s");
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> arithmetic(Context&) {
  return {sequential_scan(), usage_table(), two_groups(), production_costs(), amdahl()};
}

}  // namespace headcrash::experiment::rosenblum92
