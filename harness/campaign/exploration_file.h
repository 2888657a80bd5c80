#pragma once
// Campaigns that explore: `[explore]` and `[[controls]]` of a campaign file.
//
// A trial is then a workload that is recorded on a stage, and every crash state that the strategies
// find in its recording. What stands in one row of the report is a cell: a file system, how it is
// run, and its workloads. Controls are cells of which it is known how they must come out; their
// keys stand in the place of the campaign's own:
//
//   [[controls]]
//   filesystem = "xfs"
//   must = "lose"                    lose data in some state, show `damage` to the check, `keep` everything,
//                                    `keep-after-fsck` (a repair is not a fault), `any` (nothing is
//                                    known, it is no
//                                    control: what it loses is told); left out: as the adapter
//                                    expects
//   kernels = ["6.12"]               under each of these, in place of the campaign's
//   write-cache = "write through"    the guest sees a write-through disk and sends no flushes
//   prefill = "none"                 the disk is new, and not full of foreign bytes before mkfs
//   device = "netra-raid5"           an array in place of one disk; left out: the campaign's only one, with
//                                    its faults
//   faults = ["dead:hd0.3"]          of the array, from the workload on
//   faults-after-cut = [...]         of the array, when the power returns
//   strategies = ["lose-all"]
//   workload = "ace-seq1"            of the catalogue, or of the file's own
//   trials = 10
//   budget = 50                      states of each workload; or `states`, of all of them together
//   operations = """..."""           the workload itself (harness/workload/operation.h); `workload` is then
//                                    its name
//   application = "sqlite+wal-off"   a real application (harness/workload/application.h) in place of a
//                                    workload; "sqlite+*" is a cell for each of its settings, and a
//                                    list of names is one for each. What is expected to lose under
//                                    its setting is a control that must
//
// Workloads of the file's own, which several cells share, have a table:
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
  std::string workload =
      "ace-seq1";          ///< of the catalogue or the file, or what `operations` are called
  std::string operations;  ///< in text form; empty: the catalogue's
  std::optional<workload::Application>
      application;                         ///< in place of both; `workload` is its name then
  std::optional<std::int64_t> trials = 5;  ///< workloads; nothing: all that have a number
  std::int64_t rounds = 60;
  std::vector<std::string> strategies;  ///< plugin/states/state_enumerator.h
  std::int64_t budget = 1000;           ///< distinct states of one trial
  std::optional<std::int64_t>
      states;  ///< of all trials together, which have equal shares as their budgets
  explorer::StageMachine machine;  ///< that the workload runs and recovers on
  bool write_through = false;
  bool prefill = true;          ///< of one disk; an array is made of empty members
  bool own_strategies = false;  ///< other ones than the campaign's
};

/// How the cell differs from its adapter: "write-through", "new-disk", "netra-raid5", "dead:hd0.3",
/// "after-cut:dead:hd0.3", "lose-all"; joined by '+', empty for nothing.
std::string variant(const ExploredCell& cell);
/// Its adapter and variant: "xfs+write-through".
std::string cell_name(const ExploredCell& cell);

struct Exploration {
  std::int64_t reorder_per_cut = 16;
  std::uint64_t atomic_write_bytes = 512;  ///< `torn` leaves an aligned piece of this size whole
  std::int64_t answer_delay_us =
      explorer::DiskOptions().delay_us;  ///< while a workload is recorded
  std::string
      slow;  ///< writes of this kind take longer meanwhile (explorer::DiskOptions); not on arrays
  std::int64_t slow_us = explorer::DiskOptions().slow_us;
  double in_guest_share = 0.05;     ///< of the states, checked wholly in the guest as well
  std::int64_t confirm = 20;        ///< failures of one kind that are looked at again
  bool minimise_operations = true;  ///< of a failure; its lost writes are made few anyway
  bool keep = false;                ///< the recordings of clean trials, too
  std::vector<ExploredCell> cells;  ///< controls first
};

/// The file's own workloads: names and operations.
using OwnWorkloads = std::map<std::string, std::string>;
/// Root's `workloads`. Errors: a name of the catalogue, operations that are none or persist
/// nothing.
Result<OwnWorkloads> read_own_workloads(const base::StrictTable& root);
/// A cell whose workload is one of them gets its operations.
void take_own_workload(const OwnWorkloads& own, ExploredCell& cell);

/// What a campaign's own tables say about all cells.
struct ExplorationDefaults {
  ExploredCell cell;                      ///< without a file system and a device
  std::vector<std::string> devices = {};  ///< arrays by profile; empty: a disk
  std::uint64_t size_bytes = 0;
  OwnWorkloads workloads = {};
  std::vector<workload::Application> applications =
      {};  ///< a cell for each; empty: the cell's workload
};

/// `filesystems`: the candidates. Reads root's `explore` and `controls`.
Result<Exploration> read_exploration(const base::StrictTable& root,
                                     const ExplorationDefaults& defaults,
                                     const std::vector<adapters::LinuxAdapter>& filesystems);

/// `subject` names the key. Errors: an unknown one, one that the device is too small for.
Result<adapters::LinuxAdapter> load_filesystem(const base::StrictTable& root,
                                               const std::string& subject, const std::string& name,
                                               std::uint64_t size_bytes);

/// `trials`: a number, or "all".
Result<void> take_trials(const base::StrictTable& table, std::optional<std::int64_t>& trials);
/// `write-cache` and `prefill`.
Result<void> take_write_cache(const base::StrictTable& table, bool& write_through);
Result<void> take_prefill(const base::StrictTable& table, bool& prefill);

/// `faults` and `faults-after-cut`.
Result<void> take_faults(const base::StrictTable& table, explorer::StageMachine& machine);

/// `application`, a name or a list of names; empty if the table has none.
Result<std::vector<workload::Application>> take_applications(const base::StrictTable& table);
/// In place of the cell's workload.
void set_application(const workload::Application& application, ExploredCell& cell);

/// Errors: an unknown one (with a suggestion), one that cannot be sought for as often as the cell
/// says.
Result<void> check_workload(const base::StrictTable& table, const std::string& key,
                            const ExploredCell& cell);

/// The workloads of a cell, which may be hundreds of thousands: known by their turn, from 0.
struct CellWorkloads {
  std::uint64_t count = 1;
  bool numbered = false;
  std::vector<std::uint64_t> sample;  ///< of the numbers, rising; empty: all of them
  std::uint64_t number(std::uint64_t turn) const { return sample.empty() ? turn : sample[turn]; }
};
CellWorkloads workloads_of(const ExploredCell& cell, std::uint64_t seed);

}  // namespace headcrash::campaign
