// The steps of one check (check_state.h), each timed, each leaving its words in the log.
#include "harness/explorer/check_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "harness/explorer/application_run.h"
#include "harness/explorer/host_check.h"
#include "plugin/base/stopwatch.h"

namespace headcrash::explorer {

namespace {

constexpr std::size_t kLogBytes = 64 << 10;  // of one state
constexpr std::string_view kPersisted = "persisted ";
constexpr std::chrono::seconds kHostLimit{30};
constexpr const char* kNotJudged =
    "recovered, mounted and recovered again; the operations are not known, so that content was not judged";

}  // namespace

std::string_view name(StepKind step) {
  constexpr std::array<std::string_view, kStepKinds> kNames{
      "load", "replay", "check", "repair", "mount", "dump", "judge", "unmount", "second-recovery"};
  return kNames.at(static_cast<std::size_t>(step));
}

std::optional<std::size_t> persisted_before(const states::RunHistory& run, std::uint64_t event) {
  const auto& marks = run.marks();
  auto mark = std::partition_point(marks.begin(), marks.end(),
                                   [&](const states::RecordedMark& each) { return each.event < event; });
  while (mark != marks.begin())
    if (const auto operation = workload::parse_persisted_mark((--mark)->text)) return operation;
  return std::nullopt;
}

std::vector<std::string> persisted_texts_before(const states::RunHistory& run, std::uint64_t event) {
  std::vector<std::string> texts;
  for (const states::RecordedMark& mark : run.marks()) {
    if (mark.event >= event) break;
    if (mark.text.starts_with(kPersisted)) texts.push_back(mark.text);
  }
  return texts;
}

bool is_failure(const StateOutcome& outcome) {
  return !oracle::keeps_promises(outcome.judgement.verdict);
}

/// One state on its way through the steps.
class StateCheck {
 public:
  StateCheck(const StateChecker& checker, StageGuest& guest, const states::CrashState& state,
             const CheckOptions& options)
      : checker_(checker),
        filesystem_(*checker.filesystem_),
        guest_(guest),
        state_(state),
        options_(options) {
    outcome_.state = states::format(state);
    outcome_.recording = checker.run_->path();
    outcome_.recovery_of = checker.recovery_of_;
    outcome_.persisted_operation = checker.recovery_of_.empty() ? persisted_before(*checker.run_, state.event)
                                                                : checker.persisted_at_start_;
    if (checker.application_ != nullptr)
      outcome_.persisted_texts = checker.recovery_of_.empty()
                                     ? persisted_texts_before(*checker.run_, state.event)
                                     : checker.texts_at_start_;
    // What an array holds is known to who reads it through the array only.
    outcome_.in_guest_only = options.wholly_in_guest || !checker.on_host_ || guest.machine().is_array();
  }

  StateOutcome run() {
    const base::Stopwatch watch;
    if (const run::Step<void> done = go(); !done) {
      outcome_.judgement = done.error();
    } else {
      judge();
    }
    outcome_.wall_ms = watch.ms();
    return std::move(outcome_);
  }

 private:
  run::Step<void> go();
  run::Step<void> load(bool fresh_guest);
  Result<base::Descriptor> copy_of(model::DeviceId device) const;
  Result<HostCheck> check_copies(double& copy_ms);
  bool check_on_host();
  bool check_stage_on_host();
  run::Step<void> put_replayed_onto_stage();
  run::Step<void> replay_in_guest();
  run::Step<void> check_in_guest();
  run::Step<void> repair_in_guest();
  run::Step<void> look();
  run::Step<void> look_after_replay();
  run::Step<void> ask_application();
  run::Step<void> recover_again();
  void judge();

