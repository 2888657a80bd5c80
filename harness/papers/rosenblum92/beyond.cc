// Compares later additions to the dissertation's cleaner on the same simulator and patterns. These
// comparisons do not judge claims of the dissertation.
//
// Uses a quarter of the dissertation's files, because some variants are slow to simulate; this
// changes the cost of the cost-benefit policy by less than 4 %. All variants use the age since a
// segment's last write, a separate segment for the cleaner, and age sort where data is copied. The
// cost includes the positioning of a Wren IV (cleaning_simulator.h), because writes to dead slots
// would otherwise cost nothing. With this positioning, a log without cleaning costs 1.02.
#include <algorithm>

#include "harness/papers/judge.h"
#include "harness/papers/rosenblum92/closed_forms.h"
#include "harness/papers/rosenblum92/simulator_figures.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr std::uint32_t kFiles = 131072;
constexpr double kBurstOfFreeSpace = .25;
constexpr double kWins = .98;  ///< a gain below 2 % does not count

struct Variant {
  std::string name;
  SimulatorOptions options;
  bool foreground = false;  ///< count only the costs that users wait for
};

Positioning each_run() {
  Positioning positioning = wren_iv();
  positioning.access_each_run = true;
  return positioning;
}

/// Configures bursts of writes that fill a quarter of the free space, and idle periods in which the
/// cleaner can reclaim this space.
void idle_after_bursts(SimulatorOptions& options, double utilization) {
  const double free_files = options.files * (1 / utilization - 1);
  const auto burst = static_cast<std::uint32_t>(kBurstOfFreeSpace * free_files);
  options.writes_between_idle_times = std::max<std::uint32_t>(1, burst);
  options.idle_clean_until = burst / options.files_per_segment + 2;
}

std::vector<Variant> variants(const SimulatorFigures& figures, const AccessPattern& pattern) {
  SimulatorOptions base = figures.cost_benefit(pattern, SegmentAge::last_write);
  base.files = figures.scaled_files(kFiles);
  base.cleaned_data = CleanedData::own_log;
  base.positioning = wren_iv();
  const auto with = [&](const auto& change) {
    SimulatorOptions options = base;
    change(options);
    return options;
  };
  const auto logs = [](SimulatorOptions& options, std::uint32_t count, WriteSeparation separation) {
    options.logs = count;
    options.separation = separation;
  };
  std::vector<Variant> all{
      {"greedy", with([](auto& o) {
         o.selection = lfs::Selection::greedy;
         o.order = lfs::WriteBackOrder::as_read;
       })},
      {"cost-benefit", base},
      {"minimum declining cost",
       with([](auto& o) { o.selection = lfs::Selection::min_declining_cost; })},
      {"2 logs by interval", with([&](auto& o) { logs(o, 2, WriteSeparation::by_interval); })},
      {"4 logs by interval", with([&](auto& o) { logs(o, 4, WriteSeparation::by_interval); })},
      {"4 logs by interval, minimum declining cost", with([&](auto& o) {
         logs(o, 4, WriteSeparation::by_interval);
         o.selection = lfs::Selection::min_declining_cost;
       })},
      {"logs by known heat", with([&](auto& o) {
         logs(o, o.pattern.kind == AccessPattern::Kind::exponential ? 8 : 2,
              WriteSeparation::known);
       })},
      {"hole plugging", with([](auto& o) { o.reuse = SpaceReuse::plugging; })},
      {"adaptive: cleaning or hole plugging",
       with([](auto& o) { o.reuse = SpaceReuse::adaptive_plugging; })},
      {"recycling of dead slots", with([](auto& o) { o.reuse = SpaceReuse::recycling; })},
      {"4 logs, adaptive: cleaning or recycling", with([&](auto& o) {
         logs(o, 4, WriteSeparation::by_interval);
         o.reuse = SpaceReuse::adaptive_recycling;
       })},
  };
  const std::size_t plain = all.size();
  // Add a copy of each variant, with a separate access for each run of dead slots.
  for (std::size_t i = 0; i < plain; ++i) {
    if (all[i].options.reuse == SpaceReuse::cleaning) continue;
    Variant other = all[i];
    other.name += "; one access per run";
    other.options.positioning = each_run();
    all.push_back(other);
  }
  all.push_back({"cost-benefit, cleaned when idle: all work", base});
  all.push_back({"cost-benefit, cleaned when idle: waits of users", base, true});
  return all;
}

bool is_idle(const Variant& variant) {
  return variant.name.find("when idle") != std::string::npos;
}

