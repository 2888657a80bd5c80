#pragma once
// Campaigns that explore: the tables `[explore]` and `[[controls]]` of a campaign file.
//
// A trial of such a campaign records a workload on a stage, and checks every crash state that the
// strategies find in the recording. A cell is one row of the report: a file system, its mode, and
// its workloads. Controls are cells with a required outcome. Their keys override those of the
// campaign:
//
//   [[controls]]
//   filesystem = "xfs"
//   must = "lose"                    data is lost in some state; `damage`: the check finds damage,
//                                    or a rule of the stack is broken;
//                                    `keep`: everything is kept; `keep-after-fsck`: the same, but
//                                    repairs are permitted; `any`: nothing is required, so the cell
//                                    is no control, but losses are reported; default: the adapter's
//                                    expectation
//   kernels = ["6.12"]               used instead of the campaign's kernels
//   only-kernels = ["7.3"]           the campaign's other kernels are skipped
//   write-cache = "write through"    the guest sees a write-through disk and sends no flushes
//   prefill = "none"                 a new disk, not filled with foreign bytes before mkfs
//   device = "netra-raid5"           an array instead of a single disk; default: the campaign's
//                                    only device, with its faults, or a single disk
//   faults = ["dead:hd0.3"]          faults of the array, from the start of the workload on
//   faults-after-cut = [...]         faults of the array when the power returns
//   strategies = ["lose-all"]
//   workload = "ace-seq1"            from the catalogue, or from the file's [workloads]
//   trials = 10
//   budget = 50                      limits the states of each workload; `states` instead limits
//                                    the states of all workloads together
//   operations = """..."""           the workload itself (harness/workload/operation.h); `workload`
//                                    is then its name
//   application = "sqlite+wal-off"   a real application (harness/workload/application.h) instead of
//                                    a workload; "sqlite+*" gives a cell for each setting, and a
//                                    list of names gives a cell for each name; an application that
//                                    is expected to lose data under its setting is a control that
//                                    must lose
//
// Workloads that several cells share have a table:
//
//   [workloads]
//   eight-files = """..."""

//
// Known failures of stacks are set apart. A trial that must keep everything counts as a known
// failure if entries of this table explain all of its failures; any other failure counts as usual:
//
//   [[known]]
//   finding = "md-ppl-flush"         folder in results/reference/findings
//   filesystems = ["ext4:md-raid5-ppl"]
//   kernels = ["6.12", "7.3"]        default: all kernels
//   rule = "flushed-on-all"          the cause: the stack breaks this rule in the trial
//   verdicts = ["lost-synced-data"]  failures of states that this cause explains; default: none

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/explorer/guests/record_workload.h"
#include "harness/explorer/guests/stage_machine.h"
#include "harness/workload/application.h"
#include "plugin/base/result.h"
#include "plugin/base/strict_table.h"

