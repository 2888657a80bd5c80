// Runs the steps of a recovery and measures how long they take (recovery.h).
#include "harness/run/recovery.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/base/names.h"
#include "plugin/base/stopwatch.h"

namespace headcrash::run {

std::string_view name(StepKind step) {
  static constexpr auto kNames =
      base::names<StepKind>({"load", "replay", "check", "repair", "mount", "dump", "judge",
                             "unmount", "second-recovery", "use"});
  return kNames[step];
}

Result<GuestOutcome> Recovery::exec(const adapters::GuestCommand& command, StepKind step) {
  const base::Stopwatch watch;
  auto outcome = guest_.exec(in_guest(command.argv));
  ms(step) += watch.ms();
  return outcome;
}

void Recovery::log_mount(const MountCycle& cycle, const std::string& kernel) {
  guest_.log(fmt::format("guest: mount{}{}\n{}", cycle.mounted ? "" : " refused: ", cycle.refusal,
                         kernel));
}

Result<void> Recovery::replay() {
  if (!filesystem_.replay_by_mount) {
    if (filesystem_.replay.argv.empty()) return {};
    TRY(const auto replayed, exec(filesystem_.replay, StepKind::replay));
    state_.replayed = filesystem_.shows_replay(replayed.output);
    log_thrown_away_ = filesystem_.shows_damage(replayed.output);
    return {};
  }
  const base::Stopwatch watch;
  TRY(auto seen, guest_.replay_by_mount(filesystem_));
  ms(StepKind::load) += seen.verify_ms;
  ms(StepKind::replay) += watch.ms() - seen.verify_ms;
  state_.replayed = filesystem_.shows_replay(seen.log);
  log_mount(seen.cycle, seen.log);
  replayed_tree_ = std::move(seen.tree);
  return {};
}

Result<void> Recovery::check() {
  TRY(const auto checked, exec(filesystem_.check, StepKind::check));
  state_.check_found_damage = log_thrown_away_ || !filesystem_.check.good(checked.exit_code);
  return {};
}

Result<void> Recovery::repair() {
  if (!state_.check_found_damage) return {};
  state_.repaired = false;  // true again when the repair has succeeded
  if (filesystem_.repair.argv.empty()) return {};
  TRY(const auto repaired, exec(filesystem_.repair, StepKind::repair));
  state_.repaired = filesystem_.repair.good(repaired.exit_code);
  return {};
}

Result<void> Recovery::inspect() {
  const bool is_second = replayed_tree_ && !state_.check_found_damage;
  const base::Stopwatch watch;
  TRY(auto seen, guest_.inspect(filesystem_, !is_second));
  const double whole_ms = watch.ms() - seen.verify_ms;
  ms(StepKind::load) += seen.verify_ms;
  ms(StepKind::mount) += seen.first.mount_ms;
  ms(StepKind::dump) += seen.first.dump_ms;
  ms(StepKind::unmount) += seen.first.unmount_ms;
  log_mount(seen.first, seen.log);
  state_.mounted = seen.first.mounted;
  tree_ = std::move(seen.tree);
  double again_ms = 0;
  if (seen.again) {
    again_ms = seen.again->mount_ms + seen.again->dump_ms + seen.again->unmount_ms;
    ms(StepKind::second_recovery) += again_ms;
  }
  unusable_ = seen.unusable;
  ms(StepKind::use) += seen.use_ms;
  // The time for exchanging messages is added to that of the dump, because the messages consist
  // almost entirely of dump data.
  ms(StepKind::dump) += std::max(whole_ms - again_ms - seen.use_ms - seen.first.mount_ms -
                                     seen.first.dump_ms - seen.first.unmount_ms,
                                 0.0);
  if (seen.again) {
    if (!seen.again->mounted) not_idempotent("the second mount failed: " + seen.again->refusal);
    if (!seen.difference.empty()) not_idempotent("after a second recovery " + seen.difference);
  }
  if (is_second) {
    if (!seen.first.mounted) not_idempotent("the second mount failed: " + seen.first.refusal);
    const std::string differs =
        seen.first.mounted ? oracle::tree_difference(*replayed_tree_, tree_) : "";
    if (!differs.empty()) not_idempotent("the second mount shows a different tree: " + differs);
  }
  if (filesystem_.replay_by_mount && !state_.check_found_damage && state_.replayed &&
      filesystem_.shows_replay(seen.log))
    not_idempotent("the second mount replayed the log again");
  return {};
}

Result<void> Recovery::recover_again() {
  if (!state_.mounted) return {};
  if (!filesystem_.replay_by_mount && !filesystem_.replay.argv.empty()) {
    TRY(const auto replayed, exec(filesystem_.replay, StepKind::second_recovery));
    if (filesystem_.shows_replay(replayed.output))
      not_idempotent("the log is replayed again after a clean unmount");
  }
  TRY(const auto checked, exec(filesystem_.check, StepKind::second_recovery));
  if (filesystem_.check.good(checked.exit_code)) return {};
  if (!state_.check_found_damage) {
    not_idempotent("the check finds damage after mount and unmount that it did not find before");
  } else if (!filesystem_.repair.argv.empty()) {
    state_.repaired = false;
  }
  return {};
}

oracle::Judgement Recovery::judge(const std::vector<oracle::Finding>& findings) const {
  const oracle::Judgement judgement = oracle::judge_trial(state_, findings);
  if (unstable_.empty() || judgement.verdict >= oracle::Verdict::recovery_not_idempotent)
    return judgement;
  return {oracle::Verdict::recovery_not_idempotent, unstable_};
}

}  // namespace headcrash::run
