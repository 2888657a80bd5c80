#pragma once
// Campaigns that explore: `[explore]` and `[[controls]]` of a campaign file.
//
// A trial of such a campaign records a workload on a stage and checks every crash state that the
// strategies find in the recording. A cell is one row of the report: a file system, its mode, and
// its workloads. Controls are cells with a required outcome; their keys override the campaign's:
//
//   [[controls]]
//   filesystem = "xfs"
//   must = "lose"                    data is lost in some state; `damage`: the check finds damage;
//                                    `keep`: everything is kept; `keep-after-fsck`: the same, but
//                                    repairs are permitted; `any`: no requirement, so no control,
//                                    but losses are reported; default: the adapter's expectation
//   kernels = ["6.12"]               use each of these in place of the campaign's
//   write-cache = "write through"    the guest sees a write-through disk and sends no flushes
//   prefill = "none"                 a new disk, not filled with foreign bytes before mkfs
//   device = "netra-raid5"           an array in place of one disk; default: the campaign's only
//                                    one, with its faults
//   faults = ["dead:hd0.3"]          of the array, from the workload on
//   faults-after-cut = [...]         of the array, when the power returns
//   strategies = ["lose-all"]
//   workload = "ace-seq1"            of the catalogue, or of the file's [workloads]
//   trials = 10
//   budget = 50                      states per workload; or `states`, for all of them together
//   operations = """..."""           the workload itself (harness/workload/operation.h); `workload`
//                                    is then its name
//   application = "sqlite+wal-off"   a real application (harness/workload/application.h) in place
//                                    of a workload; "sqlite+*" gives a cell for each setting, and a
//                                    list of names a cell for each name. One that is expected to
//                                    lose under its setting is a control that must lose
//
// Workloads shared by several cells have a table:
//
//   [workloads]
//   eight-files = """..."""

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

struct ExploredCell {
  adapters::LinuxAdapter filesystem;
  std::optional<Control> control;
  /// a workload in the catalogue or the file; or the name of `operations`
  std::string workload = "ace-seq1";
  std::string operations;  ///< in text form; empty for a workload in the catalogue
  std::optional<workload::Application> application;  ///< replaces both; `workload` is then its name
  std::optional<std::int64_t> trials = 5;  ///< number of workloads; nullopt for all numbered ones
  std::int64_t rounds = 60;
  std::vector<std::string> strategies;  ///< names of plugin/states/state_enumerator.h
  std::int64_t budget = 1000;           ///< number of distinct states per trial
  /// Number of distinct states for all trials together; each trial's budget is an equal part of it.
  std::optional<std::int64_t> states;
  explorer::StageMachine machine;  ///< runs the workload and recovers
  bool write_through = false;
  bool prefill = true;          ///< fills a single disk before mkfs; an array has empty members
  bool own_strategies = false;  ///< true if `strategies` differ from the campaign's
};

/// Returns how the cell differs from its adapter: "write-through", "new-disk", "netra-raid5",
/// "dead:hd0.3", "after-cut:dead:hd0.3", "lose-all"; joined by '+', empty if it does not differ.
std::string variant(const ExploredCell& cell);
/// Returns the adapter and the variant: "xfs+write-through".
std::string cell_name(const ExploredCell& cell);

struct Exploration {
  std::int64_t reorder_per_cut = 16;
  std::uint64_t atomic_write_bytes = 512;  ///< `torn` keeps aligned pieces of this size whole
  std::int64_t answer_delay_us = explorer::DiskOptions().delay_us;  ///< while recording a workload
  /// Writes of this kind take longer during recording (explorer::DiskOptions); not on arrays.
  std::string slow;
  std::int64_t slow_us = explorer::DiskOptions().slow_us;
  /// fraction of states that are also checked wholly in the guest
  double in_guest_share = 0.05;
  std::int64_t confirm = 20;  ///< number of failures of one kind to confirm
  /// minimises the operations of failures; lost writes are always minimised
  bool minimise_operations = true;
  bool keep = false;                ///< keeps the recordings of clean trials as well
  std::vector<ExploredCell> cells;  ///< controls first
};

/// The file's own workloads: names and operations.
using OwnWorkloads = std::map<std::string, std::string>;
/// Parses root's `workloads`. Fails if the catalogue already has a workload with the same name, or
/// if the operations are invalid or have no persistence point.
Result<OwnWorkloads> read_own_workloads(const base::StrictTable& root);
/// Sets the operations of a cell whose workload is one of the file's own.
void apply_own_workload(const OwnWorkloads& own, ExploredCell& cell);

/// The defaults for all cells, from a campaign's tables.
struct ExplorationDefaults {
  ExploredCell cell;                      ///< without a file system and a device
  std::vector<std::string> devices = {};  ///< arrays, by profile; empty for a disk
  std::uint64_t size_bytes = 0;
  OwnWorkloads workloads = {};
  /// One cell for each application; empty to use the cell's workload.
  std::vector<workload::Application> applications = {};
};

/// Parses root's `explore` and `controls`. `filesystems` are the candidates.
Result<Exploration> read_exploration(const base::StrictTable& root,
                                     const ExplorationDefaults& defaults,
                                     const std::vector<adapters::LinuxAdapter>& filesystems);

/// Loads a file system. `subject` names the key in errors. Fails if it is unknown, or if the device
/// is too small for it.
Result<adapters::LinuxAdapter> load_filesystem(const base::StrictTable& root,
                                               const std::string& subject, const std::string& name,
                                               std::uint64_t size_bytes);

/// Parses `trials`: a number, or "all".
Result<void> parse_trials(const base::StrictTable& table, std::optional<std::int64_t>& trials);
/// These parse `write-cache` and `prefill`.
Result<void> parse_write_cache(const base::StrictTable& table, bool& write_through);
Result<void> parse_prefill(const base::StrictTable& table, bool& prefill);

/// Parses `faults` and `faults-after-cut`.
Result<void> parse_faults(const base::StrictTable& table, explorer::StageMachine& machine);

/// Parses `application`, a name or a list of names; returns an empty list if the key is absent.
Result<std::vector<workload::Application>> parse_applications(const base::StrictTable& table);
/// Replaces the cell's workload by an application.
void set_application(const workload::Application& application, ExploredCell& cell);

/// Fails for an unknown workload (with a suggestion), and for one that has fewer numbers than the
/// cell has trials.
Result<void> check_workload(const base::StrictTable& table, const std::string& key,
                            const ExploredCell& cell);

/// A cell's workloads, in trial order. There may be hundreds of thousands.
struct CellWorkloads {
  std::uint64_t count = 1;
  bool numbered = false;
  std::vector<std::uint64_t> sample;  ///< ascending workload numbers; empty for all
  std::uint64_t number(std::uint64_t turn) const { return sample.empty() ? turn : sample[turn]; }
};
CellWorkloads workloads_of(const ExploredCell& cell, std::uint64_t seed);

}  // namespace headcrash::campaign
