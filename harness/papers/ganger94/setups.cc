// Configures the compared schemes, and lists the parts (ganger94.h).
#include <fmt/format.h>

#include "fs-adapters/ufs/core/file_system.h"
#include "fs-adapters/ufs/under_test.h"
#include "harness/papers/ganger94/ganger94.h"
#include "harness/papers/ganger94/ncr3433.h"
#include "plugin/base/invariant.h"

namespace headcrash::experiment::ganger94 {

using os::FlagMeaning;

Paper paper() {
  return {
      "ganger94",
      "Ganger and Patt 1994, Metadata Update Performance in File Systems: all parts",
      {
          {"figure1",
           "Meanings of the ordering flag, 4-user copy (GP-01, GP-02)",
           kExecutions,
           figure_1,
           {},
           kSeeds},
          {"figure2",
           "Meanings of the ordering flag, 1-user remove (GP-03, GP-04)",
           kExecutions,
           figure_2,
           {},
           kSeeds},
          {"chains",
           "Scheduler chains: tracked or barrier, with and without -CB (GP-05, GP-09, GP-10)",
           kExecutions,
           chains,
           {},
           kSeeds},
          {"figure3", "-NR and -CB, 4-user copy (GP-06, GP-07)", kExecutions, figure_3, {}, kSeeds},
          {"figure4", "-NR and -CB, 4-user remove (GP-08)", kExecutions, figure_4, {}, kSeeds},
          {"figure5",
           "Metadata throughput by number of users (GP-11 to GP-14)",
           1,
           figure_5,
           {},
           kSeeds},
          {"table1",
           "Five schemes, 4-user copy (GP-15 to GP-20)",
           kExecutions,
           table_1,
           {},
           kSeeds},
          {"table2",
           "Five schemes, 4-user remove (GP-21 to GP-24)",
           kExecutions,
           table_2,
           {},
           kSeeds},
          {"costs", "Components of the CPU times of tables 1 and 2", kExecutions, cpu_costs},
          {"table3",
           "Five schemes, Andrew benchmark (GP-25, GP-26)",
           kExecutions,
           table_3,
           {},
           kSeeds},
          {"figure6", "Five schemes, Sdet (GP-27)", 1, figure_6, {}, kSeeds},
          {"overall",
           "The abstract's largest differences (GP-28)",
           kExecutions,
           overall,
           {},
           kSeeds},
          {"gap",
           "Figures 1 to 6 and tables 1 to 3, if ufs leaves rotational gaps (GP-01 to GP-28)",
           kExecutions,
           rotational_gap,
           {},
           kSeeds,
           true},
          {"semantics", "Data that is permanent when a call returns (GP-29)", 1, semantics, {}, 0},
          {"fsync", "fsync after a burst (GP-30)", 1, fsync_after_burst},
          {"lines", "Lines of code of each scheme (GP-31)", 1, lines_of_code, {}, 0},
          {"integrity", "Crash states that break a rule (GP-32)", 1, integrity},
          {"cycles", "Dependencies between whole blocks (GP-33)", 1, block_dependencies},
          {"future", "Write-ahead log and NVRAM (GP-34)", kExecutions, future_work},
          {"workitems", "Time until freed space is reusable (GP-35)", 1, work_items, {}, 0},
          {"causes", "Counterfactual runs: effects on the numbers", kExecutions, counterfactuals},
      },
      "Soft updates keep the integrity of metadata and are as fast as delayed writes without any "
      "order (within 5 %); synchronous writes and ordering by the disk scheduler are slower.",
      {{"4-user copy, Soft Updates relative to No Order", "GP-15", "Soft Updates", "of No Order"},
       {"4-user remove, Conventional relative to No Order", "GP-21", "Conventional", "of No Order"},
       {"largest ratio, Conventional by Soft Updates", "GP-28", "Conventional by Soft Updates",
        "largest ratio of elapsed times"}}};
}

ModelledMachineOptions paper_machine() {
  ModelledMachineOptions machine;
  machine.costs = kNcr3433;
  return machine;
}

std::uint32_t executions_of(std::string_view workload) {
  return workload.ends_with("-1k") || workload == "sdet" ? 1 : kExecutions;
}

const Cell& cell_of(Cells& cells, const UfsSetup& setup, const std::string& workload,
                    const timed::Arguments& arguments) {
  const UfsSetup placed = in_reading(setup, static_cast<Reading>(cells.options().reading));
  return cells.get(placed.setup(), workload, arguments, executions_of(workload));
}

Setup UfsSetup::setup() const {
  Setup made{.name = name, .machine = machine};
  ufs::SchemeVariant mounted = scheme;
  mounted.mount.write_behind_bytes = write_behind_bytes;
  made.machine.system = ufs::system_of(mounted);
  made.machine.mkfs = {{"block-size", fmt::format("{}", block_bytes)}, {"fragment-size", "1024"}};
  if (group_bytes > 0) made.machine.mkfs["group-size"] = fmt::format("{}", group_bytes);
  return made;
}

ufs::FileSystem& mounted_ufs(ModelledMachine& machine) {
  return dynamic_cast<ufs::FileSystem&>(machine.vfs());
}

UfsSetup ufs_setup(const char* variant) {
  auto scheme = ufs::find_scheme_variant(variant);
  invariant(scheme.has_value(), "each scheme of the paper must exist in ufs");
  return {.name = variant, .scheme = *std::move(scheme)};
}

namespace {

/// Returns a setup in which the last write of a series is asynchronous, as in the paper.
UfsSetup paper_setup(const char* variant) {
  UfsSetup setup = ufs_setup(variant);
  setup.scheme.mount.options.last_write = ufs::LastWrite::asynchronous;
  return setup;
}

UfsSetup compared_setup(ComparedScheme scheme) {
  switch (scheme) {
    case ComparedScheme::conventional:
      break;
    case ComparedScheme::flag:
      return flag_setup(FlagMeaning::part, true, true);
    case ComparedScheme::chains:
      return chains_setup(ufs::Deallocation::tracked, true);
    case ComparedScheme::soft_updates:
      return paper_setup("soft-updates");
    case ComparedScheme::no_order:
      return paper_setup("no-order");
  }
  return paper_setup("conventional");
}

}  // namespace

UfsSetup setup_of(ComparedScheme scheme, Initialization initialization) {
  const bool initializes = initialization == Initialization::on;
  UfsSetup setup = compared_setup(scheme);
  setup.scheme.mount.options.allocation_initialization = initializes;
  if (initializes) setup.name += " +init";
  return setup;
}

UfsSetup in_reading(UfsSetup setup, Reading reading) {
  if (reading == Reading::contiguous) return setup;
  // hp-c2447 has 2051 cylinders with 1001.9 sectors on average. Like 4.3BSD's ufs_blkpref(), the
  // gap is rounded up to whole blocks: 4 ms are 27.7 of the 77 sectors of an average track.
  constexpr std::uint64_t kSectorsPerTrack = 77, kTracks = 13, kCylinders = 16;
  constexpr os::TimeNs kGapNs = 4 * model::kMillisecondNs, kRevolutionNs = 11'111'111;
  const std::uint64_t block_sectors = setup.block_bytes / model::kSectorBytes;
  const std::uint64_t gap_sectors = kGapNs * kSectorsPerTrack / kRevolutionNs;
  setup.scheme.mount.allocation.gap_blocks =
      static_cast<std::uint32_t>((gap_sectors + block_sectors - 1) / block_sectors);
  setup.group_bytes = kCylinders * kTracks * kSectorsPerTrack / block_sectors * setup.block_bytes;
  setup.machine.concatenated_sectors = (64 << 10) / model::kSectorBytes;
  setup.name += " (gap)";
  return setup;
}

UfsSetup usual(ComparedScheme scheme) {
  return setup_of(
      scheme, scheme == ComparedScheme::soft_updates ? Initialization::on : Initialization::off);
}

UfsSetup flag_setup(FlagMeaning meaning, bool reads_bypass, bool block_copy) {
  const char* name = "ignore";
  if (meaning == FlagMeaning::full) name = "full";
  if (meaning == FlagMeaning::back) name = "back";
  if (meaning == FlagMeaning::part) name = "part";
  UfsSetup setup = paper_setup("part");
  setup.name = fmt::format("scheduler-flag {}{}{}", name, reads_bypass ? "-nr" : "",
                           block_copy ? (reads_bypass ? "/cb" : "-cb") : "");
  setup.scheme.queue.flag = meaning;
  setup.scheme.queue.reads_bypass = reads_bypass;
  setup.scheme.block_copy = block_copy;
  return setup;
}

UfsSetup chains_setup(ufs::Deallocation deallocation, bool block_copy, bool reads_bypass) {
  UfsSetup setup = paper_setup("chains");
  setup.name = fmt::format("scheduler-chains {}{}{}",
                           deallocation == ufs::Deallocation::tracked ? "tracked" : "barrier",
                           block_copy ? "-cb" : "", reads_bypass ? "-nr" : "");
  setup.scheme.mount.options.deallocation = deallocation;
  setup.scheme.block_copy = block_copy;
  setup.scheme.queue.reads_bypass = reads_bypass;
  return setup;
}

}  // namespace headcrash::experiment::ganger94
