#pragma once
// What `headcrash explore` was asked for, and what came of it in words and as JSON.

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
#include "harness/explorer/guests/lab.h"
#include "harness/explorer/guests/record_workload.h"
#include "harness/explorer/guests/stage_machine.h"
#include "harness/workload/application.h"

namespace headcrash::cli {

struct ExploreArguments {
  std::string recording, filesystem, workload, application, size, keep, html, csv;
  std::string from;      ///< of a recording: an event or a mark
  std::string database;  ///< empty: nothing is stored
  std::vector<std::string> strategies;
  std::uint64_t budget = 1000, seed = 1;
  std::uint32_t rounds = 60;
  std::int64_t trials = 1;  ///< workloads; more than one are for a database
  std::size_t jobs = 2;
  std::uint64_t limit_s = 0;  ///< of the exploration; 0: none
  bool resume = false, as_json = false, minimise = false, stop_at_first = false;
  std::string prefill = "pattern";
  Verbosity verbosity = Verbosity::normal;
  explorer::DiskOptions disk;
  explorer::StageMachine machine;
  KernelArguments kernel;
  std::string atomic_write = "512";
};

/// What an exploration needs and finds.
struct Explored {
  adapters::LinuxAdapter filesystem;
  explorer::StageMachine machine;
  std::vector<workload::Operation> operations;       ///< of --workload
  std::optional<workload::Application> application;  ///< of --application
  std::unique_ptr<explorer::Lab> lab;
  explorer::RecordedWorkload workload;
  explorer::ExplorationResult result;
  std::map<std::string, std::uint64_t> verdicts;
  std::vector<explorer::JudgedState> states;
  double cpu_s = 0;
  bool virtual_time = false;  ///< guests of user-mode Linux
  bool interrupted = false;
  bool failed_at_crash = false;  ///< a crash inside of the list: what follows it was not explored
  /// The folder in which the recordings stay; empty: they go with the command.
  std::filesystem::path kept;
};

/// Where a recording is once the command has ended; empty: nowhere.
std::string kept_recording(const Explored& explored, const std::filesystem::path& recording);

/// The result in one sentence.
std::string headline(const Explored& explored);
nlohmann::json describe(const Explored& explored);
/// The headline first, then coverage, one failure of each kind, and what took the time.
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

/// The same exploration as a run of a database, which `report`, `replay` and `runs` know
/// (explore_stored.cc).
int explore_into_database(const ExploreArguments& arguments);
/// With the size that was given, or the smallest that suffices. Errors: one that does not fit.
Result<std::uint64_t> size_of_new_disk(const ExploreArguments& arguments,
                                       const adapters::LinuxAdapter& filesystem);
/// As given, or those that fit the machine.
std::vector<std::string> strategies_of(const ExploreArguments& arguments,
                                       const explorer::StageMachine& machine);

}  // namespace headcrash::cli
