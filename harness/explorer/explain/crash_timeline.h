#pragma once
// Converts a recording and one of its crash states to the timeline on a page
// (results/report/crash/crash_page.h).

#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/explain/recorded_series.h"
#include "harness/explorer/guests/check_state.h"
#include "results/report/crash/crash_page.h"

namespace headcrash::explorer {

/// Another crash state of the same recording, and its verdict.
struct JudgedState {
  std::string name;      ///< in the format of plugin/states/crash_state.h
  std::string strategy;  ///< the strategy that found the state; may be empty
  /// Name of a verdict in harness/oracle/verdict.h; empty if the state was not checked.
  std::string verdict;
  std::string summary;
};

struct TimelineOptions {
  /// File system type as in mount(2), needed to identify blocks; empty to detect the type.
  std::string type;
  std::optional<states::CrashState> state;  ///< nullopt to explain the whole recording
  std::string state_name;                   ///< displayed name; empty to use the state's own name
  std::vector<JudgedState> states;          ///< may include the state to explain
  std::vector<oracle::Finding> findings;    ///< findings for `state`
  std::vector<workload::Operation> operations;
  /// The workload ran between these events. If `to_event` is 0, the range ends with the recording.
  std::uint64_t from_event = 0, to_event = 0;
  /// Maximum number of requests on the page. Further requests are omitted, and the page says so.
  std::size_t requests_most = 20'000;
  /// If set, the page also shows head positions, cache contents and other series over time.
  FindGeometry hardware;
  /// Maximum number of states on the page; failures and the explained state come first.
  std::size_t states_most = 2000;
};

/// Returns all parts of the page except title, facts, summary, log and commands. The name of an
/// array's state does not list the missing writes. For such a state, the page shows when each
/// member stopped. Fails if the recording cannot be read or does not contain the state.
Result<report::CrashPage> crash_timeline(const states::RunHistory& run,
                                         const TimelineOptions& options);

}  // namespace headcrash::explorer
