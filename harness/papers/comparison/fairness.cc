// Computes the conditions for a fair comparison, and lists them (fairness.h).
#include "harness/papers/comparison/fairness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "harness/papers/comparison/compare.h"
#include "harness/papers/comparison/session.h"
#include "plugin/base/names.h"

namespace headcrash::experiment::compare {
namespace {

const char* word_of(Met met) {
  static constexpr auto kNames = base::names<Met>({"yes", "no", "not computed"});
  return kNames[met].data();
}

/// Returns the full names of the rows for which `is_exception` returns true, separated by commas.
std::string names_of(const std::vector<Row>& rows,
                     const std::function<bool(const Row&)>& is_exception) {
  std::string names;
  for (const Row& each : rows)
    if (is_exception(each)) names += (names.empty() ? "" : ", ") + full_name(each);
  return names;
}

Condition without_exceptions(std::string text, const std::string& exceptions, std::string how) {
  if (exceptions.empty()) return {std::move(text), Met::yes, std::move(how)};
  return {std::move(text), Met::no, "not met by: " + exceptions};
}

Condition one_delay(const std::vector<Row>& rows, const MachineOf& machine) {
  const MachineChoice choice{.delay_ns = 7 * model::kSecondNs};
  return without_exceptions(
      "1. rows are grouped by the data that a cut may lose, and have the same delay",
      names_of(rows,
               [&](const Row& row) {
                 const os::SyncerOptions syncer = machine(row, choice).syncer;
                 return row.system->description().syncer || syncer.interval_ns != choice.delay_ns ||
                        !syncer.metadata_waits || syncer.own_times;
               }),
      "all rows write a change at the age of `delay-seconds`; part loss measures the loss, and "
      "shows that soft updates may lose the changes of two delays");
}

Condition initialisation(const std::vector<Row>& rows) {
  return without_exceptions("2. allocation initialisation is on for all",
                            names_of(rows,
                                     [](const Row& row) {
                                       return row.system->description().promises.exposes_stale_data;
                                     }),
                            "every system promises that files never show stale data");
}

Condition memory(const std::vector<Row>& rows, const MachineOf& machine) {
  const std::uint64_t bytes = machine(rows.front(), {}).cache_bytes;
  return without_exceptions(
      "3. memory is equal, and in-core structures are charged",
      names_of(rows,
               [&](const Row& row) {
                 const ModelledMachineOptions options = machine(row, {});
                 return options.cache_bytes != bytes || !options.structures_count;
               }),
      fmt::format("{} MB for each system; in-core inodes, maps, dependencies and copies of "
                  "committed blocks use part of it, by estimates of their sizes "
                  "(tree/core_inode.h, ufs/scheme.h)",
                  bytes >> 20));
}

Condition transfers(const std::vector<Row>& rows, const MachineOf& machine) {
  const ModelledMachineOptions first = machine(rows.front(), {});
  const auto block = [](const ModelledMachineOptions& options) {
    const auto found = options.mkfs.find("block-size");
    return found == options.mkfs.end() ? std::string("its default") : found->second;
  };
  return without_exceptions(
      "4. transfers have equal sizes",
      names_of(rows,
               [&](const Row& row) {
                 const ModelledMachineOptions options = machine(row, {});
                 return options.concatenated_sectors != first.concatenated_sectors ||
                        options.check_sectors != first.check_sectors ||
                        options.outstanding != first.outstanding || block(options) != block(first);
               }),
      fmt::format(
          "blocks of {} bytes and requests of up to {} KiB for all; LFS divides the regions "
          "of its log in the same way",
          block(first), first.concatenated_sectors / 2));
}

Condition one_cost_table(const std::vector<Row>& rows, const MachineOf& machine) {
  const os::CpuCosts costs = machine(rows.front(), {}).costs;
  return without_exceptions(
      "7. all systems use the same tree code and the same cost table",
      names_of(rows,
               [&](const Row& row) {
                 const os::CpuCosts its = machine(row, {}).costs;
                 return !std::ranges::all_of(os::kCosts,
                                             [&](auto cost) { return its.*cost == costs.*cost; });
               }),
      "fs-adapters/substrate/tree; i486_33.h, or all its costs scaled by one factor");
}

/// The recovery must be measured with 25 % and with 75 % of each size in use.
Condition recovery_sizes() {
  constexpr double kShares[] = {.25, .75}, kSizesGb[] = {1, 10, 44}, kTolerance = .05;
  std::string shares;
  std::size_t found = 0;
  for (const double gb : kSizesGb) {
    for (const double wanted : kShares) {
      for (const RecoveryCase& each : recovery_cases(false)) {
        if (each.gb != gb || std::abs(each.share() - wanted) > kTolerance) continue;
        ++found;
        break;
      }
    }
  }
  for (const RecoveryCase& each : recovery_cases(false))
    shares += fmt::format("{}{}: {:.2g} % full", shares.empty() ? "" : "; ", each.name,
                          100 * each.share());
  return {
      "8. recovery is measured at 1, 10 and 44 GB, 25 and 75 % full, to the first mount and to "
      "full consistency, including processor time",
      found == std::size(kSizesGb) * std::size(kShares) ? Met::yes : Met::no, shares};
}

Condition write_cache(const std::vector<Row>& rows, const MachineOf& machine) {
  return without_exceptions(
      "10. one table has the write cache off, and another has it on, with flushes",
      names_of(rows,
               [&](const Row& row) {
                 const ModelledMachineOptions off = machine(row, {.device = Device::drive}),
                                              on = machine(row, {.device = Device::drive_cache});
                 return off.write_cache || !on.write_cache || !on.flushes;
               }),
      "parts drive and drive-cache; one drive only");
}

Condition campaigns(const std::vector<Row>& rows) {
  return without_exceptions(
      "11. every system has passed its crash campaign, and the campaign's controls were caught",
      names_of(rows, [](const Row& row) { return row.lab.empty() || !row.lab_note.empty(); }),
      "table below");
}

}  // namespace

std::vector<Condition> conditions(const std::vector<Row>& rows, const MachineOf& machine) {
  return {
      one_delay(rows, machine),
      initialisation(rows),
      memory(rows, machine),
      transfers(rows, machine),
      {"5. disks are aged by three turnovers at 50, 75 and 90 % full, including cleaning",
       Met::not_computed,
       "in part: part aged ages 128 MB of one drive and of both arrays by `turnovers`, but its "
       "measured work rewrites only a few percent of the free space, so a run may not need "
       "the cleaner; the other parts begin with an empty disk"},
      {"6. user time and time to quiescence are both shown", Met::not_computed,
       "in part: each part shows both, and the busy time of the drives; the summary has no time "
       "to quiescence"},
      one_cost_table(rows, machine),
      recovery_sizes(),
      {"9. the papers' own settings and the best of one declared sweep are both printed",
       Met::not_computed,
       "in part: part delays has each system's own update intervals, and common delays of 5, 10 "
       "and 30 s; part memory has file caches of 18, 36 and 72 MB. The sizes of logs, segments "
       "and metadata pools are not swept"},
      write_cache(rows, machine),
      campaigns(rows)};
}

std::vector<ClaimAnswer> fairness(Context&) {
  ClaimAnswer answer{.id = "fairness",
                     .part = "fairness",
                     .title = "Conditions for a fair comparison, and exceptions"};
  Table table{
      .name = "conditions", .title = "eleven conditions", .columns = {"condition", "met", "how"}};
  for (const Condition& each : conditions(rows()))
    table.rows.push_back({each.text, word_of(each.met), each.how});
  answer.tables.push_back(std::move(table));
  Table shown{.name = "labs",
              .title =
                  "for each row: the campaign in results/reference that tests it, and the "
                  "name of the system there",
              .columns = {"row", "a cut may lose", "campaign: system"}};
  for (const Row& row : rows()) {
    std::string lab = row.lab;
    if (row.durability == Durability::none) lab += ", a control that is caught";
    if (!row.lab_note.empty()) lab += "; " + row.lab_note;
    shown.rows.push_back({row.name, name(row.durability), lab});
  }
  answer.tables.push_back(std::move(shown));
  answer.remarks.push_back(
      "Rows of the group `each call` are the same systems behind a wrapper that calls fsync "
      "after each operation (synchronous_vfs.h). LADDIS has its own front-end (part laddis), at "
      "four rates on two of the machines. Part fast-drive uses a second machine; --set machine=2 "
      "selects it for the other parts.");
  return {answer};
}

}  // namespace headcrash::experiment::compare
