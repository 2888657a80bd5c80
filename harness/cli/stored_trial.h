#pragma once
// The subject of `replay` and `extract`: a trial of the database or a recording, and one of its
// crash states.
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
  explorer::StageMachine machine;  ///< of a recording
};

/// Adds TRIAL and --db. Each command adds its own --state and --fs.
void add_trial_options(CLI::App& command, TrialArguments& arguments);

/// The stored outcome of a state, or of a trial with one cut.
struct StoredOutcome {
  std::string verdict, summary;
  std::vector<oracle::Finding> findings;
  std::string account;  ///< of a failure; may be empty
};

struct StoredTrial {
  std::int64_t id = 0;  ///< 0 for a recording outside of any database
  std::string key, campaign, configuration, database;
  adapters::LinuxAdapter filesystem;
  explorer::StageMachine machine;             ///< machine of the explored states
  bool explored = false;                      ///< has many states instead of one cut
  bool virtual_time = false;                  ///< in guests of user-mode Linux
  std::filesystem::path recording;            ///< empty if not kept
  std::string state;                          ///< the selected state; empty for the trial's own cut
  std::optional<StoredOutcome> outcome;       ///< of that state or cut; nullopt if not checked
  std::vector<explorer::JudgedState> states;  ///< all checked states
};

/// Fails if the trial, state, database or recording does not exist; the error lists existing ones.
Result<StoredTrial> find_trial(const TrialArguments& arguments);

/// The opened recording and state. For a state of a recovery ("w12-/w3") it is the recording of the
/// recovery. "cut", or an empty state, is the physical state at the power cut.
struct OpenedState {
  std::filesystem::path recording;
  std::shared_ptr<const states::RunHistory> run;
  states::CrashState state;
  std::string recovery_of;  ///< the state whose recovery was recorded
};
Result<OpenedState> open_state(const StoredTrial& trial);

/// Builds a finding from the names in harness/oracle/verdict.h.
oracle::Finding finding_of(const std::string& kind, const std::string& tier, std::string path,
                           std::string expected, std::string found);

}  // namespace headcrash::cli
