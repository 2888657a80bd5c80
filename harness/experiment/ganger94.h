#pragma once
// Ganger and Patt, "Metadata Update Performance in File Systems", OSDI 1994: its figures and tables, run
// again.
//
// One machine model (modelled_machine.h), one drive, one tree; a cell differs from the next by its scheme and
// its workload alone. Allocation initialization is on for Soft Updates everywhere, for the others only where
// table 1 says Y. Inputs that the paper does not print and that are ours: `compile-cpu-ms` of the Andrew
// benchmark, which follows from table 3 (276.6 s without order, 26 files), its `passes`, and `command-cpu-ms`
// of Sdet.

#include <string>
#include <vector>

#include "harness/experiment/cells.h"
#include "harness/experiment/claim.h"

namespace headcrash::experiment::ganger94 {

/// What can be asked for by name, in the order of the paper.
struct Part {
  std::string name;   ///< "table1"
  std::string title;  ///< one line
  std::vector<ClaimAnswer> (*answer)(Cells&);
};
const std::vector<Part>& parts();

// The schemes as section 5 compares them.
enum class Compared : std::uint8_t { conventional, flag, chains, soft_updates, no_order };
inline constexpr Compared kCompared[] = {Compared::conventional, Compared::flag, Compared::chains,
                                         Compared::soft_updates, Compared::no_order};
enum class Initialization : std::uint8_t { off, on };
Setup setup_of(Compared scheme, Initialization initialization);
/// Andrew: 276.6 s of table 3, without order, over 26 compilations.
inline constexpr std::int64_t kCompileCpuMs = 10'600;
/// And so many programs in each, which hand a file to the next one: preprocessor, compiler, optimiser,
/// assembler.
inline constexpr std::int64_t kCompilePasses = 4;
/// Sdet: an estimate of what a command that computes takes on this processor; the paper prints no times.
inline constexpr std::int64_t kCommandCpuMs = 40;

/// Only Soft Updates initializes.
Setup usual(Compared scheme);
/// Scheduler Flag with a meaning of its flag, with or without -NR and -CB.
Setup flag_setup(os::FlagMeaning meaning, bool reads_bypass, bool block_copy);
Setup chains_setup(ufs::Deallocation deallocation, bool block_copy, bool reads_bypass = false);

// ganger94_flags.cc: figures 1 to 4 and what sections 3.1 to 3.3 say.
std::vector<ClaimAnswer> figure_1(Cells& cells);
std::vector<ClaimAnswer> figure_2(Cells& cells);
std::vector<ClaimAnswer> figure_3(Cells& cells);
std::vector<ClaimAnswer> figure_4(Cells& cells);
std::vector<ClaimAnswer> chains(Cells& cells);
// ganger94_tables.cc
std::vector<ClaimAnswer> table_1(Cells& cells);
std::vector<ClaimAnswer> table_2(Cells& cells);
std::vector<ClaimAnswer> table_3(Cells& cells);
// ganger94_throughput.cc: figures 5 and 6, and the abstract.
std::vector<ClaimAnswer> figure_5(Cells& cells);
std::vector<ClaimAnswer> figure_6(Cells& cells);
std::vector<ClaimAnswer> overall(Cells& cells);
// ganger94_probes.cc: section 6.
std::vector<ClaimAnswer> semantics(Cells& cells);
std::vector<ClaimAnswer> fsync_after_burst(Cells& cells);
std::vector<ClaimAnswer> lines_of_code(Cells& cells);
// ganger94_integrity.cc: sections 1, 4.1 and 4.2.
std::vector<ClaimAnswer> integrity(Cells& cells);
std::vector<ClaimAnswer> block_dependencies(Cells& cells);
std::vector<ClaimAnswer> work_items(Cells& cells);
// ganger94_future.cc: section 7.
std::vector<ClaimAnswer> future_work(Cells& cells);
// ganger94_probes.cc, too: why a number is as it is.
std::vector<ClaimAnswer> counterfactuals(Cells& cells);

}  // namespace headcrash::experiment::ganger94
