// Figures 7 and 8 and table 1: recovery after a power cut, for each load and each tuning (sections
// 6.3, 6.4).
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "harness/papers/judge.h"
#include "harness/papers/peacock98/crash.h"
#include "harness/papers/peacock98/peacock98.h"

namespace headcrash::experiment::peacock98 {
namespace {

struct Crashes {
  std::string label;
  std::vector<double> loads;
  std::vector<CrashOutcome> outcomes;  ///< one per load
  Figure at(double load) const {
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (loads[i] == load) return outcomes[i].of(outcomes[i].elapsed_s);
    return std::nullopt;
  }
};

/// Runs all choices at all loads. Returns nullopt if interrupted.
std::optional<std::vector<Crashes>> crash_at(
    Context& context, const std::vector<std::pair<std::string, ServerChoice>>& choices,
    const std::vector<double>& loads) {
  std::vector<Cut> cuts;
  for (const double load : loads)
    for (const auto& [label, choice] : choices) cuts.push_back({choice, load, context.seed});
  const auto outcomes = crash_all(context, cuts);
  if (!outcomes) return std::nullopt;
  std::vector<Crashes> crashes;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    crashes.push_back({.label = choices[i].first, .loads = loads});
    for (std::size_t at = i; at < outcomes->size(); at += choices.size())
      crashes.back().outcomes.push_back((*outcomes)[at]);
  }
  return crashes;
}

std::string cell_of(const std::string& label, double load) {
  return load == 0 ? label + ", empty" : fmt::format("{}, {:g} ops/s", label, load);
}

void add_crashes(ClaimAnswer& answer, const Crashes& crashes, Figure paper_empty) {
  for (std::size_t i = 0; i < crashes.outcomes.size(); ++i) {
    const CrashOutcome& one = crashes.outcomes[i];
    const std::string cell = cell_of(crashes.label, crashes.loads[i]);
    add_row(answer, cell, "recovery", "s", crashes.loads[i] == 0 ? paper_empty : std::nullopt,
            one.of(one.elapsed_s), one.error);
    if (!one.error.empty()) continue;
    add_row(answer, cell, "of this, processor time", "s", {}, one.cpu_s, {});
    add_row(answer, cell, "requests", "", {}, static_cast<double>(one.requests), {});
    if (one.saturated)
      add_row(answer, cell, "served before the cut", "ops/s", {}, one.served_per_s, {});
  }
}

Series series_of(const Crashes& crashes) {
  Series series{.name = crashes.label};
  for (std::size_t i = 0; i < crashes.outcomes.size(); ++i)
    if (crashes.outcomes[i].error.empty())
      series.points.emplace_back(crashes.loads[i], crashes.outcomes[i].elapsed_s);
  return series;
}

void add_promises(ClaimAnswer& answer, const std::vector<Crashes>& all) {
  std::uint64_t cuts = 0, broken = 0;
  std::string first;
  for (const Crashes& crashes : all)
    for (const CrashOutcome& one : crashes.outcomes) {
      if (!one.error.empty()) continue;
      ++cuts;
      broken += one.broken;
      if (first.empty()) first = one.first_broken;
    }
  add_rule(answer, "after each recovery, all acknowledged data is present",
           {{"cuts", static_cast<double>(cuts)}, {"broken", static_cast<double>(broken)}},
           [&] { return cuts > 0 && broken == 0; });
  mark(answer, RuleClass::ours);
  if (!first.empty()) answer.remarks.push_back("The first broken promise: " + first);
}

/// Returns the number of loads at which the recovery times with two settings differ. If there are
/// none, the setting had no effect on the state of the disk.
Named differences_of(const Crashes& one, const Crashes& other) {
  double differ = 0;
  for (std::size_t i = 0; i < one.outcomes.size(); ++i)
    differ += one.outcomes[i].elapsed_s != other.outcomes[i].elapsed_s ? 1 : 0;
  return {"loads at which the setting changes the recovery time", differ};
}

std::vector<double> loads_of(const Context& context) {
  if (context.scaled) return {0, 20};
  const double most = context.parameter("most-per-s");
  return {0, most / 2, most};
}

}  // namespace

