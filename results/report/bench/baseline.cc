// Determines each cell's verdict (baseline.h).
#include "results/report/bench/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "results/report/bench/bench_answer.h"
#include "results/report/bench/ranking.h"

namespace headcrash::report {
namespace {

using statistics::Change;

bool by_quiescence(const Entrant& entrant) {
  return std::ranges::all_of(entrant.measurements,
                             [](const Measurement& m) { return m.quiescent_ms.has_value(); });
}

/// Combines the changes in a cell's two durations into one verdict. The verdict is `worse` if at
/// least one duration increased.
Change both(Change whole, Change elapsed) {
  if (whole == Change::worse || elapsed == Change::worse) return Change::worse;
  if (whole == Change::better || elapsed == Change::better)
    return whole == Change::cannot_tell || elapsed == Change::cannot_tell ? Change::cannot_tell
                                                                          : Change::better;
  return whole == Change::same && elapsed == Change::same ? Change::same : Change::cannot_tell;
}

/// A cell that exists in at least one of the two runs. `then` or `now` is null if that run does not
/// have the cell.
struct ComparedCell {
  CellChange change;
  const Entrant *then = nullptr, *now = nullptr;
  bool compared = false;  ///< true if the times of both runs have been compared
};

bool is_ranked_in_both(const ComparedCell& cell) {
  return !Standing::is_unranked_number(cell.then->standing.kind) &&
         !Standing::is_unranked_number(cell.now->standing.kind);
}

/// Returns true if, in at least one of the runs, the device was idle for most of the elapsed time.
bool waited_for_others(const ComparedCell& cell) {
  return std::min(cell.then->standing.elapsed_busy_share, cell.now->standing.elapsed_busy_share) <
         kDeviceBusy;
}

void compare_times(ComparedCell& cell, double tolerance) {
  const Entrant &then = *cell.then, &now = *cell.now;
  CellChange& change = cell.change;
  cell.compared = true;
  change.to_quiescence = by_quiescence(then) && by_quiescence(now);
  const auto before = times_of(then, change.to_quiescence),
             after = times_of(now, change.to_quiescence);
  change.before_ms = statistics::summarise(before).mean;
  change.now_ms = statistics::summarise(after).mean;
  change.whole = statistics::compare(before, after, tolerance);
  change.elapsed = statistics::compare(times_of(then, false), times_of(now, false), tolerance);
}

/// Derives the cell's verdict from its comparisons. REQUIRES: correct_for_number() has corrected
/// the comparisons.
void judge_times(ComparedCell& cell) {
  CellChange& change = cell.change;
  for (const Entrant* const entrant : {cell.then, cell.now}) {
    if (!Standing::is_unranked_number(entrant->standing.kind)) continue;
    change.reason = unranked_name(entrant->standing.kind);
    return;
  }
  change.change = waited_for_others(cell) ? change.whole.change
                                          : both(change.whole.change, change.elapsed.change);
  change.regression = change.change == Change::worse;
  if (change.change != Change::cannot_tell) return;
  const bool few = !change.whole.interval || !change.elapsed.interval;
  change.reason = few ? "one of the runs has fewer than three repetitions"
                      : "the times vary too much to confirm such a small difference";
}

bool is_measured(const Entrant& entrant) {
  return entrant.standing.kind != Standing::Kind::unmeasured;
}

ComparedCell cell_of(const Contest& contest, const Entrant* then, const Entrant& now,
                     double tolerance) {
  ComparedCell cell{.change = {.device = contest.device,
                               .setting = contest.setting(),
                               .scale = contest.scale,
                               .phase = contest.phase,
                               .filesystem = now.filesystem,
                               .entrant = now.name()},
                    .then = then,
                    .now = &now};
  if (then == nullptr || !is_measured(*then)) {
    cell.change.reason = then == nullptr ? "not in the baseline" : "failed in the baseline";
  } else if (!is_measured(now)) {
    cell.change.reason = now.failed > 0 ? "every trial failed" : "not measured in this run";
    cell.change.regression = now.failed > 0;
  } else if (then->standing.by_operation != now.standing.by_operation) {
    cell.change.reason = "only one of the runs was recorded as a job of fixed duration";
  } else {
    compare_times(cell, tolerance);
  }
  return cell;
}

void correct(std::vector<ComparedCell>& cells) {
  std::vector<statistics::Comparison*> family;
  for (ComparedCell& cell : cells) {
    if (!cell.compared || !is_ranked_in_both(cell)) continue;
    family.push_back(&cell.change.whole);
    if (cell.change.to_quiescence && !waited_for_others(cell))
      family.push_back(&cell.change.elapsed);
  }
  statistics::correct_for_number(family);
  for (ComparedCell& cell : cells)
    // If there are no times to quiescence, the elapsed time is the cell's only time. It is already
    // in `whole`, so copying it after correct_for_number() prevents counting it twice.
    if (!cell.change.to_quiescence) cell.change.elapsed = cell.change.whole;
}

void judge(ComparedCell& cell) {
  if (cell.compared) {
    judge_times(cell);
    if (cell.now->failed > 0 && cell.then->failed == 0) {
      cell.change.reason =
          fmt::format("{} of {} trials failed, but none in the baseline", cell.now->failed,
                      cell.now->measurements.size() + cell.now->failed);
      cell.change.regression = true;
    }
  }
  if (cell.change.regression) cell.change.change = Change::worse;
}

/// Lists the keys whose values differ between two JSON objects.
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
      out.push_back(
          fmt::format("{}: {} in this run, not recorded in the baseline", name, plain(value)));
    } else if (*before != value) {
      out.push_back(fmt::format("{}: {} in the baseline, {} in this run", name, plain(*before),
                                plain(value)));
    }
  }
  for (const auto& [name, value] : then.items())
    if (!now.contains(name))
      out.push_back(
          fmt::format("{}: {} in the baseline, not recorded in this run", name, plain(value)));
}

}  // namespace

