#include "harness/run/recovery.h"

#include <gtest/gtest.h>

#include <functional>

namespace headcrash::run {
namespace {

using oracle::Verdict;

/// A guest for which the test determines the results of commands and mounts. By default, commands
/// exit with 0, mounts succeed and logs are empty.
struct ScriptedGuest : RecoveryGuest {
  std::vector<std::string> calls;
  std::function<GuestOutcome(const std::string&, std::size_t)> on_exec =
      [](const std::string&, std::size_t) { return GuestOutcome{}; };
  Inspection inspection{.first = {.mounted = true}};
  MountReplay mount_replay{.cycle = {.mounted = true},
                           .tree = std::vector<oracle::ObservedObject>{}};
  bool inspected_again = false;

  Result<GuestOutcome> exec(const std::vector<std::string>& argv) override {
    calls.push_back(argv.at(0));
    return on_exec(argv.at(0), static_cast<std::size_t>(std::ranges::count(calls, argv.at(0))));
  }
  Result<Inspection> inspect(const adapters::LinuxAdapter&, bool again) override {
    calls.emplace_back("mount");
    inspected_again = again;
    return inspection;
  }
  Result<MountReplay> replay_by_mount(const adapters::LinuxAdapter&) override {
    calls.emplace_back("mount to replay");
    return mount_replay;
  }
  void log(std::string_view) override {}
};

adapters::LinuxAdapter by_command() {
  adapters::LinuxAdapter fs;
  fs.replay = {.argv = {"replay"}, .good_exits = {0}};
  fs.replay_sign = "replayed";
  fs.check = {.argv = {"check"}, .good_exits = {0}};
  fs.repair = {.argv = {"repair"}, .good_exits = {0}};
  return fs;
}

adapters::LinuxAdapter by_mount() {
  adapters::LinuxAdapter fs = by_command();
  fs.replay_by_mount = true;
  fs.replay.argv.clear();
  return fs;
}

Verdict recover(const adapters::LinuxAdapter& fs, ScriptedGuest& guest) {
  Recovery recovery(fs, guest);
  EXPECT_TRUE(recovery.replay());
  EXPECT_TRUE(recovery.check());
  EXPECT_TRUE(recovery.repair());
  EXPECT_TRUE(recovery.inspect());
  EXPECT_TRUE(recovery.recover_again());
  return recovery.judge({}).verdict;
}

oracle::ObservedObject object(const std::string& path) {
  oracle::ObservedObject object;
  object.path = path;
  return object;
}

TEST(Recovery, RunsStepsInOrder) {
  ScriptedGuest guest;
  EXPECT_EQ(recover(by_command(), guest), Verdict::clean);
  EXPECT_EQ(guest.calls, (std::vector<std::string>{"replay", "check", "mount", "replay", "check"}));
  EXPECT_TRUE(guest.inspected_again);
}

TEST(Recovery, ReplayByMountAddsOneMount) {
  ScriptedGuest guest;
  EXPECT_EQ(recover(by_mount(), guest), Verdict::clean);
  EXPECT_EQ(guest.calls, (std::vector<std::string>{"mount to replay", "check", "mount", "check"}));
  EXPECT_FALSE(guest.inspected_again) << "the replay was the first mount";
}

/// If the mount that replays the log does not dump the tree, the tree is inspected in two more
/// mounts.
TEST(Recovery, ReplayByMountWithoutATreeAddsTwoMounts) {
  ScriptedGuest guest;
  guest.mount_replay.tree.reset();
  EXPECT_EQ(recover(by_mount(), guest), Verdict::clean);
  EXPECT_TRUE(guest.inspected_again);
}

TEST(Recovery, ReportsWhetherTheRepairSucceeded) {
  for (const int repair_exit : {0, 4}) {
    ScriptedGuest guest;
    guest.on_exec = [&](const std::string& command, std::size_t turn) {
      if (command == "check") return GuestOutcome{.exit_code = turn == 1 ? 4 : 0};
      return GuestOutcome{.exit_code = command == "repair" ? repair_exit : 0};
    };
    EXPECT_EQ(recover(by_command(), guest),
              repair_exit == 0 ? Verdict::repaired_by_fsck : Verdict::not_repairable);
  }
}

TEST(Recovery, DamageIsNotRepairableWithoutARepairCommand) {
  ScriptedGuest guest;
  guest.on_exec = [](const std::string& command, std::size_t) {
    return GuestOutcome{.exit_code = command == "check" ? 4 : 0};
  };
  adapters::LinuxAdapter fs = by_command();
  fs.repair.argv.clear();
  EXPECT_EQ(recover(fs, guest), Verdict::not_repairable);
}

TEST(Recovery, RejectsARepairThatDoesNotLast) {
  ScriptedGuest guest;
  guest.on_exec = [](const std::string& command, std::size_t) {
    return GuestOutcome{.exit_code = command == "check" ? 4 : 0};
  };
  EXPECT_EQ(recover(by_command(), guest), Verdict::not_repairable);
}

TEST(Recovery, ASecondRecoveryMustFindNothingToDo) {
  ScriptedGuest replays_again;
  replays_again.on_exec = [](const std::string& command, std::size_t) {
    return GuestOutcome{.output = command == "replay" ? "replayed" : ""};
  };
  EXPECT_EQ(recover(by_command(), replays_again), Verdict::recovery_not_idempotent);

  ScriptedGuest damage_later;
  damage_later.on_exec = [](const std::string& command, std::size_t turn) {
    return GuestOutcome{.exit_code = command == "check" && turn == 2 ? 4 : 0};
  };
  EXPECT_EQ(recover(by_command(), damage_later), Verdict::recovery_not_idempotent);

  ScriptedGuest another_tree;
  another_tree.inspection.again = MountCycle{.mounted = true};
  another_tree.inspection.difference = "a is missing";
  EXPECT_EQ(recover(by_command(), another_tree), Verdict::recovery_not_idempotent);

  ScriptedGuest refused;
  refused.inspection.again = MountCycle{.mounted = false, .refusal = "bad superblock"};
  EXPECT_EQ(recover(by_command(), refused), Verdict::recovery_not_idempotent);
}

TEST(Recovery, ASecondMountMustShowTheSameTree) {
  ScriptedGuest another_tree;
  another_tree.mount_replay.tree->push_back(object("a"));
  EXPECT_EQ(recover(by_mount(), another_tree), Verdict::recovery_not_idempotent);
  another_tree.inspection.tree.push_back(object("a"));
  EXPECT_EQ(recover(by_mount(), another_tree), Verdict::clean);
  another_tree.inspection.tree.push_back(object("b"));
  EXPECT_EQ(recover(by_mount(), another_tree), Verdict::recovery_not_idempotent);

  ScriptedGuest replays_again;
  replays_again.mount_replay.log = replays_again.inspection.log = "replayed";
  EXPECT_EQ(recover(by_mount(), replays_again), Verdict::recovery_not_idempotent);
  replays_again.mount_replay.tree.reset();
  EXPECT_EQ(recover(by_mount(), replays_again), Verdict::recovery_not_idempotent);
}

/// At unmount, XFS frees blocks that were preallocated beyond the end of a file.
TEST(Recovery, BlocksMayBeFreedAtUnmount) {
  ScriptedGuest guest;
  guest.mount_replay.tree->push_back(object("a"));
  guest.inspection.tree.push_back(object("a"));
  guest.mount_replay.tree->back().allocated_bytes = 65'536;
  guest.inspection.tree.back().allocated_bytes = 32'768;
  EXPECT_EQ(recover(by_mount(), guest), Verdict::clean);
  guest.inspection.tree.back().size_bytes = 1;
  EXPECT_EQ(recover(by_mount(), guest), Verdict::recovery_not_idempotent);
  guest.inspection.tree.back().size_bytes = 0;
  guest.inspection.tree.back().allocated_bytes = 131'072;
  EXPECT_EQ(recover(by_mount(), guest), Verdict::recovery_not_idempotent);
}

TEST(Recovery, ReportsAFailureToUseTheFileSystem) {
  ScriptedGuest guest;
  guest.inspection.unusable = "rmdir of d: Directory not empty";
  guest.inspection.use_ms = 3;
  const adapters::LinuxAdapter fs = by_command();
  Recovery recovery(fs, guest);
  EXPECT_TRUE(recovery.inspect());
  EXPECT_EQ(recovery.unusable(), "rmdir of d: Directory not empty");
  EXPECT_EQ(recovery.ms(StepKind::use), 3);
}

TEST(Recovery, AnUnmountableFileSystemIsNotRecoveredAgain) {
  ScriptedGuest guest;
  guest.inspection.first = {.mounted = false, .refusal = "no"};
  EXPECT_EQ(recover(by_command(), guest), Verdict::unmountable);
  EXPECT_EQ(guest.calls.back(), "mount");
}

}  // namespace
}  // namespace headcrash::run