std::vector<ClaimAnswer> recovery(Context& context) {
  ClaimAnswer answer{.id = "PK-13",
                     .part = "recovery",
                     .title = "Recovery time by load; 44 GB, RAID-0, Presto (figure 7)"};
  const std::vector<double> loads = loads_of(context);
  const double most = loads.back();
  const auto size = context.scaled ? std::optional<std::uint64_t>(kGib) : std::nullopt;
  std::vector<std::pair<std::string, ServerChoice>> choices;
  for (const Tuning tuning : {Tuning::ufs, Tuning::bmap, Tuning::bmap_fast_fsck, Tuning::vxfs})
    choices.emplace_back(
        name(tuning),
        ServerChoice{
            .raid = Raid::raid0, .presto = Presto::both, .tuning = tuning, .size_bytes = size});
  const auto all = crash_at(context, choices, loads);
  if (!all) return {};
  std::map<Tuning, Crashes> by_tuning;
  Plot plot{.name = "figure7", .title = answer.title, .x = "load (NFS ops/s)", .y = "recovery (s)"};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Tuning tuning = choices[i].second.tuning;
    const Crashes& crashes = by_tuning[tuning] = (*all)[i];
    const Figure paper = tuning == Tuning::ufs              ? Figure(382)
                         : tuning == Tuning::bmap_fast_fsck ? Figure(42)
                         : tuning == Tuning::vxfs           ? Figure(0)
                                                            : std::nullopt;
    add_crashes(answer, crashes, paper);
    plot.series.push_back(series_of(crashes));
    if (paper)
      plot.series.push_back({.name = std::string(name(tuning)) + " (paper)",
                             .points = {{0, *paper}},
                             .from_paper = true});
  }
  answer.plots.push_back(std::move(plot));
  const auto of = [&](Tuning tuning, double load) { return by_tuning.at(tuning).at(load); };
  const Figure full = of(Tuning::ufs, 0), fast = of(Tuning::bmap_fast_fsck, 0);
  add_rule(answer, "recovery of an empty UFS takes 382 s (+-25 %)", {in_unit(full, "s")},
           [&] { return std::abs(*full / 382 - 1) <= .25; });
  add_rule(answer, "the constant part of fast fsck is 42 s (+-15 %)", {in_unit(fast, "s")},
           [&] { return std::abs(*fast / 42 - 1) <= .15; });
  const double middle = loads[1];
  const Figure half = of(Tuning::ufs, middle), whole = of(Tuning::ufs, most);
  add_rule(
      answer,
      fmt::format(
          "the time of UFS rises linearly: at {:g} ops/s, it is on the straight line between 0 and "
          "{:g} ops/s (+-10 %)",
          middle, most),
      {{"0", full, "s"},
       {fmt::format("{:g}", middle), half, "s"},
       {fmt::format("{:g}", most), whole, "s"}},
      [&] {
        const double line = *full + (*whole - *full) * middle / most;
        return *whole > *full && std::abs(*half / line - 1) <= .1;
      });
  for (const double load : loads) {
    const Figure vxfs = of(Tuning::vxfs, load), ff = of(Tuning::bmap_fast_fsck, load),
                 ufs = of(Tuning::ufs, load), bmap = of(Tuning::bmap, load);
    add_rule(answer, cell_of("VxFS < fast fsck < UFS", load),
             {{"VxFS", vxfs}, {"fast fsck", ff}, {"UFS", ufs}},
             [&] { return *vxfs < *ff && *ff < *ufs; });
    if (load > 0)
      add_rule(answer, cell_of("UFS < bmap", load), {{"UFS", ufs}, {"bmap", bmap}},
               [&] { return *ufs < *bmap; });
  }
  add_promises(answer, *all);
  ClaimAnswer share{.id = "PK-17",
                    .part = "recovery",
                    .title = "Fast fsck compared with the original (abstract, section 7)"};
  for (const double load : loads) {
    const Figure part = part_of(of(Tuning::bmap_fast_fsck, load), of(Tuning::ufs, load), 100);
    add_row(share, cell_of("fast fsck over UFS", load), "recovery", "%", {}, part, Cell::kNotBuilt);
    add_rule(share, cell_of("3 to 25 % of the time of UFS", load), {in_unit(part, "%")},
             [&] { return *part >= 3 && *part <= 25; });
  }
  return {answer, share};
}

