// Summarises the best systems, the cost of durability, losses, and recovery times (summary.h).
#include "harness/papers/comparison/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/papers/comparison/compare.h"
#include "harness/papers/comparison/session.h"
#include "results/db/database.h"

namespace headcrash::experiment::compare {
namespace {

/// Returns all tables that the summary uses. A table is null if the run was interrupted.
std::vector<const TimedTable*> all_tables(Context& context) {
  Session& session = Session::of(context);
  std::vector<const TimedTable*> tables;
  for (const Device device :
       {Device::drive, Device::drive_cache, Device::fast_drive, Device::raid5, Device::raid5_nvram})
    tables.push_back(session.on(context, device));
  for (const AgedOn& on : kAgedOn) tables.push_back(session.aged(context, on));
  return tables;
}

std::vector<std::size_t> contenders(const TimedTable& table, Durability durability) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < table.row_numbers.size(); ++i)
    if (rows()[table.row_numbers[i]].durability == durability) places.push_back(i);
  return places;
}

std::vector<Contest> contests_of(const std::vector<const TimedTable*>& tables,
                                 Durability durability, Quantity quantity) {
  std::vector<Contest> contests;
  for (const TimedTable* const table : tables)
    for (std::size_t column = 0; column < table->columns.size(); ++column) {
      std::vector<const Sample*> samples;
      for (const std::size_t place : contenders(*table, durability))
        samples.push_back(&table->outcomes[place][column].of(quantity));
      contests.emplace_back(table->name, table->columns[column].name, std::move(samples));
    }
  return contests;
}

std::vector<std::string> names_of_group(const TimedTable& table, Durability durability) {
  std::vector<std::string> names;
  for (const std::size_t place : contenders(table, durability))
    names.push_back(rows()[table.row_numbers[place]].name);
  return names;
}

std::string ratio_text(const Sample& slow, const Sample& fast) {
  if (!have_ratios(slow, fast)) return "-";
  const auto compared = statistics::compare_pairs(fast, slow, kTolerance);
  if (!compared.interval) return fmt::format("{:.2f}", compared.ratio);
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", compared.ratio, compared.interval->low,
                     compared.interval->high);
}

Table who_wins(const std::vector<Contest>& contests, const std::vector<std::string>& names,
               Durability durability) {
  Table shown{.name = fmt::format("wins, {}", name(durability)),
              .title = fmt::format("The fastest systems by user time; a cut may lose: {}",
                                   name(durability)),
              .columns = {"machine", "workload", "not beaten", "user time (s)", "the last",
                          "multiple of the best time (95 % interval)"}};
  for (const Contest& contest : contests) {
    const auto& best = contest.ranking.unbeaten();
    if (best.empty()) continue;
    std::string winners;
    for (const std::size_t i : best) winners += (winners.empty() ? "" : ", ") + names[i];
    std::size_t last = best.front();
    for (std::size_t i = 0; i < names.size(); ++i)
      if (mean_of(*contest.samples[i]) > mean_of(*contest.samples[last])) last = i;
    shown.rows.push_back({contest.machine, contest.workload, winners,
                          text_of(*contest.samples[best.front()]), names[last],
                          ratio_text(*contest.samples[last], *contest.samples[best.front()])});
  }
  return shown;
}

/// Returns a table with a row and a column for each system. A cell shows how often the row's system
/// beats the column's system.
Table who_beats_whom(const std::vector<Contest>& contests, const std::vector<std::string>& names,
                     Durability durability) {
  Table shown{.name = fmt::format("beats, {}", name(durability)),
              .title = fmt::format(
                  "Number of cells (of {}) in which the row's system has less user time than the "
                  "column's system, over the seeds: {}",
                  contests.size(), name(durability)),
              .columns = {"beats"}};
  shown.columns.insert(shown.columns.end(), names.begin(), names.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    shown.rows.push_back({names[i]});
    for (std::size_t j = 0; j < names.size(); ++j)
      shown.rows.back().push_back(i == j ? "" : fmt::format("{}", times_beaten(contests, i, j)));
  }
  return shown;
}

/// Compares the best system in each group with No Order.
Table price(const std::vector<const TimedTable*>& tables) {
  Table shown{
      .name = "price",
      .title =
          "The cost of durability: user time of the best system of each group, divided by that of "
          "No Order (95 % interval)",
      .columns = {"machine", "workload", "within the delay: the best", "times No Order",
                  "each call: the best", "times No Order"}};
  for (const TimedTable* const table : tables)
    for (std::size_t column = 0; column < table->columns.size(); ++column) {
      const auto none = contenders(*table, Durability::none);
      if (none.empty()) continue;
      const Sample& free = table->outcomes[none.front()][column].of(Quantity::user);
      std::vector<std::string> cells{table->name, table->columns[column].name};
      for (const Durability durability : {Durability::within_delay, Durability::each_call}) {
        const auto places = contenders(*table, durability);
        std::vector<const Sample*> samples;
        samples.reserve(places.size());
        for (const std::size_t place : places)
          samples.push_back(&table->outcomes[place][column].of(Quantity::user));
        const auto best = Ranking(samples).unbeaten();
        cells.push_back(best.empty() ? "-" : rows()[table->row_numbers[places[best.front()]]].name);
        cells.push_back(best.empty() ? "-" : ratio_text(*samples[best.front()], free));
      }
      shown.rows.push_back(std::move(cells));
    }
  return shown;
}

