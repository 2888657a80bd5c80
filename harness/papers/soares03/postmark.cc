// MS-02: PostMark (section IV-D, figure 3 and table I).
#include "harness/papers/soares03/measures.h"
#include "harness/papers/soares03/soares03.h"

namespace headcrash::experiment::soares03 {
namespace {

/// Returns the rate of creations, deletions, reads or appends. Each of these occurs in half of the
/// transactions.
double of_a_kind_per_s(const PhaseOutcome& phase) {
  return phase.operations_per_s() / 2;
}
double transactions_per_s(const PhaseOutcome& phase) {
  return phase.operations_per_s();
}

}  // namespace

std::vector<ClaimAnswer> postmark(Context& context) {
  ClaimAnswer answer{
      .id = "MS-02",
      .part = "postmark",
      .title = "PostMark: 100 000 transactions, 20 000 files, 400 directories (table I)"};
  const auto run = [&](System system, const MachineChoice& choice) -> const Cell& {
    return context.cells.get(setup_of(system, choice), "postmark");
  };
  const auto rate = [](const Cell& cell) { return cell.of("transactions", transactions_per_s); };
  const double kPaper[] = {369, 192, 626, 629};
  std::vector<Figure> rates;
  for (const System system : kAllSystems) {
    const Cell& cell = run(system, {});
    const auto at = static_cast<std::size_t>(system);
    add_number(answer, cell, cell.setup.name, "creations", "/s",
               at < std::size(kPaper) ? Figure(kPaper[at]) : std::nullopt,
               cell.of("transactions", of_a_kind_per_s));
    add_times(answer, cell);
    rates.push_back(rate(cell));
  }
  const auto &ext2 = rates[0], &ext3 = rates[1], &kfs = rates[2], &snap = rates[3],
             &ordered = rates[4];
  const Figure snap_part = part_of(snap, kfs), ordered_part = part_of(ordered, kfs),
               journal_times = part_of(ext2, ext3), layout = part_of(kfs, ext2);
  const Cell& any = run(System::kfs, {});
  add_number(answer, any, "KFS+snap over KFS", "rate", "times", 629. / 626, snap_part);
  add_number(answer, any, "KFS+snap, ordered over KFS", "rate", "times", {}, ordered_part);
  add_number(answer, any, "ext3 over ext2", "time", "times", 369. / 192, journal_times);
  add_number(answer, any, "KFS over ext2 (layout)", "rate", "times", 626. / 369, layout);
  add_rule(answer, "KFS+snap is within 2 % of KFS", {{"ratio", snap_part}},
           [&] { return std::abs(*snap_part - 1) <= .02; });
  require_action(answer, generations_in({&run(System::snap, {})}, "transactions"));
  constexpr double kTolerance = .25;
  add_rule(answer, "ext3 takes 1.92 times as long as ext2 (+-25 %)", {{"ratio", journal_times}},
           [&] { return std::abs(*journal_times / (369. / 192) - 1) <= kTolerance; });
  add_rule(answer,
           "creations per second are within 25 % of the printed numbers, for all four systems",
           {{"ext2", ext2}, {"ext3", ext3}, {"KFS", kfs}, {"KFS+snap", snap}}, [&] {
             for (std::size_t i = 0; i < std::size(kPaper); ++i)
               if (std::abs(*rates[i] / 2 / kPaper[i] - 1) > .25) return false;
             return true;
           });
  if (context.rules_only) return {answer};
  // Adds runs in which the systems use the same interval: 30 s, the default of ext2 and KFS.
  const Cell &ext3_30 = run(System::ext3, {.interval_s = 30}),
             &snap_30 = run(System::snap, {.interval_s = 30});
  add_number(answer, ext3_30, "ext3 over ext2, equal intervals", "time", "times", {},
             part_of(ext2, rate(ext3_30)));
  add_number(answer, snap_30, "KFS+snap over KFS, equal intervals", "rate", "times", {},
             part_of(rate(snap_30), kfs));
  for (const WriteCache cache : kOtherWriteCaches) {
    for (const System system : kPrintedSystems) {
      const Cell& cell = run(system, {.write_cache = cache});
      add_number(answer, cell, cell.setup.name, "creations", "/s", {},
                 cell.of("transactions", of_a_kind_per_s));
    }
  }
  answer.remarks.push_back(
      "The rates of table I are per kind of operation. In the sense of PostMark's \"mixed with "
      "transactions\", each kind is half of the transactions, and KFS takes 80 s. If they are "
      "rates of transactions, KFS takes 160 s. Here the pool fits into memory, and the "
      "transactions cost only processor time and, on ext3, waits for the journal. The text does not "
      "say what Linux waited for during 80 s.");
  return {answer};
}

}  // namespace headcrash::experiment::soares03