std::vector<ClaimAnswer> flusher(Context& context) {
  ClaimAnswer answer{
      .id = "PK-14",
      .part = "flusher",
      .title =
          "Recovery time by the flusher's interval and share of time; 44 GB, RAID-0, Presto "
          "(figure 8)"};
  // The lowest of these loads keeps only some groups busy.
  std::vector<double> loads{20};
  if (const double highest = context.scaled ? 0 : context.parameter("most-per-s"); highest > 0)
    loads = {highest / 24, highest / 8, highest / 2, highest};
  const auto size = context.scaled ? std::optional<std::uint64_t>(kGib) : std::nullopt;
  std::vector<std::pair<std::string, ServerChoice>> choices;
  choices.reserve(kFlusherSettings.size());
  const ServerChoice usual{.raid = Raid::raid0,
                           .presto = Presto::both,
                           .tuning = Tuning::bmap_fast_fsck,
                           .size_bytes = size};
  for (const FlusherSetting& setting : kFlusherSettings)
    choices.emplace_back(setting.name, with_flusher(usual, setting));
  const auto crashed = crash_at(context, choices, loads);
  if (!crashed) return {};
  const std::vector<Crashes>& all = *crashed;
  Plot plot{.name = "figure8", .title = answer.title, .x = "load (NFS ops/s)", .y = "recovery (s)"};
  for (const Crashes& crashes : all) {
    add_crashes(answer, crashes, {});
    plot.series.push_back(series_of(crashes));
  }
  answer.plots.push_back(std::move(plot));
  const double least = loads.front(), most = loads.back();
  const Figure slow_low = all[0].at(least), slow = all[0].at(most), often_low = all[2].at(least),
               often = all[2].at(most), longer = all[3].at(most);
  add_rule(answer, "with an interval of 30 s, recovery time rises with the load",
           {{"low", slow_low, "s"}, {"high", slow, "s"}}, [&] { return *slow > *slow_low * 1.1; });
  add_rule(answer,
           fmt::format("with an interval of 1 s, recovery time is flat up to {:g} ops/s "
                       "(+-10 %)",
                       most),
           {{"low", often_low, "s"}, {"high", often, "s"}},
           [&] { return std::abs(*often / *often_low - 1) <= .1; });
  for (const double load : loads)
    add_rule(answer, fmt::format("recovery is faster with shorter intervals at {:g} ops/s", load),
             {{"30 s", all[0].at(load)}, {"10 s", all[1].at(load)}, {"1 s", all[2].at(load)}}, [&] {
               return *all[0].at(load) > *all[1].at(load) && *all[1].at(load) > *all[2].at(load);
             });
  add_rule(answer,
           "a flusher that runs 40 % of each second gives the same recovery time as one "
           "that runs 10 % (+-10 %)",
           {{"10 %", often}, {"40 %", longer}},
           [&] { return std::abs(*longer / *often - 1) <= .1; });
  require_action(answer, differences_of(all[2], all[3]));
  add_promises(answer, all);
  return {answer};
}

