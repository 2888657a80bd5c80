#pragma once
// What `replay` and `extract` are about: a trial of the database, or a recording, and one crash
// state of it.
//
//   17, ext4/hp-c2447/small-files/3   a trial, by id or by key (its newest one)
//   here/workload.hcrec               a recording of `headcrash explore --record`; --fs says of what

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

/// TRIAL and --db; what --state and --fs stand for is each command's own.
void add_trial_options(CLI::App& command, TrialArguments& arguments);

/// What the database says about one state, or about a trial of one cut.
struct StoredOutcome {
  std::string verdict, summary;
  std::vector<oracle::Finding> findings;
  std::string account;  ///< of a failure; may be empty
};

struct StoredTrial {
  std::int64_t id = 0;  ///< 0: a recording, not in any database
  std::string key, campaign, configuration, database;
  adapters::LinuxAdapter filesystem;
  explorer::StageMachine machine;             ///< that explored states are put under
  bool explored = false;                      ///< many states, not one cut
  bool virtual_time = false;                  ///< in guests of user-mode Linux
  std::filesystem::path recording;            ///< empty: none was kept
  std::string state;                          ///< the one that is meant; empty: the trial's own cut
  std::optional<StoredOutcome> outcome;       ///< of that state or cut; none: it was never checked
  std::vector<explorer::JudgedState> states;  ///< all that were checked
};

/// Errors: no such trial, state, database or recording; each says what there is.
Result<StoredTrial> find_trial(const TrialArguments& arguments);

/// The recording and the state, opened: of a state of a recovery ("w12-/w3") that of the recovery.
/// "cut", or no state: the physical one at the power cut.
struct OpenedState {
  std::filesystem::path recording;
  std::shared_ptr<const states::RunHistory> run;
  states::CrashState state;
  std::string recovery_of;  ///< the state whose recovery it is
};
Result<OpenedState> open_state(const StoredTrial& trial);

/// By the names of harness/oracle/verdict.h.
oracle::Finding finding_of(const std::string& kind, const std::string& tier, std::string path,
                           std::string expected, std::string found);

}  // namespace headcrash::cli
