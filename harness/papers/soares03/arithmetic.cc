// MS-16, and the paper's statements about its own tables. Uses only the paper's numbers, without
// any runs.
#include <algorithm>
#include <array>
#include <cmath>

#include "harness/papers/judge.h"
#include "harness/papers/soares03/soares03.h"

namespace headcrash::experiment::soares03 {
namespace {

constexpr std::array<double, 5> kExt2{323.362, 328.636, 330.204, 323.293, 282.465},
    kExt3{251.179, 186.646, 204.118, 178.313, 111.326},
    kKfs{291.108, 288.199, 290.809, 271.658, 240.511},
    kSnap{279.665, 277.702, 278.369, 261.600, 232.517};

void add_sum(ClaimAnswer& answer, std::string cell, std::string unit, Figure text,
             Figure by_table) {
  answer.numbers.push_back({.cell = std::move(cell),
                            .quantity = "by its tables",
                            .unit = std::move(unit),
                            .paper = text,
                            .ours = by_table});
}

ClaimAnswer own_tables() {
  ClaimAnswer answer{.id = "MS-03",
                     .part = "arithmetic",
                     .title =
                         "Statements of the text about tables I and II, checked against the "
                         "tables",
                     .kind = RuleClass::arithmetic};
  std::array<double, 5> cost{}, gap{};
  for (std::size_t i = 0; i < cost.size(); ++i) {
    cost[i] = 100 * (kKfs[i] / kSnap[i] - 1);
    gap[i] = 100 * (kExt2[i] / kExt3[i] - 1);
  }
  const double largest = *std::ranges::max_element(cost), best = kSnap[4] / kExt3[4];
  add_sum(answer, "maximum cost of snapshots (abstract)", "%", 4, largest);
  add_sum(answer, "snapshots' cost, 32 clients (\"almost 3 %\")", "%", 3, cost[4]);
  add_sum(answer, "ext3 over ext2, 1 client", "% more time", 60, gap[0]);
  add_sum(answer, "ext3 over ext2, 32 clients", "% more time", 152, gap[4]);
  add_sum(answer, "KFS+snap over ext3, 32 clients (\"109 %\")", "%", 109, 100 * (best - 1));
  add_sum(answer, "ext3 over ext2, PostMark", "% more time", 90, 100 * (369. / 192 - 1));
  add_rule(answer, "snapshots cost at most 4 %", {in_unit(largest, "%")},
           [&] { return largest <= 4; });
  add_rule(answer, "the cost is largest with one client", {{"1", cost[0]}, {"8", cost[2]}},
           [&] { return cost[0] >= largest; });
  add_rule(answer, "ext3 takes 60 % more time at one client (+-5)", {in_unit(gap[0], "%")},
           [&] { return std::abs(gap[0] - 60) <= 5; });
  add_rule(answer, "ext3 takes 152 % more time at 32 clients (+-5)", {in_unit(gap[4], "%")},
           [&] { return std::abs(gap[4] - 152) <= 5; });
  add_rule(answer, "the gap grows with each increase in clients",
           {{"1", gap[0]}, {"4", gap[1]}, {"8", gap[2]}, {"16", gap[3]}, {"32", gap[4]}},
           [&] { return std::ranges::is_sorted(gap); });
  add_rule(answer, "snapshots are 109 % better than a journal (+-1)",
           {in_unit(100 * (best - 1), "%")}, [&] { return std::abs(100 * (best - 1) - 109) <= 1; });
  return answer;
}

ClaimAnswer quoted() {
  ClaimAnswer answer{.id = "MS-16",
                     .part = "arithmetic",
                     .title = "Quotations of other papers (II-B, II-C)",
                     .kind = RuleClass::arithmetic};
  const auto say = [&](std::string cell, std::string unit, double printed, double theirs) {
    answer.numbers.push_back({.cell = std::move(cell),
                              .quantity = "in their own tables",
                              .unit = std::move(unit),
                              .paper = printed,
                              .ours = theirs});
  };
  // The eleven write costs in table 6-2 of Rosenblum 1992. The inverse of a cost is the fraction of
  // the bandwidth that is available for new data.
  constexpr std::array kWriteCosts{1.36, 1.88, 1.81, 1.20, 1.53, 1.41,
                                   1.77, 1.77, 1.68, 1.39, 1.52};
  double inverse = 0;
  for (const double cost : kWriteCosts)
    inverse += 100 / cost / static_cast<double>(kWriteCosts.size());
  say("LFS, bandwidth for new data", "%", 70, inverse);
  add_rule(answer,
           "LFS uses 70 % of the bandwidth (+-10 points, by the dissertation's write costs)",
           {in_unit(inverse, "%")}, [&] { return std::abs(inverse - 70) <= 10; });
  answer.remarks.push_back(
      "Unix's 5 to 10 % and LFS's 70 % are measured in rosenblum92 (LFS-38). ganger94, part "
      "future, compares soft updates with an aggressive journal. Soft updates recover without "
      "the long time of a full fsck; snapshots recover without any check: MS-07.");
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> arithmetic(Context&) {
  return {own_tables(), quoted()};
}

}  // namespace headcrash::experiment::soares03
