// Ideas that the paper mentions but does not implement: soft updates under the same load (section 7
// doubts that they help), and a map of busy groups (section 6.3: "would reduce the empty or clean
// file-system overhead to 0").
#include <algorithm>
#include <array>
#include <utility>

#include "harness/papers/judge.h"
#include "harness/papers/peacock98/crash.h"
#include "harness/papers/peacock98/peacock98.h"

namespace headcrash::experiment::peacock98 {
namespace {

/// Returns UFS, UFS with soft updates, and the commercial product.
std::array<ServerChoice, 3> servers_of(Presto presto) {
  const ServerChoice ufs{.raid = Raid::raid5, .presto = presto, .tuning = Tuning::ufs};
  ServerChoice soft = ufs, sold = ufs;
  soft.scheme = "soft-updates";
  sold.tuning = Tuning::bmap_fast_fsck;
  return {ufs, soft, sold};
}

ClaimAnswer soft_updates(Context& context) {
  ClaimAnswer answer{.id = "soft-updates",
                     .part = "beyond",
                     .title = "Soft updates under LADDIS (not in the paper)",
                     .kind = RuleClass::ours};
  Plot plot{.name = "soft-updates",
            .title = answer.title,
            .x = "throughput (NFS ops/s)",
            .y = "response (ms)"};
  for (const Presto presto : {Presto::none, Presto::both}) {
    std::vector<Figure> found;
    for (const ServerChoice& choice : servers_of(presto)) {
      const Curve& curve = Session::of(context).curve(context, choice);
      add_row(answer, name(choice), "highest rate at 50 ms", "ops/s", {}, curve.knee_per_s(),
              curve.error);
      add_row(answer, name(choice), "response at that rate", "ms", {}, curve.knee_ms(),
              curve.error);
      found.push_back(curve.knee_per_s());
      plot.series.push_back(series_of(name(choice), curve));
    }
    add_rule(answer,
             presto == Presto::none ? "RAID-5: soft updates are within 10 % of UFS"
                                    : "RAID-5, Presto: soft updates are within 10 % of UFS",
             {{"UFS", found[0], "ops/s"}, {"soft updates", found[1], "ops/s"}},
             [&] { return std::abs(*found[1] / *found[0] - 1) <= .1; });
  }
  answer.plots.push_back(std::move(plot));
  return answer;
}

ClaimAnswer busy_map(Context& context) {
  ClaimAnswer answer{
      .id = "busy-map",
      .part = "beyond",
      .title = "Recovery with a map of busy groups, RAID-0 with Presto (not in the paper)",
      .kind = RuleClass::ours};
  const double most = context.scaled ? 20 : context.parameter("most-per-s");
  for (const std::uint64_t gib : {std::uint64_t{5}, std::uint64_t{44}}) {
    std::vector<Cut> cuts;
    // A larger file set would not fit into a file system of 5 GB.
    const double highest = gib == 5 ? std::min(most / 2, 600.) : most / 2;
    for (const double load : {0., most / 24, highest})
      for (const bool map : {false, true}) {
        ServerChoice choice{.presto = Presto::both, .tuning = Tuning::bmap_fast_fsck};
        if (gib != 44) choice.size_bytes = gib * kGib;
        if (context.scaled) choice.size_bytes = kGib;
        choice.busy_map = map;
        cuts.push_back({choice, load, context.seed});
      }
    const auto crashed = crash_all(context, cuts);
    if (!crashed) return answer;
    const std::vector<CrashOutcome>& outcomes = *crashed;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const double load = cuts[i].load;
      add_row(
          answer,
          fmt::format("{} GB, {}, {}", gib, load == 0 ? "empty" : fmt::format("{:g} ops/s", load),
                      cuts[i].choice.busy_map ? "with a map" : "without"),
          "fast fsck", "s", {}, outcomes[i].of(outcomes[i].elapsed_s), outcomes[i].error);
    }
    const Figure empty = outcomes[1].of(outcomes[1].elapsed_s);
    add_rule(answer,
             fmt::format("{} GB, empty: with a map, recovery takes less than a second", gib),
             {in_unit(empty, "s")}, [&] { return *empty < 1; });
    std::uint64_t broken = 0;
    for (const CrashOutcome& one : outcomes) broken += one.broken;
    add_rule(answer,
             fmt::format("{} GB: after each recovery, all acknowledged data is present", gib),
             {{"broken", static_cast<double>(broken)}}, [&] { return broken == 0; });
  }
  return answer;
}

}  // namespace

std::vector<ServerChoice> curves_of_soft_updates() {
  std::vector<ServerChoice> choices;
  for (const Presto presto : {Presto::none, Presto::both})
    for (const ServerChoice& choice : servers_of(presto)) choices.push_back(choice);
  return choices;
}

std::vector<ClaimAnswer> beyond(Context& context) {
  if (!Session::of(context).prepare(context)) return {};
  return {soft_updates(context), busy_map(context)};
}

}  // namespace headcrash::experiment::peacock98
