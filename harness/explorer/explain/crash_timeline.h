#pragma once
// A recording and a crash state of it as the timeline of a page
// (results/report/crash/crash_page.h).

#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/explain/recorded_series.h"
#include "harness/explorer/guests/check_state.h"
#include "results/report/crash/crash_page.h"

namespace headcrash::explorer {

/// A state of the same recording, and what was said of it.
struct JudgedState {
  std::string name;      ///< plugin/states/crash_state.h
  std::string strategy;  ///< that found it; may be empty
  std::string verdict;   ///< of harness/oracle/verdict.h; empty: it was not checked
  std::string summary;
};

struct TimelineOptions {
  std::string type;  ///< of mount(2), to name blocks; empty: as the superblock says
  std::optional<states::CrashState> state;  ///< the one in question; none: the whole recording
  std::string state_name;                   ///< as it is shown; empty: its own name
  std::vector<JudgedState> states;          ///< that of the state in question among them, or not
  std::vector<oracle::Finding> findings;    ///< about the state in question
  std::vector<workload::Operation> operations;
  std::uint64_t from_event = 0, to_event = 0;  ///< of the workload; 0: all of the recording
  std::size_t requests_most = 20'000;          ///< more are left out, and the page says so
  /// Set: heads, caches and the like over time, too.
  FindGeometry hardware;
  std::size_t states_most = 2000;  ///< failures and the state in question are kept first
};

/// All but title, facts, summary, log and commands. A state of which the recording has no writes to
/// name (of an array) lists what members stopped at. Errors: a recording that cannot be read; a
/// state that does not fit it.
Result<report::CrashPage> crash_timeline(const states::RunHistory& run,
                                         const TimelineOptions& options);

}  // namespace headcrash::explorer
