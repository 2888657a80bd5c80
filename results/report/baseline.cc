// A verdict for each cell (baseline.h).
#include "results/report/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "results/report/bench_answer.h"
#include "results/report/ranking.h"

namespace headcrash::report {
namespace {

using statistics::Change;

bool by_quiescence(const Entrant& entrant) {
  return std::ranges::all_of(entrant.measurements,
                             [](const Measurement& m) { return m.quiescent_ms.has_value(); });
}

/// Slower in one sense outweighs faster in the other.
Change both(Change whole, Change elapsed) {
  if (whole == Change::worse || elapsed == Change::worse) return Change::worse;
  if (whole == Change::better || elapsed == Change::better)
    return whole == Change::cannot_tell || elapsed == Change::cannot_tell ? Change::cannot_tell
                                                                          : Change::better;
  return whole == Change::same && elapsed == Change::same ? Change::same : Change::cannot_tell;
}

void compare_times(const Entrant& then, const Entrant& now, double tolerance, CellChange& change) {
  change.to_quiescence = by_quiescence(then) && by_quiescence(now);
  const auto before = times_of(then, change.to_quiescence), after = times_of(now, change.to_quiescence);
  change.before_ms = statistics::summarise(before).mean;
  change.now_ms = statistics::summarise(after).mean;
  change.whole = statistics::compare(before, after, tolerance);
  change.elapsed = statistics::compare(times_of(then, false), times_of(now, false), tolerance);
  for (const Standing* standing : {&then.standing, &now.standing}) {
    if (!Standing::is_unranked_number(standing->kind)) continue;
    change.reason = unranked_name(standing->kind);
    return;
  }
  const bool waited_for_others =
      std::min(then.standing.elapsed_busy_share, now.standing.elapsed_busy_share) < kDeviceBusy;
  change.change = waited_for_others ? change.whole.change : both(change.whole.change, change.elapsed.change);
  change.regression = change.change == Change::worse;
  if (change.change != Change::cannot_tell) return;
  const bool few = !change.whole.interval || !change.elapsed.interval;
  change.reason =
      few ? "fewer than three repetitions on a side" : "too much spread for such a small difference";
}

bool is_measured(const Entrant& entrant) {
  return entrant.standing.kind != Standing::Kind::unmeasured;
}

CellChange change_of(const Contest& contest, const Entrant& now, const Entrant* then, double tolerance) {
  CellChange change{.device = contest.device,
                    .setting = contest.setting(),
                    .scale = contest.scale,
                    .phase = contest.phase,
                    .filesystem = now.filesystem,
                    .entrant = now.name()};
  const std::size_t tried = now.measurements.size() + now.failed;
  if (then == nullptr || !is_measured(*then)) {
    change.reason = then == nullptr ? "not in the baseline" : "failed in the baseline";
  } else if (!is_measured(now)) {
    change.reason = now.failed > 0 ? "every trial failed" : "not measured now";
    change.regression = now.failed > 0;
  } else {
    compare_times(*then, now, tolerance, change);
  }
  if (then != nullptr && is_measured(*then) && is_measured(now) && now.failed > 0 && then->failed == 0) {
    change.reason = fmt::format("{} of {} trials failed, none did then", now.failed, tried);
    change.regression = true;
  }
  if (change.regression) change.change = Change::worse;
  return change;
}

/// Members of two JSON objects whose values differ.
void add_differences(const std::string& then_text, const std::string& now_text,
                     std::vector<std::string>& out) {
  const auto then = nlohmann::json::parse(then_text, nullptr, false),
             now = nlohmann::json::parse(now_text, nullptr, false);
  if (!then.is_object() || !now.is_object()) return;
  const auto plain = [](const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>()
                             : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  for (const auto& [name, value] : now.items()) {
    const auto before = then.find(name);
    if (before == then.end()) {
      out.push_back(fmt::format("{}: {} now, not recorded then", name, plain(value)));
    } else if (*before != value) {
      out.push_back(fmt::format("{}: {} then, {} now", name, plain(*before), plain(value)));
    }
  }
  for (const auto& [name, value] : then.items())
    if (!now.contains(name)) out.push_back(fmt::format("{}: {} then, not recorded now", name, plain(value)));
}

}  // namespace

std::size_t BaselineComparison::count(Change change) const {
  return static_cast<std::size_t>(std::ranges::count(changes, change, &CellChange::change));
}

std::size_t BaselineComparison::regressions() const {
  return static_cast<std::size_t>(std::ranges::count_if(changes, &CellChange::regression));
}

BaselineComparison compare_with_baseline(const Benchmark& now, const Benchmark& then, double tolerance) {
  BaselineComparison comparison;
  comparison.database = then.facts.database;
  comparison.run = then.facts.run;
  comparison.tolerance = tolerance;
  std::map<std::string, const Entrant*> before;
  for (const Contest& contest : then.contests)
    for (const Entrant& entrant : contest.entrants)
      before[contest.identity() + "\n" + entrant.name()] = &entrant;
  std::set<std::string> failed;  // workloads of which no trial of anybody was measured now
  for (const Contest& contest : now.contests) {
    for (const Entrant& entrant : contest.entrants) {
      if (contest.phase.empty() && entrant.failed > 0)
        failed.insert(contest.identity() + "\n" + entrant.name());
      const auto found = before.find(contest.identity() + "\n" + entrant.name());
      comparison.changes.push_back(
          change_of(contest, entrant, found == before.end() ? nullptr : found->second, tolerance));
      if (found != before.end()) before.erase(found);
    }
  }
  for (const Contest& contest : then.contests) {
    for (const Entrant& entrant : contest.entrants) {
      if (!before.contains(contest.identity() + "\n" + entrant.name())) continue;
      Contest workload = contest;
      workload.phase.clear();
      Entrant gone{.filesystem = entrant.filesystem, .variant = entrant.variant};
      gone.failed = failed.contains(workload.identity() + "\n" + entrant.name()) ? 1 : 0;
      comparison.changes.push_back(change_of(contest, gone, &entrant, tolerance));
    }
  }
  const Run &was = then.facts.run, &is = now.facts.run;
  add_differences(was.host, is.host, comparison.differences);
  add_differences(was.versions, is.versions, comparison.differences);
  if (was.accelerator != is.accelerator)
    comparison.differences.push_back(
        fmt::format("accelerator: {} then, {} now", was.accelerator, is.accelerator));
  return comparison;
}

std::string change_name(Change change) {
  switch (change) {
    case Change::better:
      return "better";
    case Change::worse:
      return "worse";
    case Change::same:
      return "unchanged";
    case Change::cannot_tell:
      break;
  }
  return "inconclusive";
}

}  // namespace headcrash::report
