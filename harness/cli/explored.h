#pragma once
// The arguments of `headcrash explore`, and its result as text and as JSON.

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
#include "harness/explorer/guests/stage_machine.h"
#include "harness/workload/application.h"

namespace headcrash::cli {

struct ExploreArguments {
  std::string recording, filesystem, workload, application, size, keep, html, csv;
  std::string from;      ///< of a recording: an event or a mark
  std::string database;  ///< empty to store nothing
  std::vector<std::string> strategies;
  std::uint64_t budget = 1000, seed = 1;
  std::uint32_t rounds = 60;
  std::int64_t trials = 1;  ///< number of workloads; more than one require a database
  std::size_t jobs = 2;
  std::uint64_t limit_s = 0;  ///< of the exploration; 0: none
  bool resume = false, as_json = false, minimise = false, stop_at_first = false;
  std::string prefill = "pattern";
  Verbosity verbosity = Verbosity::normal;
  explorer::DiskOptions disk;
  explorer::StageMachine machine;
  KernelArguments kernel;
  report::CiFiles ci;
  std::string atomic_write = "512";
};

/// Inputs and result of an exploration.
struct Explored {
  adapters::LinuxAdapter filesystem;
  explorer::StageMachine machine;
  std::vector<workload::Operation> operations;       ///< of --workload
  std::optional<workload::Application> application;  ///< of --application
  std::unique_ptr<explorer::GuestPool> pool;
  explorer::RecordedWorkload workload;
  explorer::ExplorationResult result;
  std::map<std::string, std::uint64_t> verdicts;
  std::vector<explorer::JudgedState> states;
  double cpu_s = 0;
  bool virtual_time = false;  ///< guests run user-mode Linux
  bool interrupted = false;
  bool failed_at_crash = false;  ///< failed at a crash inside the list; the rest was not explored
  /// Folder of kept recordings; if empty, they are removed with the command.
  std::filesystem::path kept;
};

/// Returns the recording's path after the command has ended; empty if it is removed.
std::string kept_recording(const Explored& explored, const std::filesystem::path& recording);

/// Returns the result in one sentence.
std::string headline(const Explored& explored);
nlohmann::json describe(const Explored& explored);
/// Prints the headline, coverage, one failure of each kind, and the times of steps.
void print_text(const Explored& explored);

/// Records what `arguments` name, unless they give a recording, and checks its crash states. With
/// --record, `explored.kept` is set.
Result<void> run_exploration(const ExploreArguments& arguments, Explored& explored);

/// Returns how the disk behaves while a workload is recorded.
explorer::DiskOptions disk_options(const ExploreArguments& arguments);

/// Returns the command that shows a state again, without its --state.
std::string replay_command(const Explored& explored);

/// Writes the page of a failure: `state` of its recording.
Result<void> write_page(const Explored& explored, const explorer::ConfirmedFailure& failure,
                        const std::string& state, const std::filesystem::path& path);

/// Runs the exploration as a run of a database, for `report`, `replay` and `runs`
/// (explore_stored.cc).
int explore_into_database(const ExploreArguments& arguments);
/// Returns the given size, or the smallest sufficient one. Fails if the size is invalid.
Result<std::uint64_t> size_of_new_disk(const ExploreArguments& arguments,
                                       const adapters::LinuxAdapter& filesystem);
/// Returns the given strategies, or the defaults for the machine.
std::vector<std::string> strategies_of(const ExploreArguments& arguments,
                                       const explorer::StageMachine& machine);

}  // namespace headcrash::cli