std::vector<ClaimAnswer> table1(Context& context) {
  ClaimAnswer answer{
      .id = "PK-16", .part = "table1", .title = "Recovery on 5 GB at 600 ops/s, RAID-0 (table 1)"};
  struct Row {
    const char* label;
    Tuning tuning;
    Presto presto;
    double paper_s, paper_deviation_s;
  };
  constexpr std::array kRows{
      Row{"UFS", Tuning::ufs, Presto::none, 219, 8.9},
      Row{"fast fsck", Tuning::bmap_fast_fsck, Presto::none, 54, 10.8},
      Row{"fast fsck + Presto", Tuning::bmap_fast_fsck, Presto::both, 15.6, 4.4},
      Row{"VxFS", Tuning::vxfs, Presto::none, 51.9, 6.5},
      Row{"VxFS + Presto", Tuning::vxfs, Presto::both, 34.3, 3.1}};
  const double load = context.scaled ? 20 : 600;
  const std::uint64_t size = context.scaled ? kGib : 5 * kGib;
  const auto executions =
      static_cast<std::uint64_t>(context.scaled ? 1 : context.parameter("executions"));
  std::vector<Cut> cuts;
  for (const Row& row : kRows)
    for (std::uint64_t i = 0; i < executions; ++i)
      cuts.push_back(
          {{.raid = Raid::raid0, .presto = row.presto, .tuning = row.tuning, .size_bytes = size},
           load,
           context.seed + i});
  const auto outcomes = crash_all(context, cuts);
  if (!outcomes) return {};
  auto next = outcomes->begin();
  std::vector<Figure> means;
  std::vector<Crashes> all;
  for (const Row& row : kRows) {
    Crashes crashes{.label = row.label};
    double sum = 0, squares = 0;
    for (std::uint64_t i = 0; i < executions; ++i, ++next) {
      crashes.loads.push_back(load);
      crashes.outcomes.push_back(*next);
      sum += next->elapsed_s;
      squares += next->elapsed_s * next->elapsed_s;
    }
    const CrashOutcome& first = crashes.outcomes.front();
    const auto count = static_cast<double>(executions);
    const Figure mean = first.of(sum / count);
    add_row(answer, row.label, "recovery", "s", row.paper_s, mean, first.error);
    if (executions > 1)
      add_row(answer, row.label, "standard deviation", "s", row.paper_deviation_s,
              first.of(std::sqrt(std::max(0., (squares - sum * sum / count) / (count - 1)))),
              first.error);
    means.push_back(mean);
    all.push_back(std::move(crashes));
  }
  const Figure ufs = means[0], fast = means[1], fast_presto = means[2], vxfs = means[3],
               vxfs_presto = means[4];
  add_rule(answer, "fast fsck with Presto is the fastest, and UFS the slowest",
           {{"fast fsck + Presto", fast_presto},
            {"VxFS + Presto", vxfs_presto},
            {"VxFS", vxfs},
            {"fast fsck", fast},
            {"UFS", ufs}},
           [&] {
             return *fast_presto < std::min({*vxfs_presto, *vxfs, *fast, *ufs}) &&
                    *ufs > std::max({*vxfs_presto, *vxfs, *fast});
           });
  add_rule(answer, "VxFS is faster with Presto than without",
           {{"with", vxfs_presto}, {"without", vxfs}}, [&] { return *vxfs_presto < *vxfs; });
  add_rule(answer, "without Presto, fast fsck takes as long as VxFS (+-25 %)",
           {{"fast fsck", fast}, {"VxFS", vxfs}},
           [&] { return std::abs(*fast / *vxfs - 1) <= .25; });
  add_rule(answer, "fast fsck takes at most .30 of the time of UFS",
           {{"with Presto", part_of(fast_presto, ufs)}, {"without", part_of(fast, ufs)}},
           [&] { return *fast_presto / *ufs <= .3 && *fast / *ufs <= .3; });
  add_promises(answer, all);
  return {answer};
}

}  // namespace headcrash::experiment::peacock98
