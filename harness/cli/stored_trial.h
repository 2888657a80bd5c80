#pragma once
// Finds the trial or recording that `replay` and `extract` use, and one of its crash states.
//
//   17, ext4/hp-c2447/small-files/3   a trial, by id or key (the newest with that key)
//   here/workload.hcrec               a recording of `headcrash explore --record`, with --fs

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/cli/command.h"
#include "harness/explorer/explain/crash_timeline.h"
#include "harness/explorer/guests/stage_machine.h"
#include "harness/oracle/verdict.h"
#include "plugin/base/result.h"
#include "plugin/states/run_history.h"

namespace headcrash::cli {

struct TrialArguments {
  std::string trial, database = kDefaultDatabase, state, filesystem;
  explorer::StageMachine machine;  ///< used only for a recording
};

/// Adds TRIAL and --db. Each command itself adds --state and --fs.
void add_trial_options(CLI::App& command, TrialArguments& arguments);

/// The stored outcome of a state, or of a trial with a single power cut.
struct StoredOutcome {
  std::string verdict, summary;
  std::vector<oracle::Finding> findings;
  std::string account;  ///< account of a failure; may be empty
};

struct StoredTrial {
  std::int64_t id = 0;  ///< 0 for a recording that is not in any database
  std::string key, campaign, configuration, database;
  adapters::LinuxAdapter filesystem;
  explorer::StageMachine machine;   ///< the explored states' machine
  bool explored = false;            ///< explored many states, instead of a single cut
  bool virtual_time = false;        ///< used user-mode Linux guests
  std::filesystem::path recording;  ///< empty if it was not kept
  std::string state;                ///< the selected state; empty for the trial's own cut
  /// outcome of that state or cut; nullopt if not checked
  std::optional<StoredOutcome> outcome;
  std::vector<explorer::JudgedState> states;  ///< all checked states
};

/// Finds a trial. Fails if the trial, state, database or recording does not exist; the error lists
/// the existing ones.
Result<StoredTrial> find_trial(const TrialArguments& arguments);

/// An opened recording and a state in it. For a state during a recovery ("w12-/w3"), the recording
/// is that of the recovery. "cut", or an empty name, is the physical state at the power cut.
struct OpenedState {
  std::filesystem::path recording;
  std::shared_ptr<const states::RunHistory> run;
  states::CrashState state;
  std::string recovery_of;  ///< the state whose recovery was recorded; empty otherwise
};
Result<OpenedState> open_state(const StoredTrial& trial);

/// Creates a finding from the names that harness/oracle/verdict.h defines.
oracle::Finding finding_of(const std::string& kind, const std::string& tier, std::string path,
                           std::string expected, std::string found);

}  // namespace headcrash::cli