std::size_t BaselineComparison::count(Change change) const {
  return static_cast<std::size_t>(std::ranges::count(changes, change, &CellChange::change));
}

std::size_t BaselineComparison::regressions() const {
  return static_cast<std::size_t>(std::ranges::count_if(changes, &CellChange::regression));
}

BaselineComparison compare_with_baseline(const Benchmark& now, const Benchmark& then,
                                         double tolerance) {
  BaselineComparison comparison;
  comparison.database = then.facts.database;
  comparison.run = then.facts.run;
  comparison.tolerance = tolerance;
  std::map<std::string, const Entrant*> before;
  for (const Contest& contest : then.contests)
    for (const Entrant& entrant : contest.entrants)
      before[contest.identity() + "\n" + entrant.name()] = &entrant;
  std::vector<ComparedCell> cells;
  std::deque<Entrant> gone;      // entrants that were measured in the baseline but not in this run
  std::set<std::string> failed;  // workloads that have no measured trial in this run
  for (const Contest& contest : now.contests) {
    for (const Entrant& entrant : contest.entrants) {
      if (contest.phase.empty() && entrant.failed > 0)
        failed.insert(contest.identity() + "\n" + entrant.name());
      const auto found = before.find(contest.identity() + "\n" + entrant.name());
      cells.push_back(
          cell_of(contest, found == before.end() ? nullptr : found->second, entrant, tolerance));
      if (found != before.end()) before.erase(found);
    }
  }
  for (const Contest& contest : then.contests) {
    for (const Entrant& entrant : contest.entrants) {
      if (!before.contains(contest.identity() + "\n" + entrant.name())) continue;
      Contest workload = contest;
      workload.phase.clear();
      gone.push_back({.filesystem = entrant.filesystem, .variant = entrant.variant});
      gone.back().failed = failed.contains(workload.identity() + "\n" + entrant.name()) ? 1 : 0;
      cells.push_back(cell_of(contest, &entrant, gone.back(), tolerance));
    }
  }
  correct(cells);
  for (ComparedCell& cell : cells) {
    judge(cell);
    comparison.changes.push_back(std::move(cell.change));
  }
  const Run &was = then.facts.run, &is = now.facts.run;
  add_differences(was.host, is.host, comparison.differences);
  add_differences(was.versions, is.versions, comparison.differences);
  if (was.accelerator != is.accelerator)
    comparison.differences.push_back(fmt::format("accelerator: {} in the baseline, {} in this run",
                                                 was.accelerator, is.accelerator));
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
