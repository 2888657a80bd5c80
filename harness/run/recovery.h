#pragma once
// Recovery in a guest, from the disk as the cut left it to the tree that is judged:
//
//   replay -> check, read only -> repair, where that found damage -> mount, dump, unmount
//          -> second recovery, which must find nothing to do
//
// Trials of campaigns and crash states of the explorer take these steps. The explorer may take
// replay and check on the host instead (harness/explorer/guests/host_check.h) and sets state()
// then.

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

/// The guest that recovers. An error ends the recovery with its judgement.
class RecoveryGuest {
 public:
  virtual ~RecoveryGuest() = default;
  /// Logs the command and what it printed.
  virtual Step<GuestOutcome> exec(const std::vector<std::string>& argv) = 0;
  /// Mount, dump, unmount; once more if `again`. It may use and empty the file system after that.
  virtual Step<Inspection> inspect(const adapters::LinuxAdapter& filesystem, bool again) = 0;
  /// As inspect(), for a replay by mount. A guest that times a replay need not dump: the tree is
  /// then absent.
  struct MountReplay {
    Look look;
    double verify_ms = 0;  ///< as Inspection's
    std::optional<std::vector<oracle::ObservedObject>> tree;
    std::string log;  ///< the kernel's
  };
  virtual Step<MountReplay> replay_by_mount(const adapters::LinuxAdapter& filesystem) = 0;
  virtual void log(std::string_view text) = 0;
};

/// One recovery; the steps are called in the order of the drawing. Not for several threads.
class Recovery {
 public:
  /// Both must outlive this.
  Recovery(const adapters::LinuxAdapter& filesystem, RecoveryGuest& guest)
      : filesystem_(filesystem), guest_(guest) {}

  Step<void> replay();
  Step<void> check();
  /// Nothing without damage; damage that no command repairs stays.
  Step<void> repair();
  /// The mount whose tree is judged, and the mount after it unless replay() was one.
  Step<void> look();
  /// Replay and check of what the mounts have left.
  Step<void> recover_again();
  /// Runs a command of the adapter and adds its time to a step.
  Step<GuestOutcome> exec(const adapters::GuestCommand& command, StepKind step);

  /// A journal, a log or copy-on-write, which the kernel replays; else the replay is an fsck.
  bool mount_replays() const {
    return filesystem_.replay_by_mount || filesystem_.promises.names_are_atomic();
  }

  oracle::Recovery& state() { return state_; }
  const oracle::Recovery& state() const { return state_; }
  const std::vector<oracle::ObservedObject>& tree() const { return tree_; }
  double& ms(StepKind step) { return step_ms_.at(static_cast<std::size_t>(step)); }
  const std::array<double, kStepKinds>& step_ms() const { return step_ms_; }

  /// What was refused when the recovered file system was used; empty: nothing, or it was not used.
  const std::string& unusable() const { return unusable_; }
  /// The verdict over recovery and findings.
  oracle::Judgement judge(const std::vector<oracle::Finding>& findings) const;

 private:
  void not_idempotent(std::string why) {
    if (unstable_.empty()) unstable_ = std::move(why);
  }
  void log_mount(const Look& look, const std::string& kernel);

  const adapters::LinuxAdapter& filesystem_;
  RecoveryGuest& guest_;
  oracle::Recovery state_;
  std::optional<std::vector<oracle::ObservedObject>> replayed_tree_;  ///< of a replay by mount
  std::vector<oracle::ObservedObject> tree_;
  bool log_thrown_away_ = false;  ///< the replay found its log damaged
  std::string unusable_;
  std::string unstable_;  ///< why the recovery is not idempotent
  std::array<double, kStepKinds> step_ms_ = {};
};

}  // namespace headcrash::run
