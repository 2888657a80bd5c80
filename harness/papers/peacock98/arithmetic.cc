// Compares the paper's numbers with each other, without any runs: PK-20 (section 6.4), PK-16,
// PK-17, PK-05.
#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/papers/judge.h"
#include "harness/papers/peacock98/curve.h"
#include "harness/papers/peacock98/peacock98.h"

namespace headcrash::experiment::peacock98 {
namespace {

ClaimAnswer extrapolation() {
  ClaimAnswer answer{.id = "PK-20",
                     .part = "arithmetic",
                     .title = "RAID-5 scaled to the thirteen data drives of NetApp (section 6.4)",
                     .kind = RuleClass::arithmetic};
  const double by_figure2 = 1397 * 1.3, by_figure4 = 1466 * 1.3;
  add_row(answer, "1397 x 13/10, as printed", "throughput", "ops/s", 1905., by_figure2, {});
  add_row(answer, "1466 x 13/10, figure 4's number", "throughput", "ops/s", 1905., by_figure4, {});
  add_rule(answer, "1397 x 13/10 is 1905 (+-1)", {in_unit(by_figure2, "ops/s")},
           [&] { return std::abs(by_figure2 - 1905) <= 1; });
  add_rule(answer, "1466 x 13/10 is 1905 (+-1)", {in_unit(by_figure4, "ops/s")},
           [&] { return std::abs(by_figure4 - 1905) <= 1; });
  answer.remarks.push_back("The machine with a snapshot file system on RAID-4 is not modelled.");
  return answer;
}

ClaimAnswer own_numbers() {
  ClaimAnswer answer{.id = "PK-05, printed",
                     .part = "arithmetic",
                     .title =
                         "Figures of merit compared with "
                         "each other",
                     .kind = RuleClass::arithmetic};
  add_row(answer, "bmap + fast fsck on RAID-5 with Presto, figure 4 over figure 2", "throughput",
          "times", 1., 1466. / 1397, {});
  add_row(answer, "fast fsck alone with Presto, computed from figure 4 and 23 %", "throughput",
          "ops/s", {}, 1466 / 1.23, {});
  add_row(answer, "bmap + fast fsck over fast fsck, RAID-5 without Presto", "throughput", "%", {},
          100 * (303. / 298 - 1), {});
  add_row(answer, "VxFS on RAID-0 with Presto, computed from \"60 % less\"", "throughput", "ops/s",
          {}, 3046 * .4, {});
  add_rule(answer, "figures 2 and 4 have the same number for the same configuration (+-1 %)",
           {{"figure 2", 1397.}, {"figure 4", 1466.}}, [] { return 1466. / 1397 <= 1.01; });
  const std::vector<Named> responses{{"RAID-5", 61.7}, {"fast fsck", 94.2}, {"VxFS", 58.2}};
  add_rule(answer, "figures of merit are throughputs at response times of at most 50 ms", responses,
           [&] {
             return std::ranges::all_of(
                 responses, [](const Named& each) { return *each.value <= kResponseLimitMs; });
           });
  return answer;
}

ClaimAnswer shares() {
  ClaimAnswer answer{.id = "PK-17, printed",
                     .part = "arithmetic",
                     .title = "\"3 % to 25 %\", \"4 to 30 times faster\"",
                     .kind = RuleClass::arithmetic};
  const double with = 100 * 15.6 / 219, without = 100 * 54. / 219, empty = 100 * 42. / 382;
  add_row(answer, "table 1, fast fsck + Presto over UFS", "recovery", "%", {}, with, {});
  add_row(answer, "table 1, fast fsck over UFS", "recovery", "%", {}, without, {});
  add_row(answer, "figure 7, empty", "recovery", "%", {}, empty, {});
  add_rule(answer, "all of these ratios are 3 to 25 %",
           {{"", with, "%"}, {"", without, "%"}, {"", empty, "%"}},
           [&] { return with >= 3 && without <= 25 && empty <= 25; });
  add_rule(answer, "none of these is 30 times faster",
           {{"", with, "%"}, {"", without, "%"}, {"", empty, "%"}},
           [&] { return with > 100. / 30; });
  // A cylinder group covers about 16 MB.
  const double groups = 44. * 1024 / 16, of_a_group_ms = 42e3 / groups,
               small_s = 5. * 1024 / 16 * of_a_group_ms / 1e3;
  add_row(answer, "42 s divided by the groups of 44 GB", "a group", "ms", {}, of_a_group_ms, {});
  add_row(answer, "5 GB, clean, at the same time per group (section 6.4)", "fast fsck", "s", 4.,
          small_s, {});
  add_row(answer, "382 s divided by the groups of 44 GB", "a group", "ms", {}, 382e3 / groups, {});
  add_rule(answer, "44 GB and 5 GB take the same time per group (+-25 %)", {in_unit(small_s, "s")},
           [&] { return std::abs(small_s / 4 - 1) <= .25; });
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> arithmetic(Context&) {
  return {extrapolation(), own_numbers(), shares()};
}

}  // namespace headcrash::experiment::peacock98
