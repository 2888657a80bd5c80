#pragma once
// Finds the trial or recording that `replay` and `extract` use, and one of its crash states. The
// user specifies one of:
//
//   17, ext4/hp-c2447/small-files/3   a trial, by id or key (the newest one with this key)
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
  explorer::StageMachine machine;  ///< used only if the trial is a recording
};

/// Adds the argument TRIAL and the option --db. The commands themselves add --state and --fs.
void add_trial_options(CLI::App& command, TrialArguments& arguments);

/// The stored outcome of a crash state, or of a trial with a single power cut.
struct StoredOutcome {
  std::string verdict, summary;
  std::vector<oracle::Finding> findings;
  std::string account;  ///< description of the failure; may be empty
};

struct StoredTrial {
  std::int64_t id = 0;  ///< 0 for a recording that is not in any database
  std::string key, campaign, configuration, database;
  adapters::LinuxAdapter filesystem;
  explorer::StageMachine machine;  ///< machine on which the explored states were recorded
  /// True if the trial explored many states, false if it had a single cut.
  bool explored = false;
  bool virtual_time = false;        ///< the trial used user-mode Linux guests
  std::filesystem::path recording;  ///< empty if it was not kept
  std::string state;                ///< the state to replay; empty for the trial's own cut
  /// Outcome of this state or cut; nullopt if it was not checked.
  std::optional<StoredOutcome> outcome;
  std::vector<explorer::JudgedState> states;  ///< all states that the trial has checked
};

/// Finds a trial. Fails if the trial, the state, the database or the recording does not exist. The
/// error then lists the existing ones.
Result<StoredTrial> find_trial(const TrialArguments& arguments);

/// An open recording and one of its states. For a state during a recovery ("w12-/w3"), `recording`
/// is the recording of the recovery. If the name of the state is empty or "cut", `state` is the
/// physical state at the power cut.
struct OpenedState {
  std::filesystem::path recording;
  std::shared_ptr<const states::RunHistory> run;
  states::CrashState state;
  /// Name of the state that was recovered, if the recording is of a recovery; otherwise empty.
  std::string recovery_of;
};
Result<OpenedState> open_state(const StoredTrial& trial);

/// Creates a finding. `kind` and `tier` are names that harness/oracle/verdict.h defines.
oracle::Finding finding_of(const std::string& kind, const std::string& tier, std::string path,
                           std::string expected, std::string found);

}  // namespace headcrash::cli
