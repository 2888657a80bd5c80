#pragma once
// The arguments and results of `headcrash explore`. Results are printed as text and as JSON.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/cli/command.h"
#include "harness/cli/crash_file.h"
#include "harness/cli/lab_command.h"
#include "harness/explorer/guests/exploration.h"
#include "harness/explorer/guests/guest_pool.h"
#include "harness/explorer/guests/record_workload.h"
#include "harness/explorer/guests/stack_rules.h"
#include "harness/explorer/guests/stage_machine.h"
#include "harness/workload/application.h"

namespace headcrash::cli {

/// File name of the recording of mkfs, which is in the same directory as the workload's recording.
inline constexpr const char* kFormattedName = "formatted.hcrec";
/// Default file name of the workload's recording, which is in the same directory as the recording
/// of mkfs.
inline constexpr const char* kWorkloadName = "workload.hcrec";

struct ExploreArguments {
  std::string recording, filesystem, stack, workload, application, size, keep, html, csv;
  std::string recording_name = kWorkloadName;  ///< file name of a new recording
  /// First event of an existing recording to explore, given as an event number or the text of a
  /// mark.
  std::string from;
  std::string database;  ///< path of the database; empty to store nothing
  std::vector<std::string> strategies;
  std::uint64_t budget = 1000, seed = 1;
  std::uint32_t rounds = 60;
  std::int64_t trials = 1;  ///< number of workloads; more than one is possible only with a database
  std::size_t jobs = 2;
  std::uint64_t limit_s = 0;  ///< time limit of the exploration; 0 for no limit
  bool resume = false, as_json = false, minimise = false, stop_at_first = false;
  std::string prefill = "pattern";
  Verbosity verbosity = Verbosity::normal;
  explorer::DiskOptions disk;
  explorer::StageMachine machine;
  KernelArguments kernel;
  report::CiFiles ci;
  std::string atomic_write = "512";
};

struct Explored {
  adapters::LinuxAdapter filesystem;
  explorer::StageMachine machine;
  std::vector<workload::Operation> operations;       ///< from --workload
  std::optional<workload::Application> application;  ///< from --application
  /// Guests for the recording and the exploration. The caller may set the pool; otherwise,
  /// record_exploration() creates it.
  std::unique_ptr<explorer::GuestPool> pool;
  std::optional<explorer::FormattedDisk> formatted;  ///< like `pool`
  explorer::RecordedWorkload workload;
  explorer::ExplorationResult result;
  std::map<std::string, std::uint64_t> verdicts;
  std::vector<explorer::JudgedState> states;
  /// The rules of the stack that the requests to its disks have broken.
  std::vector<explorer::BrokenRule> broken_rules;
  std::size_t rules_checked_on = 0;  ///< number of recordings that were checked against the rules
  /// A sentence that attributes the failures to the stack or to the file system; may be empty.
  std::string attribution;
  double cpu_s = 0;
  bool virtual_time = false;  ///< the guests run user-mode Linux
  bool interrupted = false;
  /// True if the workload contains a crash, and the state after this crash failed its check. The
  /// operations after the crash were then not explored.
  bool failed_at_crash = false;
  /// Directory in which the recordings are kept. If empty, they are removed when the command ends.
  std::filesystem::path kept;
};

/// Returns the path that the recording will have after the command has ended. Returns an empty
/// string if the recording will be removed.
std::string kept_recording(const Explored& explored, const std::filesystem::path& recording);

/// Returns a text such as "known for 9 of 10 writes and flushes (90.0 %)".
std::string share_text(const explorer::IssuerShare& issuers);

std::string headline(const Explored& explored);
nlohmann::json describe(const Explored& explored);
/// Prints the headline, the coverage, one failure of each kind, and the duration of each step.
void print_text(const Explored& explored);

/// Records the workload that `arguments` selects. Does nothing if `arguments` selects an existing
/// recording. With --record, sets `explored.kept`.
Result<void> record_exploration(const ExploreArguments& arguments, Explored& explored);
/// Checks the crash states of `explored.workload`.
Result<void> explore_recorded(const ExploreArguments& arguments, Explored& explored);
/// Calls both functions.
Result<void> run_exploration(const ExploreArguments& arguments, Explored& explored);

/// If states failed and the file system is on a stack, explores the same workload on the bare disk.
/// Sets `explored.attribution`.
Result<void> attribute_failures(const ExploreArguments& arguments, Explored& explored);

/// Returns the options that control the disk's behaviour while a workload is recorded.
explorer::DiskOptions disk_options(const ExploreArguments& arguments);

/// Returns a command that checks a state again. The caller appends --state NAME.
std::string replay_command(const Explored& explored);

/// Writes the page of a failure. `state` is the name of a state in the failure's recording.
Result<void> write_page(const Explored& explored, const explorer::ConfirmedFailure& failure,
                        const std::string& state, const std::filesystem::path& path);

/// Runs the exploration and stores it in a database, so that `report`, `replay` and `runs` can use
/// it (explore_stored.cc).
int explore_into_database(const ExploreArguments& arguments);
/// Returns the size that the user has specified or, by default, the smallest sufficient size. Fails
/// if the size is invalid.
Result<std::uint64_t> size_of_new_disk(const ExploreArguments& arguments,
                                       const adapters::LinuxAdapter& filesystem);
/// Returns the strategies that the user has specified or, by default, those for the machine.
std::vector<std::string> strategies_of(const ExploreArguments& arguments,
                                       const explorer::StageMachine& machine);

}  // namespace headcrash::cli
