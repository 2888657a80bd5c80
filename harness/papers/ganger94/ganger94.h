#pragma once
// Ganger and Patt, "Metadata Update Performance in File Systems", OSDI 1994: its figures and
// tables, run again.
//
// One machine model (modelled_machine.h), one drive, one tree; a cell differs from the next by its
// scheme and its workload alone. Allocation initialization is on for Soft Updates everywhere, for
// the others only where table 1 says Y. Inputs that the paper does not print and that are ours:
// `compile-cpu-ms` of the Andrew benchmark, which follows from table 3 (276.6 s without order, 26
// files), its `programs` and those of Sdet, and `command-cpu-ms` of Sdet.

#include <string>
#include <vector>

#include "fs-adapters/ufs/schemes/scheme_variants.h"
#include "harness/papers/paper.h"

namespace headcrash::experiment::ganger94 {

Paper paper();

// The schemes as section 5 compares them.
enum class Compared : std::uint8_t { conventional, flag, chains, soft_updates, no_order };
inline constexpr Compared kCompared[] = {Compared::conventional, Compared::flag, Compared::chains,
                                         Compared::soft_updates, Compared::no_order};
enum class Initialization : std::uint8_t { off, on };
/// The paper's, with the processor of ncr3433.h.
ModelledMachineOptions paper_machine();
/// A ufs of the paper on the machine of the paper: one line of
/// fs-adapters/ufs/schemes/scheme_variants.h, with what a figure changes about it. The last write
/// of a series of updates, on which nothing depends, is asynchronous. Section 6.1 leaves it open
/// ("asynchronous or delayed"); table 1 does not: Conventional has 36 075 - 31 574 = 4 501 requests
/// more than No Order, 2.0 for each of the 2 140 files and 108 folders that are made: the inode's
/// and the directory's block. Blocks of 4 KiB, since SVR4 moves file data by pages, and table 1 has
/// 51 419 - 36 075 requests that initialise 2 140 files: 7.2 for a file of 26.7 KB; fragments of 1
/// KiB; the whole drive.
struct UfsSetup {
  std::string name;
  ufs::SchemeVariant scheme;
  std::uint32_t block_bytes = 4096;
  /// Full blocks of data are written behind (ufs/write_behind.h), as SVR4's ufs does; one file has
  /// 240 KiB on their way at most, what McVoy and Kleiman 1991 chose, whom the paper cites. Its
  /// trees' files have 26.7 KB on average, so that the bound is seldom met: what bounds the disk's
  /// queue is that each user waits for the next block that he reads.
  std::uint64_t write_behind_bytes = 240 << 10;
  ModelledMachineOptions machine = paper_machine();  ///< `system` and `mkfs` are not used

  Setup setup() const;
  Result<std::unique_ptr<ModelledMachine>> start() const {
    return ModelledMachine::start(setup().machine);
  }
};
/// What such a machine has mounted.
ufs::FileSystem& mounted_ufs(ModelledMachine& machine);
/// By its name in scheme_variants.h, which must have it.
UfsSetup ufs_setup(const char* variant);

UfsSetup setup_of(Compared scheme, Initialization initialization);
/// "Each datum is an average of several independent executions": their number here. The throughputs
/// of figures 5 and 6 are sums over thousands of files: one is enough.
inline constexpr std::uint32_t kExecutions = 3;
std::uint32_t executions_of(std::string_view workload);
/// The cell with as many executions as its workload needs, whichever part asks.
const Cell& cell_of(Cells& cells, const UfsSetup& setup, const std::string& workload,
                    const timed::Arguments& arguments = {});

/// Andrew: 276.6 s of table 3, without order, over 26 compilations.
inline constexpr std::int64_t kCompileCpuMs = 10'400;
/// Sdet: an estimate of what a command that computes takes on this processor; the paper prints no
/// times.
inline constexpr std::int64_t kCommandCpuMs = 40;
/// Sdet's streams run so many scripts: some minutes, several times the 30 to 60 s for which the
/// syncer delays a write.
inline constexpr std::int64_t kScriptsEach = 5;

/// Only Soft Updates initializes.
UfsSetup usual(Compared scheme);
/// Scheduler Flag with a meaning of its flag, with or without -NR and -CB.
UfsSetup flag_setup(os::FlagMeaning meaning, bool reads_bypass, bool block_copy);
UfsSetup chains_setup(ufs::Deallocation deallocation, bool block_copy, bool reads_bypass = false);

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
// costs.cc: what the CPU times of both are made of.
std::vector<ClaimAnswer> cpu_costs(Context& context);
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