namespace headcrash::campaign {

enum class Control : std::uint8_t { lose, damage, keep, keep_after_fsck };
std::string_view name(Control control);

/// A known failure, identified by its cause. See [[known]] above.
struct KnownFailure {
  std::string finding, rule;
  std::vector<std::string> filesystems;  ///< names of adapters, without kernels
  std::vector<std::string> kernels;      ///< empty for all kernels
  std::vector<std::string> verdicts;
};

struct ExploredCell {
  adapters::LinuxAdapter filesystem;
  std::optional<Control> control;
  /// Name of a workload in the catalogue or in the file, or the name for `operations` if they are
  /// set.
  std::string workload = "ace-seq1";
  std::string operations;  ///< operations as text; empty to use a workload of the catalogue
  /// An application that runs instead of operations; `workload` is then its name.
  std::optional<workload::Application> application;
  /// Number of workloads to run; nullopt to run all of them.
  std::optional<std::int64_t> trials = 5;
  std::int64_t rounds = 60;
  std::vector<std::string> strategies;  ///< names of strategies in plugin/states/state_enumerator.h
  std::int64_t budget = 1000;           ///< maximum number of distinct states in each trial
  /// Maximum total number of distinct states in all trials of the cell; each trial gets an equal
  /// share. If unset, `budget` applies.
  std::optional<std::int64_t> states;
  /// Hardware on which the workload runs and the states are recovered.
  explorer::StageMachine machine;
  bool write_through = false;
  /// If true, a single disk is filled before mkfs. The members of an array are always empty.
  bool prefill = true;
  std::vector<KnownFailure> known;  ///< those that apply to the file system and its kernel
  bool own_strategies = false;      ///< `strategies` differ from those of the campaign
};

/// Returns the cell's settings that differ from the adapter's defaults, joined by '+'. If none
/// differs, returns an empty string. Examples of settings are "write-through", "new-disk",
/// "netra-raid5", "dead:hd0.3", "after-cut:dead:hd0.3" and "lose-all".
std::string variant(const ExploredCell& cell);
/// Returns the cell's name, which consists of the adapter's name and the variant, for example
/// "xfs+write-through".
std::string cell_name(const ExploredCell& cell);

struct Exploration {
  std::int64_t reorder_per_cut = 16;
  std::uint64_t atomic_write_bytes = 512;  ///< `torn` does not split aligned pieces of this size
  /// Maximum delay of completions while a workload is recorded.
  std::int64_t answer_delay_us = explorer::DiskOptions().delay_us;
  /// Kind of the writes that take `slow_us` longer while a workload is recorded
  /// (explorer::DiskOptions). Has no effect on arrays.
  std::string slow;
  std::int64_t slow_us = explorer::DiskOptions().slow_us;
  /// Fraction of the states that are checked a second time, wholly in the guest.
  double in_guest_share = 0.05;
  std::int64_t confirm = 20;  ///< maximum number of failures of each kind to confirm
  /// If true, a failure's operations are also minimised. Its lost writes always are.
  bool minimise_operations = true;
  bool keep = false;  ///< also keep the recordings of clean trials
  /// If not 0, each stack whose control must keep everything also gets a control whose disks ignore
  /// flushes, which must lose data in one of this many states. Only under the first kernel.
  std::int64_t lying_flush_states = 0;
  std::vector<ExploredCell> cells;  ///< controls first
};

/// Workloads that the file itself defines. Maps names to operations.
using OwnWorkloads = std::map<std::string, std::string>;
/// Parses the table `workloads` of the file. Fails if the catalogue already has a workload with one
/// of these names, if the operations are invalid, or if they have no persistence point.
Result<OwnWorkloads> read_own_workloads(const base::StrictTable& root);
/// If the cell's workload is defined in the file, sets the cell's operations.
void apply_own_workload(const OwnWorkloads& own, ExploredCell& cell);

/// Defaults for all cells, from the tables of the campaign.
struct ExplorationDefaults {
  ExploredCell cell;                      ///< has neither a file system nor a device
  std::vector<std::string> devices = {};  ///< profiles of arrays; empty for a single disk
  std::uint64_t size_bytes = 0;
  OwnWorkloads workloads = {};
  /// If not empty, each application gets a cell, and the workload of `cell` is not used.
  std::vector<workload::Application> applications = {};
};

/// Parses the tables `explore` and `controls` of the file. `filesystems` are the file systems from
/// which the campaign selects.
Result<Exploration> read_exploration(const base::StrictTable& root,
                                     const ExplorationDefaults& defaults,
                                     const std::vector<adapters::LinuxAdapter>& filesystems);

/// Loads a file system by its adapter's name. `subject` is the name of the key in errors. Fails if
/// the adapter is unknown or if the device is too small for the file system.
Result<adapters::LinuxAdapter> load_filesystem(const base::StrictTable& root,
                                               const std::string& subject, const std::string& name,
                                               std::uint64_t size_bytes);

/// Parses the key `trials`, which is a number or "all".
Result<void> parse_trials(const base::StrictTable& table, std::optional<std::int64_t>& trials);
Result<void> parse_write_cache(const base::StrictTable& table, bool& write_through);
Result<void> parse_prefill(const base::StrictTable& table, bool& prefill);

/// Parses the keys `faults` and `faults-after-cut`.
Result<void> parse_faults(const base::StrictTable& table, explorer::StageMachine& machine);

/// Parses the key `application`, which is a name or a list of names. Returns an empty list if the
/// key is absent.
Result<std::vector<workload::Application>> parse_applications(const base::StrictTable& table);
/// Makes the cell run `application`, whose name replaces the cell's workload.
void set_application(const workload::Application& application, ExploredCell& cell);

/// Fails if the workload is unknown; the hint suggests a similar name. Also fails if the cell has
/// more trials than its workload has numbers.
Result<void> check_workload(const base::StrictTable& table, const std::string& key,
                            const ExploredCell& cell);

/// The workloads of a cell, in trial order. There may be hundreds of thousands of them.
struct CellWorkloads {
  std::uint64_t count = 1;
  bool numbered = false;
  /// Numbers of the workloads, in ascending order; empty for all numbers.
  std::vector<std::uint64_t> sample;
  std::uint64_t number(std::uint64_t turn) const { return sample.empty() ? turn : sample[turn]; }
};
CellWorkloads workloads_of(const ExploredCell& cell, std::uint64_t seed);

}  // namespace headcrash::campaign
