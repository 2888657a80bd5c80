#pragma once
// Converts a recording and one of its crash states to the timeline of a page
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
  std::string name;      ///< name in the format of plugin/states/crash_state.h
  std::string strategy;  ///< strategy that found the state; may be empty
  std::string verdict;   ///< name of a verdict in harness/oracle/verdict.h; empty if not checked
  std::string summary;
};

struct TimelineOptions {
  std::string type;  ///< file system type as for mount(2), to identify blocks; empty to detect it
  std::optional<states::CrashState> state;  ///< nullopt to explain the whole recording
  std::string state_name;                   ///< displayed name; empty to use the state's own name
  std::vector<JudgedState> states;          ///< may include the state to explain
  std::vector<oracle::Finding> findings;    ///< findings of the state to explain
  std::vector<workload::Operation> operations;
  std::uint64_t from_event = 0, to_event = 0;  ///< range of the workload; 0 for the whole recording
  /// maximum number; further requests are omitted, which the page states
  std::size_t requests_most = 20'000;
  /// If set, also shows heads, caches and other series over time.
  FindGeometry hardware;
  std::size_t states_most = 2000;  ///< limit; failures and the explained state take precedence
};

/// Returns all parts of the page except title, facts, summary, log and commands. Writes missing
/// from the state of an array have no names, so for an array the page instead lists the point at
/// which each member stopped. Fails if the recording cannot be read or the state does not match it.
Result<report::CrashPage> crash_timeline(const states::RunHistory& run,
                                         const TimelineOptions& options);

}  // namespace headcrash::explorer
