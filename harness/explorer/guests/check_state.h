#pragma once
// Checks one crash state: recovery, mount, dump, oracle, unmount and a second recovery.
//
//   load -> replay -> read-only check (repair if damaged) -> mount -> dump -> unmount
//        -> oracle, on the host -> second recovery must change nothing
//
// Replay and check run on the host if possible (host_check.h: unprivileged, limited, on a private
// copy of the state), otherwise in the guest. Mounts are always in the guest. `wholly_in_guest`
// does everything there; a sample of all states and every failure are repeated that way.
//
//            replay               check         judged: tree of     second recovery
//   on host  on a copy; by mount  on the copy   the mount of the    mount, dump, unmount
//            as well (1)                        state as cut
//   command  in the guest; by     in the guest  the same, of the    the same (2)
//            mount as well (1)                  state loaded again
//   by mount mount, dump,         of the stage  a second mount      that mount (2)
//            unmount
//
// (1) A file system without a journal has nothing for the mount to replay. The guest then mounts
// the result of the command on the host's copy, which is written to the stage (stage_copy.h). (2)
// `wholly_in_guest` replays and checks once more.
//
// Kernel and e2fsck recover the same state independently, and both must succeed. On the host's path
// the second recovery is the kernel's: another mount must replay nothing, report nothing and show
// the same tree. If the kernel refuses a state as cut, the command replays it first, as Debian does
// at boot, and it is mounted again; the verdict records this (oracle::Recovery::refused_as_cut).

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
  std::string state;  ///< the state's name within `recording`
  /// The name of the state whose recovery was recorded in `recording`. Empty if `recording` is of
  /// the workload.
  std::string recovery_of;
  std::filesystem::path recording;
  states::Strategy strategy = states::Strategy::prefix;  ///< set by the caller
  std::uint64_t digest = 0;
  /// operation in the last mark "persisted N" before the cut
  std::optional<std::size_t> persisted_operation;
  std::vector<std::string> persisted_texts;  ///< texts in the application's marks before the cut
  oracle::Recovery recovery;
  oracle::Judgement judgement;
  std::vector<oracle::Finding> findings;
  std::string permitted;  ///< losses that the application's documentation permits
  std::array<double, kStepKinds> step_ms = {};
  double wall_ms = 0;
  std::string log;  ///< commands, their output, and kernel messages
  bool in_guest_only = false;

  /// Returns the state's name, for example "w1234-". For a state during the recovery of w1234-,
  /// returns "w1234-/w12".
  std::string full_name() const { return recovery_of.empty() ? state : recovery_of + "/" + state; }
};

/// Returns the operation that is named by the last mark "persisted N" before an event.
std::optional<std::size_t> persisted_before(const states::RunHistory& run, std::uint64_t event);

/// Returns the texts of all marks "persisted TEXT" before an event.
std::vector<std::string> persisted_texts_before(const states::RunHistory& run, std::uint64_t event);

/// Returns true if the outcome must be confirmed and reported, that is, if the verdict is neither
/// clean nor replayed.
bool is_failure(const StateOutcome& outcome);

class StateChecker {
 public:
  /// Creates a checker. `filesystem` must outlive it. The contents are judged by the application's
  /// verifier, by the workload's own judge, or by the oracle if there are operations. If there is
  /// none of these, only recovery, mount and second recovery are checked. Fails if the oracle
  /// cannot follow the operations.
  static Result<StateChecker> create(const adapters::LinuxAdapter& filesystem,
                                     const RecordedWorkload& workload,
                                     std::shared_ptr<const states::RunHistory> run);

  /// Returns a checker for the states in a recorded recovery. It uses the same oracle. All data
  /// that was persistent before the recovery must still exist.
  StateChecker for_recovery(const StateOutcome& of,
                            std::shared_ptr<const states::RunHistory> recovery) const;

  /// Checks a state. Never fails: errors become verdicts.
  StateOutcome check(StageGuest& guest, const states::CrashState& state,
                     const CheckOptions& options) const;

  bool judges_content() const { return judge_ || application_ != nullptr; }

 private:
  friend class StateCheck;
  StateChecker() = default;

  const adapters::LinuxAdapter* filesystem_ = nullptr;
  oracle::TreeJudge judge_;  ///< unset if the operations are unknown
  std::shared_ptr<const workload::Application> application_;
  std::shared_ptr<const states::RunHistory> run_;
  std::string recovery_of_;
  // Value used for a recovery, whose recording has no marks.
  std::optional<std::size_t> persisted_at_start_;
  std::vector<std::string> texts_at_start_;  // value used for the recovery of an application
  bool on_host_ = false;
  bool only_content_ = false;  ///< the recovered file system is not used any further
};

}  // namespace headcrash::explorer