/// Returns a table with one row per system. The row shows how often the system is the best, how
/// much it loses, and how long its recovery takes.
Table one_line_each(const std::vector<const TimedTable*>& tables,
                    const std::vector<RowLoss>& losses,
                    const std::vector<RecoveryTable>& recoveries) {
  Table shown{.name = "systems",
              .title =
                  "One line per system: cells in which no system of its group beats it; its "
                  "losses; its recovery on the largest file system",
              .columns = {"system", "a cut may lose", "best by user time", "best by drive work",
                          "oldest lost, worst (s)", "fsynced, missing", "first mount, 44 GB (s)",
                          "full consistency (s)"}};
  const RecoveryTable* largest = nullptr;
  for (const RecoveryTable& table : recoveries)
    if (largest == nullptr || table.what.gb > largest->what.gb) largest = &table;
  for (const Durability durability :
       {Durability::none, Durability::within_delay, Durability::each_call}) {
    const auto by_user = contests_of(tables, durability, Quantity::user),
               by_work = contests_of(tables, durability, Quantity::busy);
    const auto places = contenders(*tables.front(), durability);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::size_t number = tables.front()->row_numbers[places[i]];
      const auto lost = std::ranges::find(losses, number, &RowLoss::row);
      const auto same_system = [&](const RowRecovery& one) {
        return rows()[one.row].name == rows()[number].name ||
               rows()[one.row].system == rows()[number].system;
      };
      std::string mount = "-", whole = "-";
      if (largest != nullptr)
        if (const auto one = std::ranges::find_if(largest->rows, same_system);
            one != largest->rows.end())
          mount = text_of(one->mount_s), whole = text_of(one->consistent_s);
      shown.rows.push_back(
          {rows()[number].name, name(durability),
           fmt::format("{} of {}", times_best(by_user, i), by_user.size()),
           fmt::format("{} of {}", times_best(by_work, i), by_work.size()),
           lost == losses.end() ? "-" : text_of(lost->worst_s),
           lost == losses.end() ? "-" : fmt::format("{} of {}", lost->broken, lost->promised),
           mount, whole});
    }
  }
  return shown;
}

}  // namespace

std::size_t times_beaten(const std::vector<Contest>& contests, std::size_t first,
                         std::size_t second) {
  return static_cast<std::size_t>(std::ranges::count_if(
      contests, [&](const Contest& contest) { return contest.ranking.beats(first, second); }));
}

std::size_t times_best(const std::vector<Contest>& contests, std::size_t contender) {
  return static_cast<std::size_t>(std::ranges::count_if(contests, [&](const Contest& contest) {
    const auto& best = contest.ranking.unbeaten();
    return std::ranges::find(best, contender) != best.end();
  }));
}

Table times_the_best(const std::vector<Contest>& contests, const std::vector<std::string>& names,
                     Durability durability) {
  Table shown{.name = fmt::format("{}, {}", kHeatMap, name(durability)),
              .title = fmt::format(
                  "User time as a multiple of the best time, for systems whose data is safe {}",
                  durability == Durability::each_call ? "after each call" : name(durability)),
              .columns = {"machine", "workload"}};
  shown.columns.insert(shown.columns.end(), names.begin(), names.end());
  for (const Contest& contest : contests) {
    const auto& best = contest.ranking.unbeaten();
    if (best.empty()) continue;
    const Figure least = mean_of(*contest.samples[best.front()]);
    std::vector<std::string> cells{contest.machine, contest.workload};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Figure mean = mean_of(*contest.samples[i]);
      const bool unbeaten = std::ranges::find(best, i) != best.end();
      cells.push_back(mean && least && *least > 0
                          ? fmt::format("{:.2f}{}", *mean / *least, unbeaten ? kUnbeaten : "")
                          : "-");
    }
    shown.rows.push_back(std::move(cells));
  }
  return shown;
}

std::vector<ClaimAnswer> summary(Context& context) {
  const auto tables = all_tables(context);
  const auto* const losses = Session::of(context).losses(context);
  const auto* const recoveries = Session::of(context).recoveries(context);
  if (std::ranges::find(tables, nullptr) != tables.end() || losses == nullptr ||
      recoveries == nullptr)
    return {};
  ClaimAnswer answer{.id = "summary",
                     .part = "summary",
                     .title =
                         "The fastest systems, their costs and their "
                         "losses"};
  answer.tables.push_back(one_line_each(tables, *losses, *recoveries));
  for (const Durability durability : {Durability::within_delay, Durability::each_call}) {
    const auto contests = contests_of(tables, durability, Quantity::user);
    const auto names = names_of_group(*tables.front(), durability);
    answer.tables.push_back(times_the_best(contests, names, durability));
    answer.tables.push_back(who_beats_whom(contests, names, durability));
    answer.tables.push_back(who_wins(contests, names, durability));
  }
  answer.tables.push_back(price(tables));
  answer.remarks.push_back(
      "A system beats another system in a cell if three conditions hold: the 95 % interval of "
      "their ratio over the seeds is entirely on one side of 1, the ratio differs from 1 by more "
      "than 2 %, and a t test of all pairs of the cell, corrected for the number of pairs "
      "(Holm), is significant at 95 %. Systems that are not beaten are listed as winners, and "
      "have a star next to their multiples.");
  return {answer};
}

}  // namespace headcrash::experiment::compare
