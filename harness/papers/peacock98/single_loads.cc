// Results that need only runs at one load, or one additional knee: PK-15, PK-22 (flusher and
// fsflush), PK-04 (hot spot), PK-10 (repeated), PK-12 and PK-19 (batched commits), PK-18 (5 GB),
// and write gathering, which the paper's server does not support.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "harness/papers/judge.h"
#include "harness/papers/peacock98/crash.h"
#include "harness/papers/peacock98/peacock98.h"

namespace headcrash::experiment::peacock98 {
namespace {

void add_load(ClaimAnswer& answer, const std::string& cell, const LaddisOutcome& outcome,
              Figure paper_ms = {}) {
  add_row(answer, cell, "response", "ms", paper_ms, outcome.of(outcome.mean_ms), outcome.error);
  add_row(answer, cell, "throughput", "ops/s", {}, outcome.of(outcome.achieved_per_s),
          outcome.error);
}

constexpr double kTuningsPerS = 1500;

/// Rules compare tunings only if the drives are busy for at least this percentage of the time. On
/// less busy drives, additional writes delay hardly any requests, so the rules would prove nothing.
constexpr double kMostlyBusy = 50;
Named drives_busy(const LaddisOutcome& outcome) {
  constexpr double kDrives = 11;
  return {"drives busy", outcome.of(100 * outcome.drives_busy / kDrives), "%"};
}

/// Returns one load for each curve of figure 9, all at the same rate, and an additional load with
/// fsflush on.
std::vector<Load> loads_of_tunings() {
  const ServerChoice usual{
      .raid = Raid::raid0, .presto = Presto::both, .tuning = Tuning::bmap_fast_fsck};
  std::vector<Load> loads;
  loads.reserve(kFlusherSettings.size() + 1);
  for (const FlusherSetting& setting : kFlusherSettings)
    loads.push_back({with_flusher(usual, setting), kTuningsPerS});
  ServerChoice choice = usual;
  choice.flushes_by_age = true;
  loads.push_back({choice, kTuningsPerS});
  return loads;
}

ClaimAnswer tunings_of_flusher(const std::vector<LaddisOutcome>& outcomes) {
  ClaimAnswer answer{
      .id = "PK-15",
      .part = "tunings",
      .title = "Response by the flusher's interval and share, RAID-0 with Presto (figure 9)"};
  std::vector<Named> responses, throughputs;
  for (std::size_t i = 0; i < kFlusherSettings.size(); ++i) {
    const FlusherSetting& setting = kFlusherSettings[i];
    const LaddisOutcome& outcome = outcomes[i];
    add_load(answer, fmt::format("{}, {:g} ops/s", setting.name, kTuningsPerS), outcome);
    responses.push_back({setting.name, outcome.of(outcome.mean_ms)});
    throughputs.push_back({setting.name, outcome.of(outcome.achieved_per_s)});
  }
  const Named busy = drives_busy(outcomes.front());
  add_rule(answer, "the throughputs differ by at most 5 %", throughputs, [&] {
    const auto [least, most] =
        std::ranges::minmax_element(throughputs, {}, [](const Named& one) { return *one.value; });
    return *most->value <= *least->value * 1.05;
  });
  require_action(answer, busy, kMostlyBusy);
  add_rule(
      answer, "responses are slowest with a flusher that runs 40 % of each second", responses, [&] {
        return std::ranges::all_of(
            responses, [&](const Named& one) { return *one.value <= *responses.back().value; });
      });
  require_action(answer, busy, kMostlyBusy);
  return answer;
}

ClaimAnswer periodic_flush(const LaddisOutcome& off, const LaddisOutcome& on) {
  ClaimAnswer answer{.id = "PK-22",
                     .part = "tunings",
                     .title = "Periodic flushing of all data, on and off (section 5.2)"};
  add_load(answer, "off", off);
  add_load(answer, "on", on);
  add_rule(answer, "responses are faster with periodic flushing off",
           {{"off", off.of(off.mean_ms)}, {"on", on.of(on.mean_ms)}},
           [&] { return off.mean_ms < on.mean_ms; });
  require_action(answer, drives_busy(off), kMostlyBusy);
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> tunings(Context& context) {
  const auto outcomes = Session::of(context).loads(context, loads_of_tunings());
  if (outcomes.empty()) return {};
  return {tunings_of_flusher(outcomes), periodic_flush(outcomes.front(), outcomes.back())};
}

std::vector<ClaimAnswer> stripes(Context& context) {
  ClaimAnswer answer{.id = "PK-04",
                     .part = "stripes",
                     .title = "Full-stripe writes, RAID-5 with Presto (section 3.4)"};
  constexpr double kLoad = 400;
  const ServerChoice hot{.raid = Raid::raid5, .presto = Presto::both, .tuning = Tuning::fast_fsck};
  ServerChoice spread = hot;
  spread.scheme = "netra-check";
  const auto outcomes = Session::of(context).loads(context, {{hot, kLoad}, {spread, kLoad}});
  if (outcomes.empty()) return {};
  const auto share_of = [&](const char* label, const LaddisOutcome& outcome) -> Figure {
    const auto whole = static_cast<double>(outcome.array.full_stripe_writes),
               all = whole + static_cast<double>(outcome.array.read_modify_writes +
                                                 outcome.array.reconstruct_writes);
    const Figure share = all > 0 ? outcome.of(100 * whole / all) : std::nullopt;
    add_row(answer, label, "full-stripe writes", "%", {}, share,
            outcome.error.empty() ? "no stripe was written" : outcome.error);
    add_row(answer, label, "stripe writes per request", "", {},
            outcome.requests > 0 ? outcome.of(all / static_cast<double>(outcome.requests))
                                 : std::nullopt,
            outcome.error);
    return share;
  };
  const Figure with = share_of("hot spot", outcomes[0]),
               without = share_of("groups by directory", outcomes[1]);
  add_rule(answer, "the hot spot makes more full-stripe writes",
           {{"hot spot", with, "%"}, {"by directory", without, "%"}},
           [&] { return *with > *without; });
  return {answer};
}

std::optional<ClaimAnswer> hits_in(Context& context, Reading reading) {
  const bool hot = reading == Reading::hot_spot;
  ClaimAnswer answer{
      .id = hot ? "PK-11, hot spot" : "PK-11",
      .part = hot ? "hot-spot" : "hits",
      .title = std::string(
                   "Writes of the NVRAM that hit a dirty block, RAID-5 with Presto (section 4)") +
               (hot ? "; UFS and bmap allocate from a hot spot" : "")};
  constexpr double kLoad = 400;  // within the capacity of all servers
  constexpr std::array kFour{Tuning::vxld, Tuning::vxfs, Tuning::ufs, Tuning::bmap_fast_fsck};
  std::vector<Load> loads;
  loads.reserve(kFour.size());
  for (const Tuning tuning : kFour)
    loads.push_back(
        {in_reading({.raid = Raid::raid5, .presto = Presto::both, .tuning = tuning}, reading),
         kLoad});
  const auto outcomes = Session::of(context).loads(context, loads);
  if (outcomes.empty()) return std::nullopt;
  const auto share_of = [&](std::size_t at, const Figure& paper) -> Figure {
    const Tuning tuning = kFour[at];
    const LaddisOutcome& outcome = outcomes[at];
    std::uint64_t writes = 0, dirty = 0, blocks = 0;
    for (const WriteHits& kind : outcome.hits) {
      writes += kind.writes;
      dirty += kind.dirty_hits;
      blocks += kind.block_hits;
      if (kind.writes > 0)
        add_row(answer, fmt::format("{}, {}", name(tuning), kind.kind), "hits", "%", {},
                100 * static_cast<double>(kind.dirty_hits) / static_cast<double>(kind.writes), {});
    }
    const Figure share =
        writes > 0 ? Figure(100 * static_cast<double>(dirty) / static_cast<double>(writes))
                   : std::nullopt;
    add_row(answer, name(tuning), "hits, all kinds", "%", paper, share,
            outcome.error.empty() ? "no write" : outcome.error);
    if (writes > 0)
      add_row(answer, name(tuning), "hits of a dirty block, at any byte", "%", {},
              100 * static_cast<double>(blocks) / static_cast<double>(writes), {});
    return share;
  };
  const Figure vxld = share_of(0, 7), vxfs = share_of(1, 7), ufs = share_of(2, {}),
               both = share_of(3, 65);
  // The other two rules do not depend on the reading.
  if (!hot)
    add_rule(answer, "VxFS: at most 15 %, with either location of the log",
             {{"VxLD", vxld, "%"}, {"inside", vxfs, "%"}},
             [&] { return *vxld <= 15 && *vxfs <= 15; });
  add_rule(answer, "UFS and bmap + fast fsck: at least 50 %",
           {{"UFS", ufs, "%"}, {"bmap + fast fsck", both, "%"}},
           [&] { return *ufs >= 50 && *both >= 50; });
  if (!hot)
    add_rule(answer, "a log has fewer hits than UFS",
             {{"VxLD", vxld, "%"}, {"bmap + fast fsck", both, "%"}}, [&] { return *vxld < *both; });
  return answer;
}

std::vector<ClaimAnswer> hits(Context& context) {
  auto answer = hits_in(context, Reading::by_directory);
  if (!answer) return {};
  return {*std::move(answer)};
}

std::vector<ClaimAnswer> repeated(Context& context) {
  ClaimAnswer answer{
      .id = "PK-10",
      .part = "repeated",
      .title = "One load with several seeds: RAID-0, Presto, 3000 ops/s (section 6.2)"};
  constexpr double kLoad = 3000;
  const auto executions =
      static_cast<std::uint64_t>(context.scaled ? 2 : context.parameter("executions"));
  std::vector<Load> loads;
  loads.reserve(executions);
  for (std::uint64_t i = 0; i < executions; ++i)
    loads.push_back(
        {{.raid = Raid::raid0, .presto = Presto::both, .tuning = Tuning::bmap_fast_fsck},
         kLoad,
         {},
         context.seed + i});
  const auto outcomes = Session::of(context).loads(context, loads);
  if (outcomes.empty()) return {};
  std::vector<double> responses;
  std::string error;
  for (const LaddisOutcome& outcome : outcomes) {
    if (error.empty()) error = outcome.saturated ? "the load is not sustained" : outcome.error;
    responses.push_back(outcome.mean_ms);
  }
  Figure mean, deviation;
  if (error.empty() && responses.size() > 1) {
    double sum = 0, squares = 0;
    for (const double one : responses) sum += one / static_cast<double>(responses.size());
    for (const double one : responses) squares += (one - sum) * (one - sum);
    mean = sum, deviation = std::sqrt(squares / static_cast<double>(responses.size() - 1));
  }
  add_row(answer, "3000 ops/s", "response", "ms", 10.92, mean, error);
  add_row(answer, "3000 ops/s", "standard deviation", "ms", 1.05, deviation, error);
  add_rule(answer, "the standard deviation is at most a tenth of the mean",
           {{"mean", mean, "ms"}, {"deviation", deviation, "ms"}},
           [&] { return *deviation <= .1 * *mean; });
  return {answer};
}

ServerChoice unbatched_log() {
  return {.raid = Raid::raid5, .tuning = Tuning::vxld, .scheme = "journal-external-unbatched"};
}

Figure knee_or_highest(Context& context, const ServerChoice& choice) {
  const Curve& curve = Session::of(context).curve(context, choice);
  if (!curve.error.empty()) return std::nullopt;
  return curve.knee_per_s() ? curve.knee_per_s() : curve.highest_per_s();
}

void judge_unbatched(ClaimAnswer& answer, const Context& context, Figure unbatched, Figure ufs) {
  add_rule_within(answer, "the unbatched log saturates first", {{"SDS", unbatched}, {"UFS", ufs}},
                  precision_of(context), [&](double times) { return *unbatched * times < *ufs; });
}

std::vector<ServerChoice> curves_of_batching() {
  return {
      unbatched_log(),
      {.raid = Raid::raid5, .tuning = Tuning::ufs},
      {.raid = Raid::raid0, .tuning = Tuning::vxld},
      {.raid = Raid::raid0, .tuning = Tuning::vxld, .scheme = "journal-external-data-unbatched"}};
}

std::vector<ClaimAnswer> batching(Context& context) {
  if (!Session::of(context).prepare(context)) return {};
  const std::vector<ServerChoice> choices = curves_of_batching();
  ClaimAnswer sds{.id = "PK-12",
                  .part = "batching",
                  .title = "A log whose commits are not batched, RAID-5 (section 4)"};
  ClaimAnswer vahalia{
      .id = "PK-19",
      .part = "batching",
      .title = "Batched and unbatched commits of a log with data, RAID-0 (section 6.4)"};
  const auto knee = [&](ClaimAnswer& answer, const char* label, const ServerChoice& choice,
                        Figure paper) {
    const Curve& curve = Session::of(context).curve(context, choice);
    const Figure ours = knee_or_highest(context, choice);
    add_row(answer, label,
            curve.knee_per_s() ? "highest rate at 50 ms"
                               : "highest throughput (no load has a response time of 50 ms)",
            "ops/s", paper, ours, curve.error);
    return ours;
  };
  const Figure unbatched = knee(sds, "SDS: metadata, unbatched", choices[0], 100.),
               ufs = knee(sds, "UFS", choices[1], {});
  const double precision = precision_of(context);
  judge_unbatched(sds, context, unbatched, ufs);
  add_rule_within(sds, "the unbatched log sustains no more than 100 ops/s",
                  {in_unit(unbatched, "ops/s")}, precision,
                  [&](double times) { return *unbatched * times <= 100; });
  const Figure batched = knee(vahalia, "batched", choices[2], 597.),
               alone = knee(vahalia, "unbatched", choices[3], 400.),
               times = part_of(batched, alone);
  add_row(vahalia, "batched over unbatched", "throughput", "times", 597. / 400, times,
          Cell::kNotBuilt);
  add_rule_within(vahalia, "batching gives 1.5 times the throughput (+-25 %)",
                  {in_unit(times, "times")}, precision,
                  [&](double factor) { return std::abs(*times * factor / 1.5 - 1) <= .25; });
  return {sds, vahalia};
}

std::vector<ClaimAnswer> small(Context& context) {
  ClaimAnswer answer{.id = "PK-18",
                     .part = "small",
                     .title = "5 GB on RAID-0, bmap + fast fsck, 600 ops/s (section 6.4)"};
  const ServerChoice choice{.raid = Raid::raid0,
                            .presto = Presto::none,
                            .tuning = Tuning::bmap_fast_fsck,
                            .size_bytes = context.scaled ? kGib : 5 * kGib};
  ServerChoice presto = choice;
  presto.presto = Presto::both;
  const auto outcomes = Session::of(context).loads(context, {{choice, 600}, {presto, 600}});
  if (outcomes.empty()) return {};
  const LaddisOutcome &none = outcomes[0], &with = outcomes[1];
  add_load(answer, "no Presto", none, 12.4);
  add_load(answer, "Presto", with, 2.2);
  const CrashOutcome clean =
      crash(context, Session::of(context), presto, 0, context.seed, context.scaled ? 30 : 600);
  context.modelled_s += clean.modelled_s;
  add_row(answer, "populated, idle at the power cut", "fast fsck", "s", 4.,
          clean.of(clean.elapsed_s), clean.error);
  const Figure ms = none.of(none.mean_ms), presto_ms = with.of(with.mean_ms),
               s = clean.of(clean.elapsed_s);
  add_rule(answer, "the response is 12.4 ms without Presto (+-30 %)", {in_unit(ms, "ms")},
           [&] { return std::abs(*ms / 12.4 - 1) <= .3; });
  add_rule(answer, "the response is 2.2 ms with Presto (+-30 %)", {in_unit(presto_ms, "ms")},
           [&] { return std::abs(*presto_ms / 2.2 - 1) <= .3; });
  add_rule(answer, "fast fsck takes 4 s (+-25 %)", {in_unit(s, "s")},
           [&] { return std::abs(*s / 4 - 1) <= .25; });
  return {answer};
}

std::vector<ClaimAnswer> gathering(Context& context) {
  ClaimAnswer answer{
      .id = "write gathering",
      .part = "gathering",
      .title = "Write gathering (Juszczak 1994), UFS on RAID-5 without Presto; not in the paper",
      .kind = RuleClass::ours};
  const ServerChoice choice{.raid = Raid::raid5, .tuning = Tuning::ufs};
  const auto outcomes = Session::of(context).loads(
      context, {{choice, 150}, {choice, 150, {.front = {.gathers = true}}}});
  if (outcomes.empty()) return {};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const char* const label = i == 1 ? "gathering" : "without gathering";
    add_load(answer, label, outcomes[i]);
    add_row(answer, label, "response of writes", "ms", {},
            outcomes[i].of(outcomes[i].writes_mean_ms), outcomes[i].error);
    add_row(answer, label, "writes gathered with another", "", {},
            outcomes[i].of(static_cast<double>(outcomes[i].front.gathered)), outcomes[i].error);
  }
  add_rule(answer,
           "LADDIS writes to files at random, so gathering costs time and combines almost no "
           "writes",
           {{"gathering", outcomes[1].of(outcomes[1].writes_mean_ms), "ms"},
            {"not", outcomes[0].of(outcomes[0].writes_mean_ms), "ms"}},
           [&] { return outcomes[1].writes_mean_ms > outcomes[0].writes_mean_ms; });
  return {answer};
}

}  // namespace headcrash::experiment::peacock98
