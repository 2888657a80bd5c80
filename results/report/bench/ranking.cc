// Computes statistics for contests (ranking.h).
#include "results/report/bench/ranking.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace headcrash::report {
namespace {

bool is_time(double ms) {
  return std::isfinite(ms) && ms > 0;
}

double time_of(const Measurement& measurement, bool to_quiescence) {
  return to_quiescence ? measurement.quiescent_ms.value_or(0) : measurement.elapsed_ms;
}

std::optional<double> median_of(const Entrant& entrant,
                                std::optional<double> Measurement::* member) {
  std::vector<double> values;
  for (const Measurement& m : entrant.measurements)
    if ((m.*member) && std::isfinite(*(m.*member))) values.push_back(*(m.*member));
  return values.empty() ? std::nullopt : std::optional(statistics::quantile(values, 0.5));
}

Standing::Kind kind_of(const Standing& standing) {
  if (standing.busy_share >= kDeviceBusy) return Standing::Kind::ranked;
  const double processor = standing.processor_share.value_or(0);
  const double nobody = 1 - standing.busy_share - processor;
  return processor >= nobody ? Standing::Kind::cpu_bound : Standing::Kind::idle;
}

void summarise(Entrant& entrant, bool to_quiescence) {
  Standing& standing = entrant.standing;
  const auto times = times_of(entrant, to_quiescence), elapsed = times_of(entrant, false);
  if (times.empty() || elapsed.empty()) return;
  standing.ranking = statistics::summarise(times);
  standing.elapsed = statistics::summarise(elapsed);
  standing.elapsed_busy_share = median_of(entrant, &Measurement::elapsed_busy_share).value_or(0);
  standing.busy_share = to_quiescence ? median_of(entrant, &Measurement::busy_share).value_or(0)
                                      : standing.elapsed_busy_share;
  standing.processor_share = median_of(entrant, &Measurement::processor_share);
  standing.kind = kind_of(standing);
}

std::vector<statistics::PairComparison> compare_all(std::span<const Entrant> entrants,
                                                    bool to_quiescence) {
  return statistics::compare_all_pairs(entrants.size(), [&](std::size_t i, std::size_t j) {
    return compare_entrants(entrants[i], entrants[j], to_quiescence, kTie);
  });
}

/// Sets the rank of each entrant.
void count_faster(std::span<Entrant> entrants, bool to_quiescence) {
  for (Entrant& entrant : entrants) entrant.standing.rank = 1;
  for (const auto& [first, second, comparison] : compare_all(entrants, to_quiescence)) {
    if (comparison.change == statistics::Change::worse) ++entrants[second].standing.rank;
    if (comparison.change == statistics::Change::better) ++entrants[first].standing.rank;
  }
}

/// Compares all entrants with the first one, which is the best.
void compare_with_best(std::span<Entrant> entrants, bool to_quiescence) {
  if (entrants.size() < 2) return;
  for (Entrant& entrant : entrants)
    entrant.standing.to_best =
        compare_entrants(entrants.front(), entrant, to_quiescence, kTie, &entrant.standing.pairs);
  for (const auto& [first, second, comparison] : compare_all(entrants, to_quiescence))
    if (first == 0) entrants[second].standing.to_best.change = comparison.change;
}

/// Ranks all entrants by the time per operation if any entrant's job has a fixed duration.
void rank_by_operation(Contest& contest) {
  const auto is_fixed = [](const Entrant& entrant) {
    return std::ranges::any_of(entrant.measurements, &Measurement::fixed_time);
  };
  contest.by_operation = std::ranges::any_of(contest.entrants, is_fixed);
  if (!contest.by_operation) return;
  for (Entrant& entrant : contest.entrants) {
    entrant.standing.by_operation = true;
    for (Measurement& m : entrant.measurements) {
      m.elapsed_ms = m.rate.value_or(0) > 0 ? 1000 / *m.rate : 0;
      m.quiescent_ms.reset();
    }
  }
}

}  // namespace

std::string_view unranked_name(Standing::Kind kind) {
  return kind == Standing::Kind::idle ? "idle" : "CPU-bound";
}

std::vector<double> times_of(const Entrant& entrant, bool to_quiescence) {
  std::vector<double> times;
  for (const Measurement& m : entrant.measurements)
    if (const double time = time_of(m, to_quiescence); is_time(time)) times.push_back(time);
  return times;
}

statistics::Comparison compare_entrants(const Entrant& base, const Entrant& entrant,
                                        bool to_quiescence, double tolerance, std::size_t* pairs) {
  std::map<std::int64_t, double> by_repetition;
  for (const Measurement& m : base.measurements)
    by_repetition.emplace(m.repetition, time_of(m, to_quiescence));
  std::vector<double> before, after;
  for (const Measurement& m : entrant.measurements) {
    const auto same = by_repetition.find(m.repetition);
    if (same == by_repetition.end() || !is_time(same->second) ||
        !is_time(time_of(m, to_quiescence)))
      continue;
    before.push_back(same->second);
    after.push_back(time_of(m, to_quiescence));
    by_repetition.erase(same);
  }
  if (pairs != nullptr) *pairs = before.size();
  if (!before.empty()) return statistics::compare_pairs(before, after, tolerance);
  statistics::Comparison of_means;
  of_means.ratio = entrant.standing.ranking.mean / base.standing.ranking.mean;
  return of_means;
}

void rank(Contest& contest) {
  rank_by_operation(contest);
  contest.to_quiescence = std::ranges::all_of(contest.entrants, [](const Entrant& entrant) {
    return std::ranges::all_of(entrant.measurements,
                               [](const Measurement& m) { return m.quiescent_ms.has_value(); });
  });
  for (Entrant& entrant : contest.entrants) summarise(entrant, contest.to_quiescence);
  std::ranges::stable_sort(contest.entrants, [](const Entrant& a, const Entrant& b) {
    if (a.standing.kind != b.standing.kind) return a.standing.kind < b.standing.kind;
    return a.standing.ranking.mean < b.standing.ranking.mean;
  });
  const auto is_ranked = [](const Entrant& each) {
    return each.standing.kind == Standing::Kind::ranked;
  };
  const auto ranked =
      std::span(contest.entrants)
          .first(static_cast<std::size_t>(std::ranges::count_if(contest.entrants, is_ranked)));
  contest.ranked = ranked.size();
  count_faster(ranked, contest.to_quiescence);
  std::ranges::stable_sort(ranked, {}, [](const Entrant& each) { return each.standing.rank; });
  compare_with_best(ranked, contest.to_quiescence);
}

}  // namespace headcrash::report
