#pragma once
// Reproduces the figures and tables of Ganger and Patt, "Metadata Update Performance in File
// Systems", OSDI 1994.
//
// All cells use one machine model (modelled_machine.h), one drive and one tree; they differ only in
// scheme and workload. Allocation initialization is always on for Soft Updates, and for the other
// schemes only where table 1 says Y. The paper does not give some inputs. We derived
// `compile-cpu-ms` of the Andrew benchmark from table 3 (276.6 s with No Order, 26 files). We chose
// the `programs` of that benchmark and of Sdet, and `command-cpu-ms` of Sdet.

#include <string>
#include <vector>

#include "fs-adapters/ufs/schemes/scheme_variants.h"
#include "harness/papers/paper.h"

namespace headcrash::experiment::ganger94 {

Paper paper();

// The schemes that section 5 compares.
enum class ComparedScheme : std::uint8_t { conventional, flag, chains, soft_updates, no_order };
inline constexpr ComparedScheme kCompared[] = {ComparedScheme::conventional, ComparedScheme::flag,
                                               ComparedScheme::chains, ComparedScheme::soft_updates,
                                               ComparedScheme::no_order};
enum class Initialization : std::uint8_t { off, on };
/// Returns the paper's machine, with the processor of ncr3433.h.
ModelledMachineOptions paper_machine();
/// The two readings of where the paper's ufs places the blocks of a file. The paper says only that
/// it "is based on the Berkeley fast file system", and that "the scheduling code in the device
/// driver concatenates sequential requests" (section 2).
///
///   contiguous  successive blocks are adjacent. Because table 1 counts 3.6 KiB per request, the
///               driver concatenates only up to a page of 4 KiB (modelled_machine.h). Groups have
///               mkfs's default size
///   gap         a gap of 4 ms after each block, groups of 16 cylinders, and a driver that
///               concatenates up to 64 KiB (part `gap`). These are defaults of the Berkeley fast
///               file system (newfs of 4.3BSD-Reno: ROTDELAY 4 ms, MAXCONTIG 1 block, DESCPG 16),
///               from which SVR4's ufs descends. SVR4's mkfs has the options gap and cgsize (Atari
///               System V 1.1, mkfs(1M): 16 cylinders by default), and blocks of 4 KiB by default
///               (Dell System V Release 4 issue 2.2, mkfs(1M)). NCR's setting is unknown
enum class Reading : std::uint8_t { contiguous, gap };

/// The paper's ufs on its machine: a scheme from fs-adapters/ufs/schemes/scheme_variants.h, and the
/// settings that figures vary. The last write in a series of updates is asynchronous, because no
/// other write depends on it. Section 6.1 leaves this open ("asynchronous or delayed"), but table 1
/// does not: Conventional has 36 075 - 31 574 = 4 501 requests more than No Order. This is 2.0 for
/// each of the 2 140 files and 108 directories created: one for the inode's block and one for the
/// directory's block. Blocks are 4 KiB, because SVR4 moves file data by pages, and because in table
/// 1 the initialisation of 2 140 files takes 51 419 - 36 075 requests: 7.2 for a file of 26.7 KB.
/// Fragments are 1 KiB, and the whole drive is used.
struct UfsSetup {
  std::string name;
  ufs::SchemeVariant scheme;
  std::uint32_t block_bytes = 4096;
  /// Full data blocks are written behind (ufs/write_behind.h), as in SVR4's ufs. Each file has at
  /// most 240 KiB in flight, the limit of McVoy and Kleiman 1991, which the paper cites. Files in
  /// the paper's trees have 26.7 KB on average, so the limit is rarely reached. The disk's queue is
  /// short because each user waits until the next block has been read.
  std::uint64_t write_behind_bytes = 240 << 10;
  /// Size of a cylinder group; 0 selects mkfs's default.
  std::uint64_t group_bytes = 0;
  /// The members `system` and `mkfs` are ignored.
  ModelledMachineOptions machine = paper_machine();

  Setup setup() const;
  Result<std::unique_ptr<ModelledMachine>> start() const {
    return ModelledMachine::start(setup().machine);
  }
};
/// Returns the ufs that is mounted on a machine started from a UfsSetup.
ufs::FileSystem& mounted_ufs(ModelledMachine& machine);
/// Returns the setup for a variant. REQUIRES: scheme_variants.h lists the variant.
UfsSetup ufs_setup(const char* variant);

UfsSetup setup_of(ComparedScheme scheme, Initialization initialization);
UfsSetup in_reading(UfsSetup setup, Reading reading);
/// Number of executions per cell. The paper says "Each datum is an average of several independent
/// executions". A single execution suffices for figures 5 and 6, because their throughputs are sums
/// over thousands of files.
inline constexpr std::uint32_t kExecutions = 3;
std::uint32_t executions_of(std::string_view workload);
/// Returns a cell with executions_of(workload) executions, in the reading of `cells`
/// (CellOptions::reading). All parts of a run share the cell.
const Cell& cell_of(Cells& cells, const UfsSetup& setup, const std::string& workload,
                    const timed::Arguments& arguments = {});

/// CPU time per compilation in the Andrew benchmark. Table 3 gives 276.6 s without order for 26
/// compilations.
inline constexpr std::int64_t kCompileCpuMs = 10'400;
/// Estimated CPU time of a compute-bound command in Sdet. The paper does not give this time.
inline constexpr std::int64_t kCommandCpuMs = 40;
/// Number of scripts per Sdet stream. A stream then takes a few minutes, several times the syncer's
/// delay of 30 to 60 s.
inline constexpr std::int64_t kScriptsEach = 5;

/// Returns the default setup of a scheme. Only Soft Updates uses allocation initialization.
UfsSetup usual(ComparedScheme scheme);
/// Returns the setup of Scheduler Flag in which the flag has the given meaning. `reads_bypass` adds
/// -NR, and `block_copy` adds -CB.
UfsSetup flag_setup(os::FlagMeaning meaning, bool reads_bypass, bool block_copy);
UfsSetup chains_setup(ufs::Deallocation deallocation, bool block_copy, bool reads_bypass = false);

// flags.cc: figures 1 to 4, and statements in sections 3.1 to 3.3.
std::vector<ClaimAnswer> figure_1(Context& context);
std::vector<ClaimAnswer> figure_2(Context& context);
std::vector<ClaimAnswer> figure_3(Context& context);
std::vector<ClaimAnswer> figure_4(Context& context);
std::vector<ClaimAnswer> chains(Context& context);
// tables.cc: tables 1 to 3.
std::vector<ClaimAnswer> table_1(Context& context);
std::vector<ClaimAnswer> table_2(Context& context);
std::vector<ClaimAnswer> table_3(Context& context);
// costs.cc: the breakdown of the CPU times in tables 1 and 2.
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
// gap.cc: figures 1 to 6 and tables 1 to 3 in the reading with gaps.
std::vector<ClaimAnswer> rotational_gap(Context& context);
// probes.cc: changes one parameter at a time to explain single numbers.
std::vector<ClaimAnswer> counterfactuals(Context& context);

}  // namespace headcrash::experiment::ganger94