SimulatorOptions options_at(const Variant& variant, double utilization) {
  SimulatorOptions options = SimulatorFigures::at(variant.options, utilization);
  if (is_idle(variant)) idle_after_bursts(options, utilization);
  return options;
}

double cost_of(SimulatorFigures& figures, const Variant& variant, double utilization) {
  const SimulatorRun& run = figures.run(options_at(variant, utilization));
  if (!variant.foreground) return run.cost(run.options.positioning);
  SimulatorCounts counts = run.stable.counts;
  counts.segments_read -= counts.idle_segments_read;
  counts.files_copied -= counts.idle_files_copied;
  counts.segments_opened = counts.written / run.options.files_per_segment;
  return write_cost(counts, run.options.files_per_segment, run.options.positioning);
}

/// Returns true for variants that a file system could implement and that use no idle time. Excludes
/// variants that know how often data will be rewritten, and variants that always access each run of
/// dead slots separately, even if one pass over the segment takes less time.
bool competes(const Variant& variant) {
  return variant.options.separation != WriteSeparation::known && !is_idle(variant) &&
         !variant.options.positioning.access_each_run;
}

ClaimAnswer of_pattern(SimulatorFigures& figures, const AccessPattern& pattern,
                       const std::string& name, const std::vector<double>& us) {
  ClaimAnswer answer{
      .id = "LFS-beyond-" + name,
      .part = "beyond",
      .title = "Variants of cleaning: write cost with positioning, " + pattern.name()};
  const std::vector<Variant> all = variants(figures, pattern);
  std::vector<SimulatorOptions> runs;
  for (auto u = us.rbegin(); u != us.rend(); ++u) {
    for (const Variant& each : all) runs.push_back(options_at(each, *u));
  }
  figures.runs().prepare(runs);

  Table table{"variants", "Write cost by utilization, with positioning of a Wren IV", {"variant"}};
  Table winners{"winners",
                "The cheapest variant that could be built, and its difference from cost-benefit",
                {"utilization", "variant", "write cost", "cost-benefit", "saved, %"}};
  Plot plot{"by-utilization", "Write cost by utilization", "disk capacity utilization",
            "write cost"};
  for (const double u : us) table.columns.push_back(fmt::format("{:.2f}", u));
  for (const Variant& each : all) {
    Series series{.name = each.name};
    std::vector<std::string> row{each.name};
    for (const double u : us) {
      series.points.emplace_back(u, cost_of(figures, each, u));
      row.push_back(fmt::format("{:.2f}", series.points.back().second));
    }
    table.rows.push_back(row);
    answer.numbers.push_back({each.name, "cost at .80", "", {}, cost_of(figures, each, .8), ""});
    if (competes(each)) plot.series.push_back(series);
  }
  if (pattern.kind == AccessPattern::Kind::hot_and_cold) {
    const auto apart = [&](double u) { return hot_cold_apart_cost(pattern, u); };
    std::vector<std::string> row{
        "computed, without positioning: hot and cold separated, best division"};
    for (const double u : us) row.push_back(fmt::format("{:.2f}", apart(u)));
    table.rows.push_back(row);
    plot.series.push_back(computed("computed: hot and cold separated", us, apart));
  }
  const Variant& usual = all[1];
  for (const double u : us) {
    const Variant* best = &usual;
    for (const Variant& each : all) {
      if (competes(each) && cost_of(figures, each, u) < kWins * cost_of(figures, *best, u))
        best = &each;
    }
    const double cost = cost_of(figures, *best, u), before = cost_of(figures, usual, u);
    winners.rows.push_back({fmt::format("{:.2f}", u), best->name, fmt::format("{:.2f}", cost),
                            fmt::format("{:.2f}", before),
                            fmt::format("{:.0f}", 100 * (1 - cost / before))});
  }
  answer.tables = {table, winners};
  answer.plots = {plot};
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> beyond(Context& context) {
  SimulatorFigures figures(context);
  const std::vector<double> us = context.scaled ? std::vector<double>{.6, .8}
                                                : std::vector<double>{.5, .6, .7, .8, .85, .9, .95};
  std::vector<ClaimAnswer> answers;
  for (const auto& [name, pattern] : {std::pair{"uniform", kUniform},
                                      {"hot-and-cold", kHotCold90To10},
                                      {"exponential", kExponentialAsPrinted}}) {
    if (context.interrupted()) break;
    answers.push_back(of_pattern(figures, pattern, name, us));
  }
  return answers;
}

}  // namespace headcrash::experiment::rosenblum92
