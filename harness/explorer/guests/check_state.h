#pragma once
// Checks one crash state: recovery, mount, dump, oracle, unmount and a second recovery.
//
//   load -> replay -> read-only check (repair if damaged) -> mount -> dump -> unmount
//        -> oracle, on the host -> second recovery must change nothing
//
// Replay and check run on the host if possible, as an unprivileged process with limits and on a
// private copy of the state (host_check.h); otherwise, they run in the guest. Mounts are always in
// the guest. With `wholly_in_guest`, everything is done in the guest. All failures and a sample of
// all states are checked a second time in this way.
//
// There are three methods of recovery. "As cut" is the state that the power cut left.
//
//            replay               check         judged tree          second recovery
//   on host  on a copy; also by   on the copy   that of the mount    mount, dump, unmount
//            mount (1)                          of the state as cut
//   command  in the guest; also   in the guest  the same, with the   the same (2)
//            by mount (1)                       state loaded again
//   mount    mount, dump,         of the stage  that of a second     the second mount (2)
//            unmount                            mount
//
// (1) A file system without a journal has nothing for the mount to replay. The host's copy, after
// the command, is then written to the stage (stage_copy.h), and the guest mounts it. (2)
// `wholly_in_guest` also replays and checks once more.
//
// The kernel and e2fsck recover the same state independently, and both must succeed. If the command
// ran on the host, the second recovery is done by the kernel: another mount must replay nothing,
// report nothing and show the same tree. If the kernel refuses to mount the state as cut, the
// command replays it first, as Debian does at boot, and the state is mounted again. The verdict
// records this (oracle::Recovery::refused_as_cut).

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
  std::string state;  ///< name of the state in `recording`
  /// If `recording` is that of a recovery, the name of the state that was recovered. Empty if
  /// `recording` is that of the workload.
  std::string recovery_of;
  std::filesystem::path recording;
  states::Strategy strategy = states::Strategy::prefix;  ///< set by the caller
  std::uint64_t digest = 0;
  /// Operation number in the last mark "persisted N" before the cut.
  std::optional<std::size_t> persisted_operation;
  std::vector<std::string> persisted_texts;  ///< texts of the application's marks before the cut
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

/// Returns the operation number in the last mark "persisted N" before an event.
std::optional<std::size_t> persisted_before(const states::RunHistory& run, std::uint64_t event);

/// Returns the texts of all marks "persisted TEXT" before an event.
std::vector<std::string> persisted_texts_before(const states::RunHistory& run, std::uint64_t event);

/// Returns true if the outcome must be confirmed and reported, that is, if the verdict is neither
/// clean nor replayed.
bool is_failure(const StateOutcome& outcome);

class StateChecker {
 public:
  /// Creates a checker. `filesystem` must outlive the checker. Tree contents are judged by the
  /// application's verifier, by the workload's own judge or, if the operations are known, by the
  /// oracle. If none of these exists, the checker tests only the recovery, the mount and the second
  /// recovery. Fails if the oracle cannot follow the operations.
  static Result<StateChecker> create(const adapters::LinuxAdapter& filesystem,
                                     const RecordedWorkload& workload,
                                     std::shared_ptr<const states::RunHistory> run);

  /// Returns a checker for the states of a recorded recovery. The new checker uses the same oracle
  /// as this one: data that was persistent before the recovery must also survive a cut during the
  /// recovery.
  StateChecker for_recovery(const StateOutcome& of,
                            std::shared_ptr<const states::RunHistory> recovery) const;

  /// Checks a state. Never fails, because errors become verdicts.
  StateOutcome check(StageGuest& guest, const states::CrashState& state,
                     const CheckOptions& options) const;

  bool judges_content() const { return judge_ || application_ != nullptr; }

 private:
  friend class StateCheck;
  StateChecker() = default;

  const adapters::LinuxAdapter* filesystem_ = nullptr;
  oracle::TreeJudge judge_;  ///< empty if the operations are unknown
  std::shared_ptr<const workload::Application> application_;
  std::shared_ptr<const states::RunHistory> run_;
  std::string recovery_of_;
  // The last persistence point before the recovery began. The recording of a recovery contains no
  // marks of further points, so all its states are checked against this one.
  std::optional<std::size_t> persisted_at_start_;
  /// Texts of the marks that an application wrote before the recovery.
  std::vector<std::string> texts_at_start_;
  bool on_host_ = false;
  /// If true, the recovered file system is only judged: it is neither mounted again nor used.
  bool only_content_ = false;
};

}  // namespace headcrash::explorer
