// The schemes that are compared, and the parts that can be asked for (ganger94.h).
#include "harness/experiment/ganger94/ganger94.h"

#include <fmt/format.h>

namespace headcrash::experiment::ganger94 {

using os::FlagMeaning;
using ufs::SchemeKind;

Paper paper() {
  return {"ganger94",
          "Ganger and Patt 1994, Metadata Update Performance in File Systems: all of it",
          {
      {"figure1", "Meanings of the ordering flag, 4-user copy (GP-01, GP-02)", kExecutions, figure_1},
      {"figure2", "Meanings of the ordering flag, 1-user remove (GP-03, GP-04)", kExecutions, figure_2},
      {"chains", "Scheduler chains: tracked or barrier, with and without -CB (GP-05, GP-09, GP-10)", kExecutions, chains},
      {"figure3", "-NR and -CB, 4-user copy (GP-06, GP-07)", kExecutions, figure_3},
      {"figure4", "-NR and -CB, 4-user remove (GP-08)", kExecutions, figure_4},
      {"figure5", "Metadata throughput by users (GP-11 to GP-14)", 1, figure_5},
      {"table1", "Five schemes, 4-user copy (GP-15 to GP-20)", kExecutions, table_1},
      {"table2", "Five schemes, 4-user remove (GP-21 to GP-24)", kExecutions, table_2},
      {"table3", "Five schemes, Andrew benchmark (GP-25, GP-26)", kExecutions, table_3},
      {"figure6", "Five schemes, Sdet (GP-27)", 1, figure_6},
      {"overall", "The abstract's largest differences (GP-28)", kExecutions, overall},
      {"semantics", "What is permanent when a call returns (GP-29)", 1, semantics},
      {"fsync", "fsync after a burst (GP-30)", 1, fsync_after_burst},
      {"lines", "Lines of code of each scheme (GP-31)", 1, lines_of_code},
      {"integrity", "Crash states that break a rule (GP-32)", 1, integrity},
      {"cycles", "Dependencies between whole blocks (GP-33)", 1, block_dependencies},
      {"future", "Write-ahead log and NVRAM (GP-34)", kExecutions, future_work},
      {"workitems", "How soon freed space is back (GP-35)", 1, work_items},
      {"causes", "Counterfactual runs: what moves the numbers", kExecutions, counterfactuals},
          }};
}

std::uint32_t executions_of(std::string_view workload) {
  return workload.ends_with("-1k") || workload == "sdet" ? 1 : kExecutions;
}

const Cell& cell_of(Cells& cells, const Setup& setup, const std::string& workload,
                    const timed::Arguments& arguments) {
  return cells.get(setup, workload, arguments, executions_of(workload));
}

Setup setup_of(Compared scheme, Initialization initialization) {
  const bool initializes = initialization == Initialization::on;
  Setup setup;
  ModelledMachineOptions& machine = setup.machine;
  machine.scheme_options.allocation_initialization = initializes;
  switch (scheme) {
    case Compared::conventional:
      setup.name = "conventional";
      machine.scheme = SchemeKind::conventional;
      break;
    case Compared::flag:
      setup = flag_setup(FlagMeaning::part, true, true);
      setup.machine.scheme_options.allocation_initialization = initializes;
      break;
    case Compared::chains:
      setup = chains_setup(ufs::Deallocation::tracked, true);
      setup.machine.scheme_options.allocation_initialization = initializes;
      break;
    case Compared::soft_updates:
      setup.name = "soft-updates";
      machine.scheme = SchemeKind::soft_updates;
      break;
    case Compared::no_order:
      setup.name = "no-order";
      machine.scheme = SchemeKind::no_order;
      break;
  }
  if (initializes) setup.name += " +init";
  return setup;
}

Setup usual(Compared scheme) {
  return setup_of(scheme, scheme == Compared::soft_updates ? Initialization::on : Initialization::off);
}

Setup flag_setup(FlagMeaning meaning, bool reads_bypass, bool block_copy) {
  const char* name = "ignore";
  if (meaning == FlagMeaning::full) name = "full";
  if (meaning == FlagMeaning::back) name = "back";
  if (meaning == FlagMeaning::part) name = "part";
  Setup setup{.name = fmt::format("scheduler-flag {}{}{}", name, reads_bypass ? "-nr" : "",
                                  block_copy ? (reads_bypass ? "/cb" : "-cb") : "")};
  setup.machine.scheme = SchemeKind::scheduler_flag;
  setup.machine.flag = meaning;
  setup.machine.reads_bypass = reads_bypass;
  setup.machine.block_copy = block_copy;
  return setup;
}

Setup chains_setup(ufs::Deallocation deallocation, bool block_copy, bool reads_bypass) {
  Setup setup{.name = fmt::format("scheduler-chains {}{}{}",
                                  deallocation == ufs::Deallocation::tracked ? "tracked" : "barrier",
                                  block_copy ? "-cb" : "", reads_bypass ? "-nr" : "")};
  setup.machine.scheme = SchemeKind::scheduler_chains;
  setup.machine.scheme_options.deallocation = deallocation;
  setup.machine.block_copy = block_copy;
  setup.machine.reads_bypass = reads_bypass;
  return setup;
}

}  // namespace headcrash::experiment::ganger94
