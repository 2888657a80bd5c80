#pragma once
// Converts a recording and a crash state of it to the timeline of a page
// (results/report/crash/crash_page.h).

#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/explain/recorded_series.h"
#include "harness/explorer/guests/check_state.h"
#include "results/report/crash/crash_page.h"

namespace headcrash::explorer {

/// A state of the same recording, and its verdict.
struct JudgedState {
  std::string name;      ///< plugin/states/crash_state.h
  std::string strategy;  ///< strategy that found it; may be empty
  std::string verdict;   ///< see harness/oracle/verdict.h; empty if not checked
  std::string summary;
};

struct TimelineOptions {
  std::string type;  ///< type of mount(2), to identify blocks; empty to use the superblock
  std::optional<states::CrashState> state;  ///< nullopt to explain the whole recording
  std::string state_name;                   ///< displayed name; empty for the state's own name
  std::vector<JudgedState> states;          ///< may include the state to explain
  std::vector<oracle::Finding> findings;    ///< findings of the state to explain
  std::vector<workload::Operation> operations;
  std::uint64_t from_event = 0, to_event = 0;  ///< range of the workload; 0 for the whole recording
  std::size_t requests_most = 20'000;  ///< further requests are omitted, which the page states
  /// If set, also shows heads, caches and other series over time.
  FindGeometry hardware;
  std::size_t states_most = 2000;  ///< failures and the state to explain take precedence
};

/// Returns all parts of the page except title, facts, summary, log and commands. For a state of an
/// array, whose missing writes have no names, it lists where members stopped. Fails if the
/// recording cannot be read or the state does not match it.
Result<report::CrashPage> crash_timeline(const states::RunHistory& run,
                                         const TimelineOptions& options);

}  // namespace headcrash::explorer
