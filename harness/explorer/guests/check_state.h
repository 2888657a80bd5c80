#pragma once
// One crash state through recovery, mount, dump, oracle, unmount and a second recovery.
//
//   load -> replay -> read-only check (repair if it found something) -> mount -> dump -> unmount
//        -> oracle, on the host -> second recovery must change nothing
//
// Replay and check run on the host where that can be (host_check.h: unprivileged, limited, on a
// private copy of the state), else in the guest; mounts are always in the guest. `wholly_in_guest`
// does all of it there: a sample of all states and every failure are done that way again.
//
//            replay               check         judged: tree of     second recovery
//   on host  on a copy; by mount  on the copy   the mount of the    mount, dump, unmount
//            as well (1)                        state as cut
//   command  in the guest; by     in the guest  the same, of the    the same (2)
//            mount as well (1)                  state loaded again
//   by mount mount, dump,         of the stage  a second mount      that mount (2)
//            unmount
//
// (1) A file system without a journal has nothing that the mount would replay: there the guest
// mounts what the command has made of the host's copy, which is put onto the stage (stage_copy.h).
// (2) `wholly_in_guest` replays and checks once more.
//
// Kernel and e2fsck recover the same state independently and must both be content. The second
// recovery is the kernel's own on the host's path: another mount must replay nothing, say nothing
// and show the same tree. A state that the kernel refuses as cut is replayed by the command first,
// as Debian does at boot, and mounted again; its verdict says so
// (oracle::Recovery::refused_as_cut).

#include <array>

#include "harness/explorer/guests/record_workload.h"
#include "harness/oracle/oracle.h"
#include "harness/run/recovery.h"
#include "plugin/states/state_enumerator.h"

namespace headcrash::explorer {

using run::kStepKinds;
using run::name;
using run::StepKind;

struct CheckOptions {
  bool wholly_in_guest = false;
  bool fresh_guest = false;
};

struct StateOutcome {
  std::string state;  ///< its name, in `recording`
  std::string
      recovery_of;  ///< `recording` is of the recovery of this state; empty: of the workload itself
  std::filesystem::path recording;
  states::Strategy strategy = states::Strategy::prefix;  ///< which found it; the caller's business
  std::uint64_t digest = 0;
  std::optional<std::size_t> persisted_operation;  ///< last mark "persisted N" before the cut
  std::vector<std::string> persisted_texts;  ///< what an application's marks before the cut say
  oracle::Recovery recovery;
  oracle::Judgement judgement;
  std::vector<oracle::Finding> findings;
  std::string permitted;  ///< what is missing and the application's documents do not promise
  std::array<double, kStepKinds> step_ms = {};
  double wall_ms = 0;
  std::string log;  ///< commands, their output, the kernel's words
  bool in_guest_only = false;

  /// "w1234-", or "w1234-/w12" for a state of the recovery of w1234-.
  std::string full_name() const { return recovery_of.empty() ? state : recovery_of + "/" + state; }
};

/// Of the last mark "persisted N" before an event.
std::optional<std::size_t> persisted_before(const states::RunHistory& run, std::uint64_t event);

/// The texts of all marks "persisted TEXT" before it.
std::vector<std::string> persisted_texts_before(const states::RunHistory& run, std::uint64_t event);

/// Something to confirm and to report: neither clean nor replayed.
bool is_failure(const StateOutcome& outcome);

class StateChecker {
 public:
  /// `filesystem` must outlive it. An application judges its own content. A workload with neither
  /// application nor operations has no oracle: recovery, mount and second recovery are checked,
  /// content is not. Errors: operations that the oracle cannot follow.
  static Result<StateChecker> create(const adapters::LinuxAdapter& filesystem,
                                     const RecordedWorkload& workload,
                                     std::shared_ptr<const states::RunHistory> run);

  /// The same oracle for states of a recording of a recovery: what must be there is what had been
  /// persistent before it.
  StateChecker for_recovery(const StateOutcome& of,
                            std::shared_ptr<const states::RunHistory> recovery) const;

  /// Never fails: what goes wrong is a verdict.
  StateOutcome check(StageGuest& guest, const states::CrashState& state,
                     const CheckOptions& options) const;

  bool judges_content() const { return oracle_ != nullptr || application_ != nullptr; }

 private:
  friend class StateCheck;
  StateChecker() = default;

  const adapters::LinuxAdapter* filesystem_ = nullptr;
  std::shared_ptr<const oracle::Oracle> oracle_;
  std::shared_ptr<const workload::Application> application_;
  std::shared_ptr<const states::RunHistory> run_;
  std::string recovery_of_;
  std::optional<std::size_t> persisted_at_start_;  // of a recovery, which marks nothing
  std::vector<std::string> texts_at_start_;        // the same for an application
  bool on_host_ = false;
};

}  // namespace headcrash::explorer
