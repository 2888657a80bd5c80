// The steps of a check (check_state.h). Each step is timed and logged.
#include "harness/explorer/guests/check_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "harness/explorer/guests/application_run.h"
#include "harness/explorer/guests/host_check.h"
#include "plugin/base/stopwatch.h"

namespace headcrash::explorer {

namespace {

constexpr std::size_t kLogBytes = 64 << 10;  // maximum size of the log of each state
constexpr std::string_view kPersisted = "persisted ";
constexpr std::chrono::seconds kHostLimit{30};
constexpr const char* kNotJudged =
    "recovered, mounted, recovered again; content not judged, because the operations are unknown";

}  // namespace

std::optional<std::size_t> persisted_before(const states::RunHistory& run, std::uint64_t event) {
  const auto& marks = run.marks();
  auto mark =
      std::partition_point(marks.begin(), marks.end(),
                           [&](const states::RecordedMark& each) { return each.event < event; });
  while (mark != marks.begin())
    if (const auto operation = workload::parse_persisted_mark((--mark)->text)) return operation;
  return std::nullopt;
}

std::vector<std::string> persisted_texts_before(const states::RunHistory& run,
                                                std::uint64_t event) {
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

class StateCheck : private run::RecoveryGuest {
 public:
  StateCheck(const StateChecker& checker, StageGuest& guest, const states::CrashState& state,
             const CheckOptions& options)
      : checker_(checker),
        filesystem_(*checker.filesystem_),
        guest_(guest),
        state_(state),
        options_(options),
        recovery_(filesystem_, *this) {
    outcome_.state = states::format(state);
    outcome_.recording = checker.run_->path();
    outcome_.recovery_of = checker.recovery_of_;
    outcome_.persisted_operation = checker.recovery_of_.empty()
                                       ? persisted_before(*checker.run_, state.event)
                                       : checker.persisted_at_start_;
    if (checker.application_ != nullptr)
      outcome_.persisted_texts = checker.recovery_of_.empty()
                                     ? persisted_texts_before(*checker.run_, state.event)
                                     : checker.texts_at_start_;
    // The contents of an array can be read only through the array, so the host's programs cannot
    // check them.
    outcome_.in_guest_only =
        options.wholly_in_guest || !checker.on_host_ || guest.machine().is_array();
  }

  StateOutcome run() {
    const base::Stopwatch watch;
    if (const Result<void> done = go(); !done) {
      outcome_.judgement = oracle::judgement_of(done.error());
    } else {
      judge();
    }
    outcome_.recovery = recovery_.state();
    outcome_.step_ms = recovery_.step_ms();
    outcome_.wall_ms = watch.ms();
    return std::move(outcome_);
  }

 private:
  Result<void> go();
  Result<void> load(bool fresh_guest);
  Result<void> assemble_stack();
  Result<void> mount_first();
  Result<base::Descriptor> copy_of(model::DeviceId device,
                                   Unwritten unwritten = Unwritten::zeroes) const;
  Result<HostCheck> check_copies(double& copy_ms);
  bool check_on_host();
  bool check_stage_on_host();
  Result<void> write_replayed_to_stage();
  Result<void> replay_in_guest();
  Result<void> repair_in_guest();
  Result<void> mount_after_replay();
  Result<void> ask_application();
  void judge();

  double& ms(StepKind step) { return recovery_.ms(step); }
  Result<run::GuestOutcome> exec(const std::vector<std::string>& argv) override {
    Result<run::GuestOutcome> end = guest_.exec(argv);
    if (end)
      log(fmt::format("guest$ {}\n{}exit {}\n", fmt::join(argv, " "), end->output, end->exit_code));
    return end;
  }
  Result<run::Inspection> inspect(const adapters::LinuxAdapter& filesystem, bool again) override {
    return guest_.inspect(filesystem,
                          {.again = again && !checker_.only_content_,
                           .use = checker_.application_ == nullptr && !checker_.only_content_});
  }
  Result<MountReplay> replay_by_mount(const adapters::LinuxAdapter& filesystem) override;
  void log(std::string_view text) override {
    if (outcome_.log.size() < kLogBytes)
      outcome_.log.append(text.substr(0, kLogBytes - outcome_.log.size()));
  }
  bool has_log() const;
  /// Returns true if the state is recovered twice: the replay command recovers a copy of the state,
  /// and the kernel recovers the original.
  bool recovers_twice() const {
    return !filesystem_.replay_by_mount && recovery_.mount_replays() &&
           !filesystem_.replay.argv.empty();
  }

  const StateChecker& checker_;
  const adapters::LinuxAdapter& filesystem_;
  StageGuest& guest_;
  const states::CrashState& state_;
  const CheckOptions& options_;
  StateOutcome outcome_;
  run::Recovery recovery_;
  // The tree that the first mount showed; nullopt unless that mount recovers the file system.
  std::optional<std::vector<oracle::ObservedObject>> first_tree_;
  std::string first_refusal_;       // the kernel's error, if it refused the first mount
  std::string stack_damage_;        // output of the stack's own check, if it failed
  base::Descriptor replayed_copy_;  // the host's copy of the state, after replay and check
  // True if the stage still holds the original state. (A copy of the state may have been replayed.)
  bool stage_as_cut_ = false;
};

Result<void> StateCheck::go() {
  TRY(load(options_.fresh_guest));
  const bool on_host = !outcome_.in_guest_only;
  if (!on_host || filesystem_.replay_by_mount || !check_on_host()) {
    TRY(replay_in_guest());
    if (!on_host || !filesystem_.replay_by_mount || !check_stage_on_host()) {
      outcome_.in_guest_only = true;
      TRY(recovery_.check());
    }
    // The replay command has recovered one copy of the state. The kernel must now recover the
    // original state, too.
    if (recovers_twice() && !recovery_.state().check_found_damage) {
      TRY(load(false));
      stage_as_cut_ = true;
    }
  } else if (recovers_twice()) {
    stage_as_cut_ = true;
  } else if (recovery_.state().replayed) {
    TRY(write_replayed_to_stage());
  }
  TRY(repair_in_guest());
  TRY(recovery_.inspect());
  if (!recovery_.state().mounted) {
    TRY(mount_after_replay());
  }
  TRY(ask_application());
  if (options_.wholly_in_guest) return recovery_.recover_again();
  return {};
}

Result<void> StateCheck::load(bool fresh_guest) {
  const base::Stopwatch watch;
  const auto loaded = guest_.load({.recording = std::filesystem::absolute(outcome_.recording),
                                   .state = outcome_.state,
                                   .faults = guest_.machine().faults_in_recovery()},
                                  fresh_guest);
  ms(StepKind::load) += watch.ms();
  if (!loaded) return tl::unexpected(loaded.error());
  outcome_.digest = loaded->digest;
  TRY(assemble_stack());
  return mount_first();
}

/// Assembles the file system's stack and runs the stack's own check. If the state is checked wholly
/// in the guest, runs the thorough variant of this check.
Result<void> StateCheck::assemble_stack() {
  if (!filesystem_.stack) return {};
  const base::Stopwatch watch;
  TRY(guest_.assemble_stack(filesystem_, StageGuest::Assembly::after_cut));
  const adapters::Stack& stack = *filesystem_.stack;
  const bool thorough = options_.wholly_in_guest && !stack.scrub.argv.empty();
  const adapters::GuestCommand& check = thorough ? stack.scrub : stack.check;
  if (!check.argv.empty()) {
    TRY(const auto checked,
        exec(adapters::fill_in_stack(stack, check.argv, {}, /*after_cut=*/true)));
    if (!check.good(checked.exit_code))
      stack_damage_ = fmt::format("exit code {}: {}", checked.exit_code, checked.output);
  }
  ms(StepKind::load) += watch.ms();
  return {};
}

/// Mounts the state with the adapter's first_mount_options, before any other recovery. If a mount
/// with these options skips recovery, the file system may be inconsistent, so nothing is read from
/// it.
Result<void> StateCheck::mount_first() {
  if (filesystem_.first_mount_options.empty()) return {};
  const base::Stopwatch watch;
  adapters::LinuxAdapter first = filesystem_;
  first.mount_options += (first.mount_options.empty() ? "" : ",") + first.first_mount_options;
  std::string refusal;
  if (first.first_mount_recovers) {
    TRY(auto seen, guest_.inspect(first, {}));
    refusal = seen.first.refusal;
    if (seen.first.mounted) first_tree_ = std::move(seen.tree);
    log(fmt::format("guest: first mount, {}{}\n{}", first.first_mount_options,
                    seen.first.mounted ? "" : " refused", seen.log));
  } else {
    TRY(const auto mounted, guest_.mount(first, &refusal));
    if (mounted) TRY(guest_.unmount());
    log(fmt::format("guest: first mount, {}{}\n", first.first_mount_options,
                    mounted ? "" : " refused"));
  }
  first_refusal_ = refusal;
  ms(StepKind::mount) += watch.ms();
  return {};
}

Result<base::Descriptor> StateCheck::copy_of(model::DeviceId device, Unwritten unwritten) const {
  TRY(const auto image, checker_.run_->image(state_, device));
  return private_copy(image, unwritten);
}

Result<HostCheck> StateCheck::check_copies(double& copy_ms) {
  const base::Stopwatch watch;
  // Without a journal, an inode may refer to an indirect block that has not been written. On a used
  // disk, fsck must then find the previous contents of this block. If the mount replays a journal,
  // sectors that were not recorded can be zeroes, because the replay comes before all other reads.
  TRY(auto copy, copy_of(state_.device, recovery_.mount_replays() ? Unwritten::zeroes
                                                                  : Unwritten::as_on_the_disk));
  if (filesystem_.log_size_bytes == 0) {
    copy_ms = watch.ms();
    replayed_copy_ = std::move(copy);
    return host_check(filesystem_, replayed_copy_);
  }
  const auto& disks = checker_.run_->disks();
  if (disks.size() != 2) return fail(checker_.run_->path(), "is not a recording of two disks");
  const auto log_copy = copy_of(disks[1]);
  copy_ms = watch.ms();
  if (!log_copy) return forward_error(log_copy);
  return host_check(filesystem_, copy, kHostLimit, &*log_copy);
}

/// Replays and checks a copy of the state on the host. Returns false if that is impossible.
bool StateCheck::check_on_host() {
  double copy_ms = 0;
  const auto found = check_copies(copy_ms);
  if (!found) {
    log(fmt::format("not checked on the host: {}\n", found.error().message()));
    return false;
  }
  ms(StepKind::replay) += copy_ms + found->replay_ms;
  ms(StepKind::check) += found->check_ms;
  recovery_.state().replayed = found->replayed;
  recovery_.state().check_found_damage = found->found_damage;
  log(found->log);
  return true;
}

/// Writes the result of the host's fsck to the stage. The guest's fsck would give the same result
/// but take ten times as long. If there is a separate log disk, the guest runs fsck itself.
Result<void> StateCheck::write_replayed_to_stage() {
  if (replayed_copy_.is_open()) {
    const base::Stopwatch watch;
    TRY(const auto image, checker_.run_->image(state_, state_.device));
    const auto put = guest_.change_stage(image, replayed_copy_);
    ms(StepKind::replay) += watch.ms();
    if (put) return {};
    log(fmt::format("the replayed copy could not be written back to the stage: {}\n",
                    put.error().message()));
    TRY(load(false));
  }
  return recovery_.exec(filesystem_.replay, StepKind::replay).map([](const run::GuestOutcome&) {});
}

/// Checks a copy of the stage on the host, after the kernel has replayed the log in the guest.
/// Returns false if the stage cannot be checked on the host.
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
  recovery_.state().check_found_damage = found->found_damage;
  log(found->log);
  return true;
}

/// Returns true if a flag in the superblock says that the log needs a replay. The flag is checked
/// because some kernels do not always report a replay.
bool StateCheck::has_log() const {
  if (filesystem_.replay_sign_at == 0) return false;
  const auto image = checker_.run_->image(state_, state_.device);
  std::array<std::byte, 2 * model::kSectorBytes> sectors{};
  const std::uint64_t lba = filesystem_.replay_sign_at / model::kSectorBytes;
  if (!image || !image->read(lba, sectors)) return false;
  const auto sign = std::span(sectors).subspan(filesystem_.replay_sign_at % model::kSectorBytes, 8);
  return std::ranges::any_of(sign, [](std::byte each) { return each != std::byte{0}; });
}

Result<void> StateCheck::replay_in_guest() {
  const Result<void> replayed = recovery_.replay();
  if (filesystem_.replay_by_mount && has_log()) recovery_.state().replayed = true;
  return replayed;
}

Result<run::RecoveryGuest::MountReplay> StateCheck::replay_by_mount(
    const adapters::LinuxAdapter& filesystem) {
  TRY(auto seen, guest_.inspect(filesystem, {}));
  MountReplay replay{.cycle = seen.first,
                     .verify_ms = seen.verify_ms,
                     .tree = std::nullopt,
                     .log = std::move(seen.log)};
  if (seen.first.mounted) replay.tree = std::move(seen.tree);
  return replay;
}

/// Repairs the file system in the guest. If only the host's copy has been replayed, the stage still
/// holds the original state. In this case, runs the replay command first.
Result<void> StateCheck::repair_in_guest() {
  if (stage_as_cut_ && recovery_.state().check_found_damage && !filesystem_.repair.argv.empty()) {
    stage_as_cut_ = false;
    TRY(recovery_.exec(filesystem_.replay, StepKind::repair));
  }
  return recovery_.repair();
}

/// If the kernel has refused to mount the original state, runs the adapter's replay command and
/// mounts again. Debian does the same at boot. For example, e2fsck restores a torn superblock of
/// ext4 from its backup. The result of the second mount counts, but the verdict records that the
/// replay command was needed.
Result<void> StateCheck::mount_after_replay() {
  if (!stage_as_cut_ || recovery_.state().check_found_damage) return {};
  stage_as_cut_ = false;
  recovery_.state().refused_as_cut = true;
  log("the kernel refused to mount the state; running the replay command first\n");
  TRY(recovery_.exec(filesystem_.replay, StepKind::replay));
  return recovery_.inspect();
}

/// Runs the application's verifier. This is done after the second mount, because the verifier may
/// change the application's files.
Result<void> StateCheck::ask_application() {
  if (checker_.application_ == nullptr || !recovery_.state().mounted) return {};
  const base::Stopwatch watch;
  auto found = run_verifier(guest_, filesystem_, *checker_.application_, outcome_.persisted_texts);
  ms(StepKind::judge) += watch.ms();
  if (!found) return tl::unexpected(found.error());
  outcome_.findings = std::move(found->findings);
  outcome_.permitted = std::move(found->permitted);
  log(fmt::format("{} received {} marks and reported {} problems\n", checker_.application_->name,
                  outcome_.persisted_texts.size(), outcome_.findings.size()));
  if (!outcome_.permitted.empty()) log(fmt::format("permitted: {}\n", outcome_.permitted));
  return {};
}

void StateCheck::judge() {
  const base::Stopwatch watch;
  if (recovery_.state().mounted && checker_.judge_)
    outcome_.findings = checker_.judge_(outcome_.persisted_operation, recovery_.tree());
  if (first_tree_ && checker_.judge_)
    for (oracle::Finding& each : checker_.judge_(outcome_.persisted_operation, *first_tree_)) {
      each.expected += ", also by the first mount";
      outcome_.findings.push_back(std::move(each));
    }
  if (!first_refusal_.empty()) {
    outcome_.findings.push_back(
        {.kind = oracle::Verdict::unmountable,
         .tier = oracle::Tier::integrity,
         .path = ".",
         .expected = "a successful first mount with " + filesystem_.first_mount_options,
         .found = first_refusal_});
  }
  if (!stack_damage_.empty()) {
    outcome_.findings.push_back(
        {.kind = oracle::Verdict::wrong_data,
         .tier = oracle::Tier::integrity,
         .path = ".",
         .expected =
             fmt::format("the check of the stack {} finds no damage", filesystem_.stack->name),
         .found = stack_damage_});
  }
  const auto message = guest_.damage_message();
  if (message && recovery_.state().mounted && !recovery_.state().check_found_damage) {
    outcome_.findings.push_back({.kind = oracle::Verdict::wrong_data,
                                 .tier = oracle::Tier::integrity,
                                 .path = ".",
                                 .expected = "no kernel message about damage, because fsck passed",
                                 .found = *message});
  }
  if (!recovery_.unusable().empty()) {
    outcome_.findings.push_back(
        {.kind = oracle::Verdict::wrong_data,
         .tier = oracle::Tier::integrity,
         .path = ".",
         .expected = "new names can be created, and everything can be removed",
         .found = recovery_.unusable()});
  }
  // Do not report a replay if the first mount has already recovered the state: later mounts have
  // nothing to replay, and the host's fsck replays only a copy that was made before the first
  // mount.
  if (first_tree_) recovery_.state().replayed = false;
  outcome_.judgement = recovery_.judge(outcome_.findings);
  if (!checker_.judges_content() && oracle::keeps_promises(outcome_.judgement.verdict))
    outcome_.judgement.summary = kNotJudged;
  ms(StepKind::judge) += watch.ms();
}

Result<StateChecker> StateChecker::create(const adapters::LinuxAdapter& filesystem,
                                          const RecordedWorkload& workload,
                                          std::shared_ptr<const states::RunHistory> run) {
  StateChecker checker;
  checker.filesystem_ = &filesystem;
  if (workload.application) {
    checker.application_ = std::make_shared<const workload::Application>(*workload.application);
  } else if (workload.judge) {
    checker.judge_ = workload.judge;
    checker.only_content_ = true;
  } else if (!workload.operations.empty()) {
    TRY(auto followed, oracle::Oracle::follow(workload.operations,
                                              {.promises = filesystem.promises,
                                               .failed_operations = workload.failed_operations}));
    checker.judge_ = [oracle = std::make_shared<const oracle::Oracle>(std::move(followed))](
                         std::optional<std::size_t> persisted, const auto& tree) {
      return oracle->judge(persisted, tree);
    };
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
