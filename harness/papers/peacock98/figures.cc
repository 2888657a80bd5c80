// Figures 2 to 6: response time as a function of throughput, for each tuning on each array (section
// 6.2).
#include <algorithm>
#include <utility>

#include "harness/papers/judge.h"
#include "harness/papers/peacock98/peacock98.h"
#include "harness/papers/peacock98/session.h"

namespace headcrash::experiment::peacock98 {
namespace {

/// Remark on a ratio that cannot be calculated because a knee is missing. The rows of the knees
/// give the exact reasons.
constexpr const char* kNoKnee =
    "one of the systems has no load with a response time of 50 ms, or is not modelled";

/// A point of a curve, as printed in the paper.
struct Printed {
  double per_s = 0, ms = 0;
};

/// Adds the knee of a curve, the response time at the knee, and the highest throughput.
void add_curve(ClaimAnswer& answer, const std::string& cell, const Curve& curve,
               std::optional<Printed> printed) {
  const std::string remark =
      curve.error.empty() ? "not even the lowest load is sustained" : curve.error;
  const Figure per_s = printed ? Figure(printed->per_s) : std::nullopt,
               ms = printed ? Figure(printed->ms) : std::nullopt;
  add_row(answer, cell, "highest rate at 50 ms", "ops/s", per_s, curve.knee_per_s(), remark);
  add_row(answer, cell, "response at that rate", "ms", ms, curve.knee_ms(), remark);
  if (const CurvePoint* const knee = curve.knee()) {
    add_row(answer, cell, "99th percentile at that rate", "ms", {}, knee->outcome.p99_ms, {});
    add_row(answer, cell, "drives busy at that rate", "%", {}, 100 * knee->outcome.drives_busy / 11,
            {});
    add_row(answer, cell, "processor busy at that rate", "%", {}, 100 * knee->outcome.cpu_busy, {});
  }
  add_row(answer, cell, "highest throughput", "ops/s", {}, curve.highest_per_s(), remark);
}

struct Curves {
  std::vector<std::pair<Tuning, const Curve*>> all;
  const Curve& of(Tuning tuning) const {
    return *std::ranges::find(all, tuning, &std::pair<Tuning, const Curve*>::first)->second;
  }
  Figure knee(Tuning tuning) const { return of(tuning).knee_per_s(); }
  Figure highest(Tuning tuning) const { return of(tuning).highest_per_s(); }
  /// Returns the mean response time at one point of the curve. The load of this point differs from
  /// `per_s` by at most 15 %.
  Figure ms_near(Tuning tuning, double per_s) const {
    const CurvePoint* best = nullptr;
    for (const CurvePoint& each : of(tuning).points) {
      if (each.outcome.saturated || std::abs(each.offered_per_s / per_s - 1) > .15) continue;
      if (best == nullptr ||
          std::abs(each.offered_per_s - per_s) < std::abs(best->offered_per_s - per_s))
        best = &each;
    }
    return best == nullptr ? std::nullopt : Figure(best->outcome.mean_ms);
  }
};

Curves run_all(Context& context, Raid raid, Presto presto, Reading reading) {
  Curves curves;
  if (!Session::of(context).prepare(context)) return curves;
  for (const ServerChoice& choice : curves_of_tunings(raid, presto, reading))
    curves.all.emplace_back(choice.tuning, &Session::of(context).curve(context, choice));
  return curves;
}

/// A curve in figure 2.
struct PrestoRow {
  Raid raid;
  Presto presto;
  const char* label;
  std::optional<Printed> printed;
  ServerChoice choice() const {
    return {.raid = raid, .presto = presto, .tuning = Tuning::bmap_fast_fsck};
  }
};
const PrestoRow kPrestoRows[] = {{Raid::raid5, Presto::none, "RAID-5", Printed{303, 61.7}},
                                 {Raid::raid5, Presto::upper, "RAID-5, Presto Upper only", {}},
                                 {Raid::raid5, Presto::both, "RAID-5, Presto", Printed{1397, 13.8}},
                                 {Raid::raid0, Presto::none, "RAID-0", Printed{859, 44.4}},
                                 {Raid::raid0, Presto::both, "RAID-0, Presto", Printed{3046, 20}}};

ClaimAnswer figure(const Curves& curves, ClaimAnswer answer, const char* name,
                   const std::vector<std::pair<Tuning, Printed>>& printed) {
  Plot plot{
      .name = name, .title = answer.title, .x = "throughput (NFS ops/s)", .y = "response (ms)"};
  for (const auto& [tuning, curve] : curves.all) {
    const auto found = std::ranges::find(printed, tuning, &std::pair<Tuning, Printed>::first);
    std::optional<Printed> its;
    if (found != printed.end()) its = found->second;
    add_curve(answer, peacock98::name(tuning), *curve, its);
    plot.series.push_back(series_of(peacock98::name(tuning), *curve));
    if (its)
      plot.series.push_back({.name = std::string(peacock98::name(tuning)) + " (paper)",
                             .points = {{its->per_s, its->ms}},
                             .from_paper = true});
  }
  answer.plots.push_back(std::move(plot));
  return answer;
}

Named named(const Curves& curves, Tuning tuning) {
  return {name(tuning), curves.knee(tuning)};
}

/// Adds a rule that one tuning has a higher knee than the others. The rule is undecided if the
/// difference is within the precision of the knees.
void add_above(ClaimAnswer& answer, const Context& context, const Curves& curves,
               const std::string& text, Tuning above, const std::vector<Tuning>& below) {
  std::vector<Named> values{named(curves, above)};
  for (const Tuning each : below) values.push_back(named(curves, each));
  add_rule_within(answer, text, values, precision_of(context), [&](double times) {
    return std::all_of(values.begin() + 1, values.end(), [&](const Named& each) {
      return *values.front().value * times > *each.value;
    });
  });
}

/// Adds the rules about the effects of fast fsck and of the bmap cache. In the reading with a hot
/// spot, omits the rule that does not depend on the reading.
void add_signs(ClaimAnswer& answer, const Context& context, const Curves& curves, Reading reading) {
  add_above(answer, context, curves, "fast fsck alone reduces the throughput", Tuning::ufs,
            {Tuning::fast_fsck});
  add_above(answer, context, curves, "the bmap cache increases the throughput of UFS", Tuning::bmap,
            {Tuning::ufs});
  if (reading == Reading::hot_spot) return;
  add_above(answer, context, curves, "the bmap cache increases the throughput of fast fsck",
            Tuning::bmap_fast_fsck, {Tuning::fast_fsck});
}

bool interrupted(const Curves& curves) {
  return curves.all.size() < std::size(kTunings);
}

using PrintedKnees = std::vector<std::pair<Tuning, Printed>>;
PrintedKnees figure_3() {
  return {{Tuning::fast_fsck, {298, 94.2}},
          {Tuning::bmap_fast_fsck, {303, 61.7}},
          {Tuning::vxld, {587, 58.2}}};
}
PrintedKnees figure_4() {
  return {{Tuning::vxld, {747, 49.3}}, {Tuning::bmap_fast_fsck, {1466, 21.6}}};
}
PrintedKnees figure_5() {
  return {{Tuning::bmap_fast_fsck, {859, 44.4}}};
}
PrintedKnees figure_6() {
  return {{Tuning::bmap_fast_fsck, {3046, 20}}};
}
constexpr std::pair<Raid, Presto> kFigures3To6[] = {{Raid::raid5, Presto::none},
                                                    {Raid::raid5, Presto::both},
                                                    {Raid::raid0, Presto::none},
                                                    {Raid::raid0, Presto::both}};

// Rules that the two readings share.

void judge_raid5(ClaimAnswer& answer, const Context& context, const Curves& curves,
                 Reading reading) {
  add_above(answer, context, curves, "logging has the highest throughput", Tuning::vxld,
            {Tuning::ufs, Tuning::bmap, Tuning::fast_fsck, Tuning::bmap_fast_fsck});
  const Figure journal_ms = curves.ms_near(Tuning::vxld, 400),
               ufs_ms = curves.ms_near(Tuning::ufs, 400);
  add_rule(answer, "the response time of logging equals that of UFS up to 400 ops/s (+-30 %)",
           {{"VxFS/VxLD", journal_ms, "ms"}, {"UFS", ufs_ms, "ms"}},
           [&] { return std::abs(*journal_ms / *ufs_ms - 1) <= .3; });
  add_signs(answer, context, curves, reading);
}

void add_lowest(ClaimAnswer& answer, const Context& context, const Curves& curves) {
  const Figure logging = curves.knee(Tuning::vxld);
  const std::vector<Named> tuned{named(curves, Tuning::vxld), named(curves, Tuning::ufs),
                                 named(curves, Tuning::bmap), named(curves, Tuning::fast_fsck),
                                 named(curves, Tuning::bmap_fast_fsck)};
  add_rule_within(answer, "logging has the lowest throughput", tuned, precision_of(context),
                  [&](double factor) {
                    return std::all_of(tuned.begin() + 1, tuned.end(), [&](const Named& each) {
                      return *logging * factor < *each.value;
                    });
                  });
}

void judge_signs(ClaimAnswer& answer, const Context& context, const Curves& curves,
                 Reading reading) {
  const Figure ufs = curves.knee(Tuning::ufs);
  add_row(answer, "fast fsck over UFS", "throughput", "times", {},
          part_of(curves.knee(Tuning::fast_fsck), ufs), kNoKnee);
  add_row(answer, "bmap over UFS", "throughput", "times", {},
          part_of(curves.knee(Tuning::bmap), ufs), kNoKnee);
  add_signs(answer, context, curves, reading);
}

}  // namespace

std::vector<ServerChoice> curves_of_tunings(Raid raid, Presto presto, Reading reading) {
  std::vector<ServerChoice> choices;
  for (const Tuning tuning : kTunings)
    choices.push_back(in_reading({.raid = raid, .presto = presto, .tuning = tuning}, reading));
  return choices;
}

std::vector<ServerChoice> curves_of_hot_spot() {
  std::vector<ServerChoice> choices;
  for (const auto& [raid, presto] : kFigures3To6) {
    const auto figure = curves_of_tunings(raid, presto, Reading::hot_spot);
    choices.insert(choices.end(), figure.begin(), figure.end());
  }
  choices.push_back(unbatched_log());
  return choices;
}

std::vector<ServerChoice> curves_of_presto() {
  std::vector<ServerChoice> choices;
  for (const PrestoRow& row : kPrestoRows) choices.push_back(row.choice());
  return choices;
}

std::vector<ClaimAnswer> raid5(Context& context) {
  const Curves curves = run_all(context, Raid::raid5, Presto::none, Reading::by_directory);
  if (interrupted(curves)) return {};
  ClaimAnswer answer = figure(
      curves,
      {.id = "PK-07", .part = "raid5", .title = "LADDIS on RAID-5 without Presto (figure 3)"},
      "figure3", figure_3());
  const Figure over = part_of(curves.knee(Tuning::vxld), curves.knee(Tuning::bmap_fast_fsck));
  add_row(answer, "VxFS/VxLD over bmap + fast fsck", "throughput", "times", 587. / 303, over,
          kNoKnee);
  judge_raid5(answer, context, curves, Reading::by_directory);
  return {answer};
}

std::vector<ClaimAnswer> raid5_presto(Context& context) {
  const Curves curves = run_all(context, Raid::raid5, Presto::both, Reading::by_directory);
  if (interrupted(curves)) return {};
  ClaimAnswer reversal = figure(
      curves,
      {.id = "PK-08", .part = "raid5-presto", .title = "LADDIS on RAID-5 with Presto (figure 4)"},
      "figure4", figure_4());
  const Figure both = curves.knee(Tuning::bmap_fast_fsck), logging = curves.knee(Tuning::vxld),
               times = part_of(both, logging);
  add_row(reversal, "bmap + fast fsck over VxFS/VxLD", "throughput", "times", 1466. / 747, times,
          kNoKnee);
  add_lowest(reversal, context, curves);
  add_rule_within(reversal, "bmap + fast fsck has 1.96 times the throughput of logging (+-.4)",
                  {in_unit(times, "times")}, precision_of(context),
                  [&](double factor) { return std::abs(*times * factor - 1.96) <= .4; });
  ClaimAnswer cached{.id = "PK-03",
                     .part = "raid5-presto",
                     .title = "Gain of the bmap cache (section 3.3, figure 4)"};
  const Figure gain = part_of(both, curves.knee(Tuning::fast_fsck), 100),
               more = gain ? Figure(*gain - 100) : std::nullopt,
               high = part_of(curves.highest(Tuning::bmap_fast_fsck),
                              curves.highest(Tuning::fast_fsck), 100),
               more_high = high ? Figure(*high - 100) : std::nullopt;
  add_row(cached, "bmap + fast fsck over fast fsck", "highest rate at 50 ms", "%", 23, more,
          kNoKnee);
  add_row(cached, "bmap + fast fsck over fast fsck", "highest throughput", "%", 23, more_high,
          kNoKnee);
  add_rule_within(cached, "with fast fsck, the bmap cache gains 15 to 30 %", {in_unit(more, "%")},
                  precision_of(context), [&](double factor) {
                    const double percent = (100 + *more) * factor - 100;
                    return percent >= 15 && percent <= 30;
                  });
  ClaimAnswer signs{.id = "PK-23",
                    .part = "raid5-presto",
                    .title = "Effect of each tuning with Presto (section 6.2)"};
  judge_signs(signs, context, curves, Reading::by_directory);
  return {reversal, cached, signs};
}

std::vector<ClaimAnswer> raid0(Context& context) {
  const Curves curves = run_all(context, Raid::raid0, Presto::none, Reading::by_directory);
  if (interrupted(curves)) return {};
  ClaimAnswer answer = figure(
      curves,
      {.id = "PK-09", .part = "raid0", .title = "LADDIS on RAID-0 without Presto (figure 5)"},
      "figure5", figure_5());
  add_above(answer, context, curves, "a log on a separate device is better than an internal log",
            Tuning::vxld, {Tuning::vxfs});
  add_signs(answer, context, curves, Reading::by_directory);
  return {answer};
}

std::vector<ClaimAnswer> raid0_presto(Context& context) {
  const Curves curves = run_all(context, Raid::raid0, Presto::both, Reading::by_directory);
  if (interrupted(curves)) return {};
  ClaimAnswer answer = figure(curves,
                              {.id = "PK-09, Presto",
                               .part = "raid0-presto",
                               .title = "LADDIS on RAID-0 with Presto (figure 6)"},
                              "figure6", figure_6());
  add_above(answer, context, curves, "logging has a lower throughput than bmap + fast fsck",
            Tuning::bmap_fast_fsck, {Tuning::vxld});
  add_above(answer, context, curves, "a log on a separate device is better than an internal log",
            Tuning::vxld, {Tuning::vxfs});
  add_signs(answer, context, curves, Reading::by_directory);
  return {answer};
}

std::vector<ClaimAnswer> hot_spot(Context& context) {
  constexpr Reading kReading = Reading::hot_spot;
  const Curves slow = run_all(context, Raid::raid5, Presto::none, kReading),
               fast = run_all(context, Raid::raid5, Presto::both, kReading),
               striped = run_all(context, Raid::raid0, Presto::none, kReading),
               striped_fast = run_all(context, Raid::raid0, Presto::both, kReading);
  if (interrupted(striped_fast)) return {};
  const auto answer_of = [&](const char* id, const char* title) {
    return ClaimAnswer{.id = std::string(id) + ", hot spot",
                       .part = "hot-spot",
                       .title = std::string(title) + "; UFS and bmap allocate from a hot spot"};
  };
  ClaimAnswer raid5 = figure(slow, answer_of("PK-07", "LADDIS on RAID-5 without Presto (figure 3)"),
                             "figure3-hot-spot", figure_3());
  judge_raid5(raid5, context, slow, kReading);
  ClaimAnswer reversal = figure(fast, answer_of("PK-08", "LADDIS on RAID-5 with Presto (figure 4)"),
                                "figure4-hot-spot", figure_4());
  add_lowest(reversal, context, fast);
  ClaimAnswer signs = answer_of("PK-23", "Effect of each tuning with Presto (section 6.2)");
  judge_signs(signs, context, fast, kReading);
  ClaimAnswer raid0 =
      figure(striped, answer_of("PK-09", "LADDIS on RAID-0 without Presto (figure 5)"),
             "figure5-hot-spot", figure_5());
  add_signs(raid0, context, striped, kReading);
  ClaimAnswer raid0_presto =
      figure(striped_fast, answer_of("PK-09, Presto", "LADDIS on RAID-0 with Presto (figure 6)"),
             "figure6-hot-spot", figure_6());
  add_signs(raid0_presto, context, striped_fast, kReading);
  ClaimAnswer sds = answer_of("PK-12", "A log whose commits are not batched, RAID-5 (section 4)");
  judge_unbatched(sds, context, knee_or_highest(context, unbatched_log()), slow.knee(Tuning::ufs));
  std::vector<ClaimAnswer> answers{raid5, reversal, signs, raid0, raid0_presto, sds};
  if (auto cached = hits_in(context, kReading)) answers.push_back(*std::move(cached));
  return answers;
}

std::vector<ClaimAnswer> presto(Context& context) {
  ClaimAnswer answer{
      .id = "PK-05", .part = "presto", .title = "RAID and Presto, bmap + fast fsck (figure 2)"};
  ClaimAnswer upper{.id = "PK-06", .part = "presto", .title = "Presto Upper alone (figure 2)"};
  Plot plot{.name = "figure2",
            .title = answer.title,
            .x = "throughput (NFS ops/s)",
            .y = "response (ms)"};
  std::vector<Figure> knees;
  if (!Session::of(context).prepare(context)) return {};
  for (const PrestoRow& row : kPrestoRows) {
    const Curve& curve = Session::of(context).curve(context, row.choice());
    add_curve(row.presto == Presto::upper ? upper : answer, row.label, curve, row.printed);
    plot.series.push_back(series_of(row.label, curve));
    knees.push_back(curve.knee_per_s());
    if (!row.printed) continue;
    plot.series.push_back({.name = std::string(row.label) + " (paper)",
                           .points = {{row.printed->per_s, row.printed->ms}},
                           .from_paper = true});
    add_rule_within(answer, std::string(row.label) + ": throughput within 30 % of the paper's",
                    {{"paper", row.printed->per_s}, {"here", knees.back(), "ops/s"}},
                    precision_of(context), [&](double times) {
                      return std::abs(*knees.back() * times / row.printed->per_s - 1) <= .3;
                    });
  }
  answer.plots.push_back(std::move(plot));
  const auto ratio = [&](const char* label, std::size_t over, std::size_t under, double paper) {
    const Figure ours = part_of(knees[over], knees[under]);
    add_row(answer, label, "throughput", "times", paper, ours, kNoKnee);
    add_rule_within(answer, fmt::format("{}: a factor of {:.2g} (+-25 %)", label, paper),
                    {in_unit(ours, "times")}, precision_of(context),
                    [&](double times) { return std::abs(*ours * times / paper - 1) <= .25; });
  };
  ratio("Presto on RAID-5", 2, 0, 1397. / 303);
  ratio("Presto on RAID-0", 4, 3, 3046. / 859);
  ratio("RAID-0 over RAID-5, no Presto", 3, 0, 859. / 303);
  ratio("RAID-0 over RAID-5, Presto", 4, 2, 3046. / 1397);
  add_rule_within(
      upper, "Presto Upper alone is between no Presto and both layers",
      {{"none", knees[0]}, {"Upper", knees[1]}, {"both", knees[2]}}, precision_of(context),
      [&](double times) { return *knees[0] < *knees[1] * times && *knees[1] * times < *knees[2]; });
  return {answer, upper};
}

}  // namespace headcrash::experiment::peacock98
