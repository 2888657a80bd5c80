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

#include "harness/experiment/paper.h"

namespace headcrash::experiment::ganger94 {

Paper paper();

/// "Each datum is an average of several independent executions": so many here. The throughputs of figures 5 and
/// 6 are sums over thousands of files: one is enough.
inline constexpr std::uint32_t kExecutions = 3;
std::uint32_t executions_of(std::string_view workload);
/// The cell with as many executions as its workload needs, whichever part asks.
const Cell& cell_of(Cells& cells, const Setup& setup, const std::string& workload,
                    const timed::Arguments& arguments = {});

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

// flags.cc: figures 1 to 4 and what sections 3.1 to 3.3 say.
std::vector<ClaimAnswer> figure_1(Context& context);
std::vector<ClaimAnswer> figure_2(Context& context);
std::vector<ClaimAnswer> figure_3(Context& context);
std::vector<ClaimAnswer> figure_4(Context& context);
std::vector<ClaimAnswer> chains(Context& context);
// tables.cc
std::vector<ClaimAnswer> table_1(Context& context);
std::vector<ClaimAnswer> table_2(Context& context);
std::vector<ClaimAnswer> table_3(Context& context);
// throughput.cc: figures 5 and 6, and the abstract.
std::vector<ClaimAnswer> figure_5(Context& context);
std::vector<ClaimAnswer> figure_6(Context& context);
std::vector<ClaimAnswer> overall(Context& context);
// probes.cc: section 6.
std::vector<ClaimAnswer> semantics(Context& context);
std::vector<ClaimAnswer> fsync_after_burst(Context& context);
std::vector<ClaimAnswer> lines_of_code(Context& context);
// integrity.cc: sections 1, 4.1 and 4.2.
std::vector<ClaimAnswer> integrity(Context& context);
std::vector<ClaimAnswer> block_dependencies(Context& context);
std::vector<ClaimAnswer> work_items(Context& context);
// future.cc: section 7.
std::vector<ClaimAnswer> future_work(Context& context);
// probes.cc, too: why a number is as it is.
std::vector<ClaimAnswer> counterfactuals(Context& context);

}  // namespace headcrash::experiment::ganger94
