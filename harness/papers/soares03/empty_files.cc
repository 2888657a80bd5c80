// MS-01: empty files are created and deleted three times (section IV-B, figure 2).
#include "harness/papers/soares03/measures.h"
#include "harness/papers/soares03/soares03.h"

namespace headcrash::experiment::soares03 {

namespace {

/// Runs the benchmark with all 628 MiB of memory. The paper reports that the benchmark then "was
/// completely CPU-bound, and all four file system implementations obtained very similar results"
/// (IV-B).
ClaimAnswer in_full_memory(Context& context) {
  ClaimAnswer answer{.id = "MS-01, 628 MiB",
                     .part = "empty-files",
                     .title = "3 x 100 000 empty files in 1 000 directories, 628 MiB (IV-B)"};
  constexpr double kVerySimilar = 1.1, kCompletely = .9;
  std::vector<Named> times, processor;
  for (const System system : kPrintedSystems) {
    const Cell& cell = context.cells.get(setup_of(system), "empty-files");
    const Figure elapsed = sum_of(cell, elapsed_of);
    add_number(answer, cell, cell.setup.name, "elapsed", "s", {}, elapsed);
    times.push_back({name(system), elapsed, "s"});
    const Figure busy = sum_of(cell, [](const PhaseOutcome& phase) { return phase.user_cpu_s; });
    processor.push_back({name(system), part_of(busy, elapsed, 100), "%"});
  }
  add_rule(answer, "all four take very similar times (10 %)", times, [&] {
    const auto [least, most] =
        std::ranges::minmax(times, {}, [](const Named& each) { return *each.value; });
    return *most.value <= *least.value * kVerySimilar;
  });
  add_rule(answer, "all four are bound by the processor (90 % of the time)", processor, [&] {
    return std::ranges::all_of(processor,
                               [](const Named& each) { return *each.value >= 100 * kCompletely; });
  });
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> empty_files(Context& context) {
  ClaimAnswer answer{.id = "MS-01",
                     .part = "empty-files",
                     .title = "3 x 100 000 empty files in 1 000 directories, 64 MiB (figure 2)"};
  const auto run = [&](System system, MachineChoice choice) -> const Cell& {
    choice.memory_bytes = std::min(choice.memory_bytes, kLittleMemoryBytes);
    const Cell& cell = context.cells.get(setup_of(system, choice), "empty-files");
    add_times(answer, cell);
    return cell;
  };
  const auto elapsed = [](const Cell& cell) { return sum_of(cell, elapsed_of); };
  const Cell &ext2 = run(System::ext2, {}), &ext3 = run(System::ext3, {}),
             &kfs = run(System::kfs, {}), &snap = run(System::snap, {});
  const Figure snap_more = more_time(elapsed(snap), elapsed(kfs));
  const Figure ext3_more = more_time(elapsed(ext3), elapsed(ext2));
  add_number(answer, snap, "KFS+snap over KFS", "more time", "%", 3.6, snap_more);
  add_number(answer, ext3, "ext3 over ext2", "more time", "%", 9, ext3_more);
  add_rule(answer, "snapshots cost 5 % at most", {in_unit(snap_more, "%")},
           [&] { return *snap_more <= 5; });
  require_action(answer, generations_in({&snap}));
  add_rule(answer, "the journal costs more than snapshots do",
           {{"journal", ext3_more}, {"snapshots", snap_more}},
           [&] { return *ext3_more > *snap_more; });
  require_action(answer, generations_in({&snap}));
  add_rule(answer, "the journal costs 9 % (4 to 15)", {in_unit(ext3_more, "%")},
           [&] { return *ext3_more >= 4 && *ext3_more <= 15; });
  if (context.rules_only) return {answer, in_full_memory(context)};
  // Adds runs in which the systems use the same interval: 30 s, the default of ext2 and KFS.
  const Cell &ext3_30 = run(System::ext3, {.interval_s = 30}),
             &snap_30 = run(System::snap, {.interval_s = 30});
  add_number(answer, ext3_30, "ext3 over ext2, equal intervals", "more time", "%", {},
             more_time(elapsed(ext3_30), elapsed(ext2)));
  add_number(answer, snap_30, "KFS+snap over KFS, equal intervals", "more time", "%", {},
             more_time(elapsed(snap_30), elapsed(kfs)));
  // Two counterfactuals in which generations end for other reasons. At a tenth of the processor's
  // speed, the run lasts so long that the time limit ends them. With 36 MiB of memory (8 MiB for
  // files), they end because a third of the memory for files is dirty.
  for (const MachineChoice& other :
       {MachineChoice{.processor = .1}, MachineChoice{.memory_bytes = 36 * kMib}}) {
    const Cell &its_kfs = run(System::kfs, other), &its_snap = run(System::snap, other);
    add_number(answer, its_snap, its_snap.setup.name + " over KFS", "more time", "%", {},
               more_time(elapsed(its_snap), elapsed(its_kfs)));
  }
  for (const WriteCache cache : kOtherWriteCaches)
    for (const System system : kPrintedSystems) (void)run(system, {.write_cache = cache});
  answer.remarks.push_back(
      "Figure 2 has no numbers; 3.6 and 9 % are from the text. With 64 MiB, all of KFS's "
      "metadata fits into memory (8 MB of inodes and directories). Our time for KFS is processor "
      "time only, because the run ends before the first kupdate. In Linux, in-core inodes and "
      "names (about 64 MB) use this memory; they are not charged here. Counterfactuals: a "
      "processor at a tenth of the speed, so that the time limit ends each generation; 8 MiB for "
      "files, so that generations end because a third of the memory is dirty (III-B), which KFS "
      "does not do.");
  return {answer, in_full_memory(context)};
}

}  // namespace headcrash::experiment::soares03
