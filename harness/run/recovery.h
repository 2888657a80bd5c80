#pragma once
// Recovers a file system in a guest: from the disk after the cut to the tree that the oracle
// judges.
//
//   replay -> check, read only -> repair if damaged -> mount, dump, unmount
//          -> second recovery, which must find nothing to do
//
// Both the trials of campaigns and the crash states of the explorer are recovered in this way. The
// explorer may instead replay and check on the host (harness/explorer/guests/host_check.h); it then
// sets state() itself.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/oracle/observed_tree.h"
#include "harness/oracle/verdict.h"
#include "harness/run/guest_session.h"

namespace headcrash::run {

enum class StepKind : std::uint8_t {
  load,
  replay,
  check,
  repair,
  mount,
  dump,
  judge,
  unmount,
  second_recovery,
  use
};
inline constexpr std::size_t kStepKinds = 10;
std::string_view name(StepKind step);

/// The guest in which a recovery runs. An error from any of these functions ends the recovery, and
/// determines its verdict.
class RecoveryGuest {
 public:
  virtual ~RecoveryGuest() = default;
  /// Runs a command. Logs the command line and the output.
  virtual Result<GuestOutcome> exec(const std::vector<std::string>& argv) = 0;
  /// Mounts the file system, dumps its tree and unmounts it. If `again` is true, repeats these
  /// three steps. The implementation may then test the file system by writing to it and deleting
  /// everything in it.
  virtual Result<Inspection> inspect(const adapters::LinuxAdapter& filesystem, bool again) = 0;
  /// The result of a replay by mount. `tree` is nullopt if the guest measures the time of the
  /// replay and therefore makes no dump.
  struct MountReplay {
    MountCycle cycle;
    double verify_ms = 0;  ///< see Inspection
    std::optional<std::vector<oracle::ObservedObject>> tree;
    std::string log;  ///< kernel log
  };
  virtual Result<MountReplay> replay_by_mount(const adapters::LinuxAdapter& filesystem) = 0;
  virtual void log(std::string_view text) = 0;
};

/// One recovery. The steps must be called in the order of the diagram at the top of this file. Not
/// thread-safe.
class Recovery {
 public:
  /// `filesystem` and `guest` must outlive this object.
  Recovery(const adapters::LinuxAdapter& filesystem, RecoveryGuest& guest)
      : filesystem_(filesystem), guest_(guest) {}

  Result<void> replay();
  Result<void> check();
  /// Runs the repair command if the check has found damage. If there is no repair command, the
  /// damage remains.
  Result<void> repair();
  /// Mounts the file system, dumps the tree that is judged, and unmounts the file system. Repeats
  /// the mount, dump and unmount as a second recovery, unless replay() has already mounted and
  /// dumped the file system.
  Result<void> inspect();
  /// Replays and checks the file system again after the mounts. Neither the replay nor the check
  /// may find work to do.
  Result<void> recover_again();
  /// Runs one of the adapter's commands and adds its duration to the time of a step.
  Result<GuestOutcome> exec(const adapters::GuestCommand& command, StepKind step);

  /// Returns true if a mount replays the journal or log, or recovers copy-on-write trees. Returns
  /// false if fsck does the recovery.
  bool mount_replays() const {
    return filesystem_.replay_by_mount || filesystem_.promises.names_are_atomic();
  }

  oracle::Recovery& state() { return state_; }
  const oracle::Recovery& state() const { return state_; }
  const std::vector<oracle::ObservedObject>& tree() const { return tree_; }
  double& ms(StepKind step) { return step_ms_.at(static_cast<std::size_t>(step)); }
  const std::array<double, kStepKinds>& step_ms() const { return step_ms_; }

  /// Returns the error that occurred while the recovered file system was used, or an empty string
  /// if it was not used or no error occurred.
  const std::string& unusable() const { return unusable_; }
  /// Derives the verdict from the recovery and the findings.
  oracle::Judgement judge(const std::vector<oracle::Finding>& findings) const;

 private:
  void not_idempotent(std::string why) {
    if (unstable_.empty()) unstable_ = std::move(why);
  }
  void log_mount(const MountCycle& cycle, const std::string& kernel);

  const adapters::LinuxAdapter& filesystem_;
  RecoveryGuest& guest_;
  oracle::Recovery state_;
  /// Tree found by the mount that replayed the log; nullopt if no such mount dumped the tree.
  std::optional<std::vector<oracle::ObservedObject>> replayed_tree_;
  std::vector<oracle::ObservedObject> tree_;
  bool log_thrown_away_ = false;  ///< true if the replay discarded a damaged log
  std::string unusable_;
  std::string unstable_;  ///< why the second recovery differed from the first
  std::array<double, kStepKinds> step_ms_ = {};
};

}  // namespace headcrash::run