  double& ms(StepKind step) { return outcome_.step_ms.at(static_cast<std::size_t>(step)); }
  void add_times(const run::Look& look) {
    ms(StepKind::mount) += look.mount_ms;
    ms(StepKind::dump) += look.dump_ms;
    ms(StepKind::unmount) += look.unmount_ms;
  }
  void log(std::string_view text) {
    if (outcome_.log.size() < kLogBytes) outcome_.log.append(text.substr(0, kLogBytes - outcome_.log.size()));
  }
  run::Step<run::GuestOutcome> exec(const adapters::GuestCommand& command, StepKind step);
  bool has_log() const;
  /// A journal, a log or copy-on-write; else the replay is an fsck.
  bool mount_replays() const {
    return filesystem_.replay_by_mount || filesystem_.promises.names_are_atomic();
  }
  /// By the command and, from the state as it was cut, by the kernel.
  bool recovers_twice() const {
    return !filesystem_.replay_by_mount && mount_replays() && !filesystem_.replay.argv.empty();
  }
  void not_idempotent(std::string why) {
    if (unstable_.empty()) unstable_ = std::move(why);
  }

  const StateChecker& checker_;
  const adapters::LinuxAdapter& filesystem_;
  StageGuest& guest_;
  const states::CrashState& state_;
  const CheckOptions& options_;
  StateOutcome outcome_;
  std::optional<std::vector<oracle::ObservedObject>> first_tree_;  // of a replay by mount
  std::vector<oracle::ObservedObject> tree_;
  base::Descriptor replayed_copy_;  // the host's, after its replay and check
  bool stage_as_cut_ =
      false;  // it holds what the cut left, although a copy or a load before has been replayed
  bool replay_damage_ = false;  // the command threw the log away
  std::string unstable_;        // why the recovery is not idempotent
};

run::Step<void> StateCheck::go() {
  if (const run::Step<void> loaded = load(options_.fresh_guest); !loaded) return loaded;
  const bool on_host = !outcome_.in_guest_only;
  if (!on_host || filesystem_.replay_by_mount || !check_on_host()) {
    if (const run::Step<void> replayed = replay_in_guest(); !replayed) return replayed;
    if (!on_host || !filesystem_.replay_by_mount || !check_stage_on_host()) {
      outcome_.in_guest_only = true;
      if (const run::Step<void> checked = check_in_guest(); !checked) return checked;
    }
    // The command's recovery is done; the kernel is to do its own.
    if (recovers_twice() && !outcome_.recovery.check_found_damage) {
      if (const run::Step<void> loaded = load(false); !loaded) return loaded;
      stage_as_cut_ = true;
    }
  } else if (recovers_twice()) {
    stage_as_cut_ = true;
  } else if (outcome_.recovery.replayed) {
    if (const run::Step<void> put = put_replayed_onto_stage(); !put) return put;
  }
  if (outcome_.recovery.check_found_damage && !filesystem_.repair.argv.empty()) {
    if (const run::Step<void> repaired = repair_in_guest(); !repaired) return repaired;
  }
  if (const run::Step<void> looked = look(); !looked) return looked;
  if (!outcome_.recovery.mounted) {
    if (const run::Step<void> looked = look_after_replay(); !looked) return looked;
  }
  if (const run::Step<void> asked = ask_application(); !asked) return asked;
  if (options_.wholly_in_guest) return recover_again();
  return {};
}

run::Step<void> StateCheck::load(bool fresh_guest) {
  const base::Stopwatch watch;
  const auto loaded = guest_.load({.recording = std::filesystem::absolute(outcome_.recording),
                                   .state = outcome_.state,
                                   .faults = guest_.machine().faults_in_recovery()},
                                  fresh_guest);
  ms(StepKind::load) += watch.ms();
  if (!loaded) return tl::unexpected(loaded.error());
  outcome_.digest = loaded->digest;
  return {};
}

/// Of one disk of the state.
Result<base::Descriptor> StateCheck::copy_of(model::DeviceId device) const {
  const auto image = checker_.run_->image(state_, device);
  if (!image) return pass_on(image);
  return private_copy(*image);
}

Result<HostCheck> StateCheck::check_copies(double& copy_ms) {
  const base::Stopwatch watch;
  auto copy = copy_of(state_.device);
  if (!copy) return pass_on(copy);
  if (filesystem_.log_size_bytes == 0) {
    copy_ms = watch.ms();
    replayed_copy_ = std::move(*copy);
    return host_check(filesystem_, replayed_copy_);
  }
  const auto& disks = checker_.run_->disks();
  if (disks.size() != 2) return fail(checker_.run_->path(), "is not of two disks");
  const auto log_copy = copy_of(disks[1]);
  copy_ms = watch.ms();
  if (!log_copy) return pass_on(log_copy);
  return host_check(filesystem_, *copy, kHostLimit, &*log_copy);
}

/// False: it could not be done there.
bool StateCheck::check_on_host() {
  double copy_ms = 0;
  const auto found = check_copies(copy_ms);
  if (!found) {
    log(fmt::format("not checked on the host: {}\n", found.error().message()));
    return false;
  }
  ms(StepKind::replay) += copy_ms + found->replay_ms;
  ms(StepKind::check) += found->check_ms;
  outcome_.recovery.replayed = found->replayed;
  outcome_.recovery.check_found_damage = found->found_damage;
  log(found->log);
  return true;
}

/// What the host's fsck has made of its copy; the guest's would make the same of the state, and take ten
/// times as long. A log on a disk of its own would have to follow: that is left to the guest.
run::Step<void> StateCheck::put_replayed_onto_stage() {
  if (replayed_copy_.is_open()) {
    const base::Stopwatch watch;
    const auto image = checker_.run_->image(state_, state_.device);
    if (!image) return run::broken(image.error());
    const auto put = guest_.change_stage(*image, replayed_copy_);
    ms(StepKind::replay) += watch.ms();
    if (put) return {};
    log(fmt::format("the host's copy was not put onto the stage: {}\n", put.error().message()));
    if (const run::Step<void> loaded = load(false); !loaded) return loaded;
  }
  return exec(filesystem_.replay, StepKind::replay).map([](const run::GuestOutcome&) {});
}

/// Of what the kernel's replay has left. False: it could not be done.
bool StateCheck::check_stage_on_host() {
  const base::Stopwatch watch;
  const auto copy = guest_.copy_stage();
  if (!copy) {
    log(fmt::format("not checked on the host: {}\n", copy.error().message()));
    return false;
  }
  const auto found = host_check(filesystem_, *copy);
  ms(StepKind::check) += watch.ms();
  if (!found) {
    log(fmt::format("not checked on the host: {}\n", found.error().message()));
    return false;
  }
  outcome_.recovery.check_found_damage = found->found_damage;
  log(found->log);
  return true;
}

run::Step<run::GuestOutcome> StateCheck::exec(const adapters::GuestCommand& command, StepKind step) {
  const base::Stopwatch watch;
  const auto argv = run::in_guest(command.argv);
  run::Step<run::GuestOutcome> end = guest_.exec(argv);
  ms(step) += watch.ms();
  if (end) log(fmt::format("guest$ {}\n{}exit {}\n", fmt::join(argv, " "), end->output, end->exit_code));
  return end;
}

/// By the disk's own sign, for kernels that do not always say so.
bool StateCheck::has_log() const {
  if (filesystem_.replay_sign_at == 0) return false;
  const auto image = checker_.run_->image(state_, state_.device);
  std::array<std::byte, 2 * model::kSectorBytes> sectors{};
  const std::uint64_t lba = filesystem_.replay_sign_at / model::kSectorBytes;
  if (!image || !image->read(lba, sectors)) return false;
  const auto sign = std::span(sectors).subspan(filesystem_.replay_sign_at % model::kSectorBytes, 8);
  return std::ranges::any_of(sign, [](std::byte each) { return each != std::byte{0}; });
}

run::Step<void> StateCheck::replay_in_guest() {
  if (!filesystem_.replay_by_mount) {
    if (filesystem_.replay.argv.empty()) return {};
    const auto replayed = exec(filesystem_.replay, StepKind::replay);
    if (!replayed) return tl::unexpected(replayed.error());
    outcome_.recovery.replayed = filesystem_.shows_replay(replayed->output);
    replay_damage_ = filesystem_.shows_damage(replayed->output);
    return {};
  }
  const base::Stopwatch watch;
  auto seen = guest_.inspect(filesystem_, false);
  if (!seen) return tl::unexpected(seen.error());
  ms(StepKind::load) += seen->verify_ms;
  ms(StepKind::replay) += watch.ms() - seen->verify_ms;
  outcome_.recovery.replayed = filesystem_.shows_replay(seen->log) || has_log();
  log(fmt::format("guest: mount{}{}\n{}", seen->first.mounted ? "" : " refused: ", seen->first.refusal,
                  seen->log));
  if (seen->first.mounted) first_tree_ = std::move(seen->tree);
  return {};
}

run::Step<void> StateCheck::check_in_guest() {
  const auto checked = exec(filesystem_.check, StepKind::check);
  if (!checked) return tl::unexpected(checked.error());
  outcome_.recovery.check_found_damage = replay_damage_ || !filesystem_.check.good(checked->exit_code);
  return {};
}

/// Where the host checked its own copy, the stage still holds the state as the cut left it: replay first.
run::Step<void> StateCheck::repair_in_guest() {
  if (stage_as_cut_) {
    stage_as_cut_ = false;
    const auto replayed = exec(filesystem_.replay, StepKind::repair);
    if (!replayed) return tl::unexpected(replayed.error());
  }
  const auto repaired = exec(filesystem_.repair, StepKind::repair);
  if (!repaired) return tl::unexpected(repaired.error());
  outcome_.recovery.repaired = filesystem_.repair.good(repaired->exit_code);
  return {};
}

/// The mount whose tree is judged, and another one, which must find nothing left to do.
run::Step<void> StateCheck::look() {
  const bool is_second = first_tree_ && !outcome_.recovery.check_found_damage;
  const base::Stopwatch watch;
  auto seen = guest_.inspect(filesystem_, !is_second);
  if (!seen) return tl::unexpected(seen.error());
  const double whole_ms = watch.ms() - seen->verify_ms;
  ms(StepKind::load) += seen->verify_ms;
  add_times(seen->first);
  log(fmt::format("guest: mount{}{}\n{}", seen->first.mounted ? "" : " refused: ", seen->first.refusal,
                  seen->log));
  outcome_.recovery.mounted = seen->first.mounted;
  tree_ = std::move(seen->tree);
  double again_ms = 0;
  if (seen->again) {
    again_ms = seen->again->mount_ms + seen->again->dump_ms + seen->again->unmount_ms;
    ms(StepKind::second_recovery) += again_ms;
    if (!seen->again->mounted) not_idempotent("a second mount was refused: " + seen->again->refusal);
    if (!seen->difference.empty()) not_idempotent("after a second recovery " + seen->difference);
  }
  // What the two spend on messages is the dump's: nearly all of them are its entries.
  ms(StepKind::dump) += std::max(
      whole_ms - again_ms - seen->first.mount_ms - seen->first.dump_ms - seen->first.unmount_ms, 0.0);
  if (is_second) {
    if (!seen->first.mounted) not_idempotent("a second mount was refused: " + seen->first.refusal);
    if (seen->first.mounted && tree_ != *first_tree_) not_idempotent("the second mount shows another tree");
    if (outcome_.recovery.replayed && filesystem_.shows_replay(seen->log))
      not_idempotent("the second mount replayed the log again");
  }
  return {};
}

/// The kernel refused a state as the cut left it (a torn superblock of ext4, say, which e2fsck takes from its
/// backup). Debian's boot runs the adapter's replay command before it mounts: that has the last word, and
/// the verdict says so.
run::Step<void> StateCheck::look_after_replay() {
  if (!stage_as_cut_ || outcome_.recovery.check_found_damage) return {};
  stage_as_cut_ = false;
  outcome_.recovery.refused_as_cut = true;
  log("the kernel refused the state as the cut left it; replaying it first\n");
  const auto replayed = exec(filesystem_.replay, StepKind::replay);
  if (!replayed) return tl::unexpected(replayed.error());
  return look();
}

/// What an application does to its files when it looks is its own affair: it comes after the second mount.
run::Step<void> StateCheck::ask_application() {
  if (checker_.application_ == nullptr || !outcome_.recovery.mounted) return {};
  const base::Stopwatch watch;
  auto found = put_to_verifier(guest_, filesystem_, *checker_.application_, outcome_.persisted_texts);
  ms(StepKind::judge) += watch.ms();
  if (!found) return tl::unexpected(found.error());
  outcome_.findings = std::move(*found);
  log(fmt::format("{} was told {} marks and found {} things amiss\n", checker_.application_->name,
                  outcome_.persisted_texts.size(), outcome_.findings.size()));
  return {};
}

/// Replay and check once more, on what the mounts left.
run::Step<void> StateCheck::recover_again() {
  if (!outcome_.recovery.mounted) return {};
  if (!filesystem_.replay_by_mount && !filesystem_.replay.argv.empty()) {
    const auto replayed = exec(filesystem_.replay, StepKind::second_recovery);
    if (!replayed) return tl::unexpected(replayed.error());
    if (filesystem_.shows_replay(replayed->output))
      not_idempotent("the log is replayed again after a clean unmount");
  }
  const auto checked = exec(filesystem_.check, StepKind::second_recovery);
  if (!checked) return tl::unexpected(checked.error());
  if (filesystem_.check.good(checked->exit_code)) return {};
  if (!outcome_.recovery.check_found_damage) {
    not_idempotent("the check finds damage after mount and unmount that it did not find before");
  } else if (!filesystem_.repair.argv.empty()) {
    outcome_.recovery.repaired = false;
  }
  return {};
}

void StateCheck::judge() {
  const base::Stopwatch watch;
  if (outcome_.recovery.mounted && checker_.oracle_ != nullptr)
    outcome_.findings = checker_.oracle_->judge(outcome_.persisted_operation, tree_);
  const auto complaint = guest_.complaint();
  if (complaint && outcome_.recovery.mounted && !outcome_.recovery.check_found_damage) {
    outcome_.findings.push_back({.kind = oracle::Verdict::wrong_data,
                                 .tier = oracle::Tier::integrity,
                                 .path = ".",
                                 .expected = "a kernel as content as the check was",
                                 .found = *complaint});
  }
  outcome_.judgement = oracle::judge_trial(outcome_.recovery, outcome_.findings);
  if (!checker_.judges_content() && oracle::keeps_promises(outcome_.judgement.verdict))
    outcome_.judgement.summary = kNotJudged;
  if (!unstable_.empty() && outcome_.judgement.verdict < oracle::Verdict::recovery_not_idempotent)
    outcome_.judgement = {oracle::Verdict::recovery_not_idempotent, unstable_};
  ms(StepKind::judge) += watch.ms();
}

Result<StateChecker> StateChecker::create(const adapters::LinuxAdapter& filesystem,
                                          const RecordedWorkload& workload,
                                          std::shared_ptr<const states::RunHistory> run) {
  StateChecker checker;
  checker.filesystem_ = &filesystem;
  if (workload.application) {
    checker.application_ = std::make_shared<const workload::Application>(*workload.application);
  } else if (!workload.operations.empty()) {
    auto oracle = oracle::Oracle::follow(workload.operations,
                                         {.promises = filesystem.promises, .mishaps = workload.mishaps});
    if (!oracle) return pass_on(oracle);
    checker.oracle_ = std::make_shared<const oracle::Oracle>(std::move(*oracle));
  }
  checker.run_ = std::move(run);
  checker.on_host_ = host_can_check(filesystem);
  return checker;
}

StateChecker StateChecker::for_recovery(const StateOutcome& of,
                                        std::shared_ptr<const states::RunHistory> recovery) const {
  StateChecker checker = *this;
  checker.run_ = std::move(recovery);
  checker.persisted_at_start_ = of.persisted_operation;
  checker.texts_at_start_ = of.persisted_texts;
  checker.recovery_of_ = of.full_name();
  return checker;
}

StateOutcome StateChecker::check(StageGuest& guest, const states::CrashState& state,
                                 const CheckOptions& options) const {
  return StateCheck(*this, guest, state, options).run();
}

}  // namespace headcrash::explorer
