#pragma once
// One crash state through recovery, mount, dump, oracle, unmount and a second recovery.
//
//   load -> replay -> read-only check (repair if it found something) -> mount -> dump -> unmount
//        -> oracle, on the host -> second recovery must change nothing
//
// Replay and check run on the host where the adapter has a host checker (host_check.h: unprivileged, limited,
// on a private copy of the state), else in the guest; mounts are always in the guest. `wholly_in_guest` does
// all of it there: a sample of all states and every failure are done that way again.

#include <array>

#include "harness/crash/oracle.h"
#include "harness/lab/record_workload.h"
#include "plugin/states/explorer.h"

namespace headcrash::lab {

enum class StepKind : std::uint8_t {
  load,
  replay,
  check,
  repair,
  mount,
  dump,
  judge,
  unmount,
  second_recovery
};
inline constexpr std::size_t kStepKinds = 9;
std::string_view name(StepKind step);

struct CheckOptions {
  bool wholly_in_guest = false;
  bool fresh_guest = false;
  bool second_recovery = true;
};

struct StateOutcome {
  std::string state;
  std::uint64_t digest = 0;
  std::optional<std::size_t> persisted_operation;  ///< last mark "persisted N" before the cut
  crash::Recovery recovery;
  crash::Judgement judgement;
  std::vector<crash::Finding> findings;
  std::array<double, kStepKinds> step_ms = {};
  std::string log;  ///< commands, their output, the kernel's words
  bool in_guest_only = false;
};

class StateChecker {
 public:
  /// All must outlive it. Errors: operations that the oracle cannot follow.
  static Result<StateChecker> create(const adapters::LinuxAdapter& filesystem,
                                     const RecordedWorkload& workload,
                                     std::shared_ptr<const states::RunHistory> run);
  /// Never fails: what goes wrong is a verdict.
  StateOutcome check(StageGuest& guest, const states::CrashState& state, const CheckOptions& options) const;
  /* ... */
};

}  // namespace headcrash::lab
