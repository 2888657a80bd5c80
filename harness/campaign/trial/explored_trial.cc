// Records a workload, explores its crash states and reports its failures (explored_trial.h).
#include "harness/campaign/trial/explored_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "harness/campaign/trial/known_finding.h"
#include "harness/explorer/guests/exploration.h"
#include "harness/explorer/guests/stack_probe.h"
#include "harness/explorer/guests/stack_rules.h"
#include "harness/explorer/reproduce/failure_report.h"
#include "harness/workload/catalogue.h"
#include "plugin/base/stopwatch.h"
#include "plugin/base/wall_clock.h"
#include "plugin/states/run_history.h"

namespace headcrash::campaign {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecording = "workload.hcrec";
/// Folder, among a trial's artefacts, for the trial on the bare disk.
constexpr const char* kBare = "bare";
/// Number of failures of each kind that are minimised in a cell. Further failures are reported
/// without being minimised. Failures of a control are never minimised, because they are expected.
constexpr std::size_t kMinimisedOfKind = 3;
constexpr std::chrono::seconds kMinimise{90}, kOnlyReport{5};
/// Maximum number of failures of each kind to confirm if `describes_failures` is false.
constexpr std::size_t kSeenAgain = 3;

Result<explorer::RecordedWorkload> record(explorer::StageGuest& guest, const ExploredCell& cell,
                                          const explorer::FormattedDisk& disk,
                                          const std::vector<workload::Operation>& operations,
                                          const fs::path& recording,
                                          std::optional<oracle::Judgement>* at_crash = nullptr) {
  const auto record_it = [&] {
    return cell.application ? explorer::record_application(guest, cell.filesystem, disk,
                                                           *cell.application, recording)
                            : explorer::record_workload(guest, cell.filesystem, disk, operations,
                                                        recording, at_crash);
  };
  if (!cell.write_through) return record_it();
  // The mode applies only to the current guest. If load() replaces the guest during the recording,
  // the new guest has the default mode, and the recording must be repeated.
  for (int attempt = 0; attempt < 3; ++attempt) {
    TRY(guest.load({.recording = fs::absolute(disk.recording),
                    .state = disk.state,
                    .faults = guest.machine().faults}));
    TRY(guest.set_write_through(true));
    const std::size_t set_guest = guest.restores();
    auto recorded = record_it();
    const bool replaced = guest.restores() != set_guest;
    if (!replaced) {
      // Reset the mode even if the recording failed, because the next trial uses the same guest. If
      // the reset fails, the guest will be replaced.
      const auto reset = guest.set_write_through(false);
      if (recorded && !reset) return tl::unexpected(reset.error());
    }
    if (!recorded || !replaced) return recorded;
  }
  return fail(ErrorKind::other, "",
              "every guest had to be replaced while its disk was in mode \"write through\"");
}

/// Runs one trial, for which `guest` must not be shared with other trials.
class ExploredTrial {
 public:
  ExploredTrial(const ExplorationContext& context, const TrialPlan& plan, const fs::path& artefacts,
                explorer::StageGuest& guest, std::map<std::string, std::size_t>& minimised)
      : context_(context),
        plan_(plan),
        cell_(*plan.cell),
        artefacts_(artefacts),
        guest_(guest),
        minimised_(minimised) {}

  Result<db::TrialRecord> run(const std::function<void(const std::string&)>& on_phase);

 private:
  Result<std::vector<workload::Operation>> operations() const;
  Result<void> explore_and_tell(const std::vector<workload::Operation>& operations,
                                const std::function<void(const std::string&)>& on_phase);
  /// Probes the stack below the file system, if it has rules, and checks that the rules hold.
  Result<void> probe_stack(const explorer::FormattedDisk& disk);
  /// Checks that the recording obeys the rules of the stack.
  Result<void> check_rules(const fs::path& recording);
  Result<explorer::ExplorationResult> explore(
      const explorer::RecordedWorkload& recorded,
      const std::function<void(const std::string&)>& on_phase);
  /// Returns the expected verdict: that of the file system or, if the file system is expected to be
  /// clean, that of the application. An application may promise less than the file system.
  adapters::Expectation expected() const {
    const bool by_filesystem = cell_.filesystem.expected != adapters::Expectation::clean;
    return by_filesystem || !cell_.application ? cell_.filesystem.expected
                                               : cell_.application->expected;
  }
  void keep_coverage(const explorer::ExplorationResult& result);
  void keep_steps(const explorer::ExplorationResult& result);
  void keep_state(const explorer::StateOutcome& outcome);
  void describe_failure(const explorer::FormattedDisk& disk,
                        const explorer::RecordedWorkload& recorded,
                        const explorer::ConfirmedFailure& failure);
  void judge(const explorer::ExplorationResult& result);
  void judge_rules();
  void keep_artefacts();
  bool has_rules() const { return cell_.filesystem.stack && cell_.filesystem.stack->rules.any(); }
  bool interrupted() const { return context_.interrupted != nullptr && *context_.interrupted; }
  void step(const std::string& name, std::int64_t count, double ms) {
    if (count > 0) record_.steps.push_back({name, count, ms});
  }

  const ExplorationContext& context_;
  const TrialPlan& plan_;
  const ExploredCell& cell_;
  const fs::path& artefacts_;
  explorer::StageGuest& guest_;
  std::map<std::string, std::size_t>& minimised_;
  db::TrialRecord record_;
  bool worth_keeping_ = false;
  /// The judgement of the state that a `crash` operation of the workload left; set only if that
  /// state failed the check.
  std::optional<oracle::Judgement> at_crash_;
  std::vector<explorer::BrokenRule> broken_rules_;
  /// Number of states that lost data as the application's documentation permits.
  std::size_t with_permitted_losses_ = 0;
  double minimise_ms_ = 0;  ///< sum over all failures
};

Result<std::vector<workload::Operation>> ExploredTrial::operations() const {
  if (cell_.application) return std::vector<workload::Operation>{};
  if (!cell_.operations.empty()) return workload::parse_operations(cell_.operations, plan_.key);
  return workload::make_workload({.name = plan_.workload,
                                  .seed = plan_.seed,
                                  .rounds = static_cast<std::uint32_t>(cell_.rounds),
                                  .trial = plan_.number});
}

Result<db::TrialRecord> ExploredTrial::run(
    const std::function<void(const std::string&)>& on_phase) {
  const base::Stopwatch watch;
  TRY(const auto list, operations());
  guest_.set_machine(cell_.machine);
  record_.key = plan_.key;
  record_.filesystem = cell_.filesystem.name;
  record_.device = "stage";
  record_.workload = cell_.workload;
  record_.seed = static_cast<std::int64_t>(plan_.seed);
  record_.clock = "off";
  record_.cut = "every state";
  record_.expected = adapters::name(expected());
  if (cell_.control) record_.control = std::string(name(*cell_.control));
  record_.variant = variant(cell_);
  record_.started_at = base::now_utc();
  record_.operations = static_cast<std::int64_t>(list.size());
  const auto done = explore_and_tell(list, on_phase);
  if (interrupted()) return fail(plan_.key, "interrupted");
  if (!done) {
    const oracle::Judgement judgement = at_crash_ ? *at_crash_ : oracle::judgement_of(done.error());
    record_.verdict = oracle::name(judgement.verdict);
    record_.summary = judgement.summary;
    worth_keeping_ = true;
  }
  judge_rules();
  if (done && (!cell_.control || *cell_.control == Control::keep ||
               *cell_.control == Control::keep_after_fsck))
    record_.known = explained_by(cell_.known, record_);
  keep_artefacts();
  record_.wall_ms = watch.ms();
  return std::move(record_);
}

Result<void> ExploredTrial::explore_and_tell(
    const std::vector<workload::Operation>& operations,
    const std::function<void(const std::string&)>& on_phase) {
  base::Stopwatch watch;
  on_phase("format");
  TRY(auto disk, context_.disks->get(cell_, context_.campaign->seed, guest_));
  disk.options.delay_us = static_cast<std::uint32_t>(context_.campaign->explore->answer_delay_us);
  disk.options.slow = context_.campaign->explore->slow;
  disk.options.slow_us = static_cast<std::uint32_t>(context_.campaign->explore->slow_us);
  disk.options.seed = plan_.seed;
  step("format", 1, watch.lap());
  if (has_rules()) {
    on_phase("probe");
    TRY(probe_stack(disk));
    step("probe", 1, watch.lap());
  }
  on_phase("record");
  TRY(const auto recorded,
      record(guest_, cell_, disk, operations, artefacts_ / kRecording, &at_crash_));
  step("record", 1, watch.ms());
  if (recorded.failure) return run::stop(ErrorKind::workload, *recorded.failure);
  if (has_rules()) TRY(check_rules(recorded.recording));
  TRY(const auto result, explore(recorded, on_phase));
  keep_coverage(result);
  keep_steps(result);
  if (interrupted()) return {};
  watch.lap();
  for (const explorer::ConfirmedFailure& failure : result.failures) {
    on_phase(fmt::format("describing {} failures; current: {}", result.failures.size(),
                         failure.outcome.full_name()));
    describe_failure(disk, recorded, failure);
    if (interrupted()) return {};
  }
  const auto failures = static_cast<std::int64_t>(result.failures.size());
  step("minimise", failures, minimise_ms_);
  step("tell failures", failures, watch.ms() - minimise_ms_);
  judge(result);
  return {};
}

Result<void> ExploredTrial::probe_stack(const explorer::FormattedDisk& disk) {
  const fs::path recording = artefacts_ / explorer::kProbeName;
  TRY(explorer::record_stack_probe(guest_, cell_.filesystem, disk, recording));
  return check_rules(recording);
}

Result<void> ExploredTrial::check_rules(const fs::path& recording) {
  TRY(const auto broken, explorer::check_stack_rules(recording, cell_.filesystem.stack->rules));
  for (const explorer::BrokenRule& each : broken)
    record_.findings.push_back({std::string(oracle::name(oracle::Verdict::broken_rule)),
                                std::string(oracle::name(oracle::Tier::documented)), each.disk,
                                each.rule, each.text});
  broken_rules_.insert(broken_rules_.end(), broken.begin(), broken.end());
  return {};
}

Result<explorer::ExplorationResult> ExploredTrial::explore(
    const explorer::RecordedWorkload& recorded,
    const std::function<void(const std::string&)>& on_phase) {
  const Exploration& settings = *context_.campaign->explore;
  explorer::ExplorationOptions options;
  for (const std::string& word : cell_.strategies) {
    TRY(const auto strategy, states::parse_strategy(word));
    options.explore.strategies.push_back(strategy);
  }
  options.explore.seed = plan_.seed;
  options.explore.budget = static_cast<std::uint64_t>(cell_.budget);
  options.explore.reorder_per_cut = static_cast<std::uint64_t>(settings.reorder_per_cut);
  options.explore.atomic_sectors =
      static_cast<std::uint32_t>(settings.atomic_write_bytes / model::kSectorBytes);
  options.in_guest_share = settings.in_guest_share;
  options.failures_confirmed = static_cast<std::size_t>(settings.confirm);
  if (!context_.describes_failures)
    options.failures_confirmed = std::min(options.failures_confirmed, kSeenAgain);
  options.interrupted = context_.interrupted;
  options.on_state = [&](const explorer::StateOutcome& outcome) {
    keep_state(outcome);
    if (record_.states.size() % 20 == 1) on_phase(fmt::format("{} states", record_.states.size()));
  };
  const std::vector<explorer::StageGuest*> guests{&guest_};
  TRY(auto result, explorer::explore(guests, cell_.filesystem, recorded, options));
  return result;
}

void ExploredTrial::keep_state(const explorer::StateOutcome& outcome) {
  db::CrashStateRecord state;
  state.name = outcome.full_name();
  state.strategy = states::name(outcome.strategy);
  state.digest = outcome.digest;
  if (outcome.persisted_operation)
    state.persisted_operation = static_cast<std::int64_t>(*outcome.persisted_operation);
  state.verdict = oracle::name(outcome.judgement.verdict);
  if (!oracle::keeps_promises(outcome.judgement.verdict) || outcome.recovery.refused_as_cut)
    state.summary = outcome.judgement.summary;
  if (state.summary.empty() && !outcome.permitted.empty()) {
    state.summary = "permitted: " + outcome.permitted;
    ++with_permitted_losses_;
  }
  state.in_guest = outcome.in_guest_only;
  state.wall_ms = outcome.wall_ms;
  for (const oracle::Finding& finding : outcome.findings) {
    state.findings.push_back({std::string(oracle::name(finding.kind)),
                              std::string(oracle::name(finding.tier)), finding.path,
                              finding.expected, finding.found});
  }
  record_.states.push_back(std::move(state));
}

void ExploredTrial::keep_coverage(const explorer::ExplorationResult& result) {
  for (const states::Coverage& part : result.coverage) {
    const std::string strategy(states::name(part.strategy));
    record_.coverage.push_back(
        {.strategy = strategy,
         .space = part.space,
         .generated = static_cast<std::int64_t>(part.generated),
         .distinct_states = static_cast<std::int64_t>(part.distinct),
         .checked = std::ranges::count(record_.states, strategy, &db::CrashStateRecord::strategy),
         .bound = part.bound});
  }
}

void ExploredTrial::keep_steps(const explorer::ExplorationResult& result) {
  const auto checked = static_cast<std::int64_t>(result.checked);
  std::int64_t generated = 0;
  for (const states::Coverage& part : result.coverage)
    generated += static_cast<std::int64_t>(part.generated);
  step("generate", generated, result.generate_ms);
  double known_ms = result.generate_ms;
  for (std::size_t i = 0; i < explorer::kStepKinds; ++i) {
    step(std::string(explorer::name(static_cast<explorer::StepKind>(i))), checked,
         result.step_ms.at(i));
    known_ms += result.step_ms.at(i);
  }
  step("confirm", static_cast<std::int64_t>(result.sampled + result.failures.size()),
       std::max(0.0, result.wall_ms - known_ms));
}

void ExploredTrial::describe_failure(const explorer::FormattedDisk& disk,
                                     const explorer::RecordedWorkload& recorded,
                                     const explorer::ConfirmedFailure& failure) {
  worth_keeping_ = true;
  const auto state =
      std::ranges::find(record_.states, failure.outcome.full_name(), &db::CrashStateRecord::name);
  if (state == record_.states.end()) return;
  db::FailureRecord entry{.confirmed = failure.confirmed, .disagreement = failure.disagreement};
  entry.replay = fmt::format("headcrash replay {} --state {}", plan_.key, state->name);
  entry.account = failure.outcome.judgement.summary;
  entry.tier = failure.outcome.findings.empty()
                   ? oracle::name(oracle::Tier::integrity)
                   : oracle::name(failure.outcome.findings.front().tier);
  if (failure.confirmed && context_.describes_failures) {
    const std::string kind = cell_name(cell_) + " " + state->verdict + " " + entry.tier;
    const bool make_small = !cell_.control && minimised_[kind]++ < kMinimisedOfKind;
    explorer::ReportOptions options{.recordings = artefacts_,
                                    .replay = "headcrash replay " + plan_.key,
                                    .limit = kOnlyReport,
                                    .state_checks = 0,
                                    .interrupted = context_.interrupted};
    if (make_small) {
      options.limit = kMinimise;
      options.state_checks = explorer::ReportOptions{}.state_checks;
      if (context_.campaign->explore->minimise_operations) {
        options.record = [&](explorer::StageGuest& guest,
                             const std::vector<workload::Operation>& operations,
                             const fs::path& recording) {
          return record(guest, cell_, disk, operations, recording);
        };
      }
    }
    const auto report =
        explorer::report_failure(guest_, cell_.filesystem, recorded, failure, options);
    if (report) {
      minimise_ms_ += report->minimise_ms;
      entry = {.confirmed = report->confirmed,
               .disagreement = report->disagreement,
               .tier = report->tier,
               .operations = report->operations,
               .minimised_state = report->minimised_state,
               .account = report->account,
               .replay = report->replay};
    } else {
      entry.account += "\n(cannot write a description: " + report.error().message() + ")";
    }
  }
  state->failure = std::move(entry);
}

/// Sets the trial's verdict. If a failure was confirmed, the verdict is that of the worst confirmed
/// failure. Otherwise, if a state could not be checked or a failure did not recur, the verdict is
/// harness_error, and the summary quotes the first such case.
void ExploredTrial::judge(const explorer::ExplorationResult& result) {
  const oracle::Judgement* worst = nullptr;
  const oracle::Judgement* undone = nullptr;
  std::string differed;
  std::size_t unchecked = 0, unconfirmed = 0;
  for (const explorer::ConfirmedFailure& failure : result.failures) {
    const auto state =
        std::ranges::find(record_.states, failure.outcome.full_name(), &db::CrashStateRecord::name);
    const bool again = state != record_.states.end() && state->failure && state->failure->confirmed;
    const oracle::Judgement& judgement = failure.outcome.judgement;
    if (again && (worst == nullptr || judgement.verdict > worst->verdict)) worst = &judgement;
    if (again) continue;
    const bool done = judgement.verdict != oracle::Verdict::harness_error;
    ++(done ? unconfirmed : unchecked);
    if (!done && undone == nullptr) undone = &judgement;
    if (done && differed.empty() && state != record_.states.end() && state->failure)
      differed = state->failure->disagreement;
  }
  const std::string of = fmt::format("{} states", result.checked);
  if (worst != nullptr) {
    record_.verdict = oracle::name(worst->verdict);
    record_.summary = fmt::format("{} of {} failed; the worst: {}", result.checked - result.clean,
                                  of, worst->summary);
  } else if (undone != nullptr) {
    record_.verdict = oracle::name(oracle::Verdict::harness_error);
    record_.summary =
        fmt::format("{} of {} could not be checked: {}", unchecked, of, undone->summary);
  } else if (unconfirmed > 0) {
    record_.verdict = oracle::name(oracle::Verdict::harness_error);
    record_.summary = fmt::format("{} of {} failed once, but not on a fresh guest{}{}", unconfirmed,
                                  of, differed.empty() ? "" : ": ", differed);
  } else if (result.checked == 0) {
    record_.verdict = oracle::name(oracle::Verdict::harness_error);
    record_.summary = "there was no state to check";
  } else {
    const bool replayed =
        std::ranges::any_of(record_.states, [](const db::CrashStateRecord& state) {
          return oracle::verdict_named(state.verdict) == oracle::Verdict::replayed;
        });
    record_.verdict = oracle::name(replayed ? oracle::Verdict::replayed : oracle::Verdict::clean);
    record_.summary = fmt::format("all promised data exists in all {}", of);
    if (with_permitted_losses_ > 0)
      record_.summary +=
          fmt::format("; {} of them lost acknowledged data, as the documentation permits",
                      with_permitted_losses_);
  }
}

/// Changes the verdict if rules of the stack were broken. A broken rule outweighs even a harness
/// error, because such an error concerns only a single state.
void ExploredTrial::judge_rules() {
  if (broken_rules_.empty()) return;
  worth_keeping_ = true;
  const explorer::BrokenRule& first = broken_rules_.front();
  record_.cause = fmt::format("the stack {} broke the rule {} on {}", cell_.filesystem.stack->name,
                              first.rule, first.disk);
  const std::string text = fmt::format("{}: {}", record_.cause, first.text);
  const oracle::Verdict verdict = oracle::verdict_named(record_.verdict);
  if (verdict > oracle::Verdict::broken_rule && verdict != oracle::Verdict::harness_error) {
    record_.summary += "; " + text;
    return;
  }
  record_.verdict = oracle::name(oracle::Verdict::broken_rule);
  record_.summary = fmt::format("{}; {}", text, record_.summary);
}

void ExploredTrial::keep_artefacts() {
  std::error_code error;
  if (!worth_keeping_ && !context_.campaign->explore->keep) {
    fs::remove_all(artefacts_, error);
    return;
  }
  const fs::path recording = artefacts_ / kRecording;
  for (const auto& [kind, path] :
       {std::pair{"recording", recording}, std::pair{"probe", artefacts_ / explorer::kProbeName},
        std::pair{"workload", explorer::operations_file(recording)}}) {
    const auto bytes = fs::file_size(path, error);
    if (error) continue;
    record_.artefacts.push_back({kind, fs::relative(path, context_.database_folder, error),
                                 static_cast<std::int64_t>(bytes)});
  }
  for (int number = 1;; ++number) {
    const fs::path leg = explorer::leg_recording(recording, number);
    const auto bytes = fs::file_size(leg, error);
    if (error) break;
    record_.artefacts.push_back({fmt::format("leg-{}", number),
                                 fs::relative(leg, context_.database_folder, error),
                                 static_cast<std::int64_t>(bytes)});
  }
  if (fs::is_empty(artefacts_, error)) fs::remove(artefacts_, error);
}

}  // namespace

Result<explorer::FormattedDisk> FormattedDisks::get(const ExploredCell& cell,
                                                    std::uint64_t uuid_seed,
                                                    explorer::StageGuest& guest) {
  // Strategies and faults do not affect mkfs, so cells that differ only in strategies or faults
  // share one disk.
  const std::string called = cell.filesystem.name + (cell.prefill ? "" : "+new-disk") +
                             (cell.machine.is_array() ? "." + cell.machine.name() : "");
  Disk* disk = nullptr;
  {
    const std::lock_guard lock(mutex_);
    disk = &disks_[called];
  }
  const std::lock_guard lock(disk->mutex);
  if (disk->disk) return *disk->disk;
  auto made = make(cell, called, uuid_seed, guest);
  // Do not run mkfs again after a success or a harness error, such as a missing command. Other
  // failures, such as a hang, may have been caused by the host, so try again.
  if (made || oracle::verdict_of(made.error().kind) == oracle::Verdict::harness_error)
    disk->disk = made;
  return made;
}

Result<explorer::FormattedDisk> FormattedDisks::make(const ExploredCell& cell,
                                                     const std::string& called,
                                                     std::uint64_t uuid_seed,
                                                     explorer::StageGuest& guest) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return fail(folder_.string(), error.message(), "make the database's folder writable");
  const fs::path recording = folder_ / (called + ".hcrec");
  const explorer::DiskOptions options{.used = cell.prefill};
  if (fs::exists(recording, error)) {  // an interrupted run has created it
    const auto run = states::RunHistory::load(recording);
    if (run && !(*run)->tail_error())
      return explorer::formatted_disk(recording, (*run)->events(), cell.machine, options);
  }
  // Give the recording a temporary name until it is complete, because other recordings refer to it
  // by its final name.
  const fs::path draft = fs::path(recording).replace_extension(".new.hcrec");
  auto made =
      explorer::format_disk(guest, cell.filesystem, draft, explorer::uuid_from(uuid_seed), options);
  if (!made) return made;
  fs::rename(draft, recording, error);
  if (error) return fail(recording.string(), error.message());
  made->recording = recording;
  return made;
}

/// Starts a new server and guest unless the current ones can be used. They cannot if the server has
/// died, or if the file system needs another kernel or other disks.
Result<void> ExplorationWorker::make_ready(const vm::GuestImage& image, std::uint64_t disk_bytes,
                                           const std::vector<adapters::OtherDisk>& others) {
  if (pool_ && pool_->server().alive() && image_key_ == image.key && others_ == others &&
      disk_bytes_ == disk_bytes)
    return {};
  pool_.reset();
  TRY(auto pool, explorer::GuestPool::start(
                     1, {.image = image,
                         .accelerator = context_.accelerator,
                         .memory_mib = static_cast<std::uint32_t>(context_.campaign->memory_mib),
                         .disk_bytes = disk_bytes,
                         .others = others,
                         .cache = context_.cache,
                         .step_timeout = std::chrono::seconds(context_.campaign->step_timeout_s),
                         .interrupted = context_.interrupted}));
  pool_ = std::move(pool);
  image_key_ = image.key;
  others_ = others;
  disk_bytes_ = disk_bytes;
  return {};
}

/// Returns in words whether the stack or what is above or below it caused the failure of a trial.
/// Explores the same workload with the same options on a disk without the stack.
Result<std::string> ExplorationWorker::attribute(
    const TrialPlan& plan, const fs::path& artefacts,
    const std::function<void(const std::string& phase)>& on_phase) {
  const adapters::LinuxAdapter& filesystem = *plan.filesystem;
  ExploredCell cell = *plan.cell;
  TRY(cell.filesystem, adapters::load_adapter(adapters::name_without_stack(filesystem)));
  cell.known.clear();
  TrialPlan bare = plan;
  bare.cell = &cell;
  bare.filesystem = &cell.filesystem;
  TRY(make_ready(context_.images->at(guest_of(filesystem)),
                 context_.campaign->size_bytes * filesystem.stack->data_disks,
                 cell.filesystem.other_disks(context_.campaign->size_bytes)));
  const fs::path folder = artefacts / kBare;
  std::error_code error;
  fs::create_directories(folder, error);
  // The size of the bare disk depends on the stack, so trials cannot share the formatted disk.
  FormattedDisks disks(folder);
  ExplorationContext context = context_;
  context.disks = &disks;
  context.describes_failures = false;
  const auto record = ExploredTrial(context, bare, folder, pool_->guest(0), minimised_)
                          .run([&](const std::string& phase) { on_phase("bare disk: " + phase); });
  fs::remove_all(folder, error);
  if (!record) return tl::unexpected(record.error());
  const oracle::Verdict verdict = oracle::verdict_named(record->verdict);
  if (verdict >= oracle::Verdict::workload_failed)
    return fmt::format("unknown: on the bare disk, {}", record->summary);
  const bool kept = oracle::keeps_promises(verdict);
  return fmt::format("{}: on the bare disk, the same workload {} ({} states)",
                     kept ? "the stack " + filesystem.stack->name : "the file system or the disks",
                     kept ? "keeps everything" : "also fails", record->states.size());
}

Result<db::TrialRecord> ExplorationWorker::run(
    const TrialPlan& plan, const fs::path& artefacts,
    const std::function<void(const std::string& phase)>& on_phase) {
  TRY(make_ready(context_.images->at(guest_of(*plan.filesystem)), context_.campaign->size_bytes,
                 plan.filesystem->other_disks(context_.campaign->size_bytes)));
  TRY(auto record,
      ExploredTrial(context_, plan, artefacts, pool_->guest(0), minimised_).run(on_phase));
  const oracle::Verdict verdict = oracle::verdict_named(record.verdict);
  const bool failed =
      !oracle::keeps_promises(verdict) && verdict < oracle::Verdict::workload_failed;
  if (!failed || record.states.empty() || !plan.filesystem->stack || !record.cause.empty() ||
      plan.cell->control == Control::lose)
    return record;
  const auto cause = attribute(plan, artefacts, on_phase);
  record.cause = cause ? *cause : "unknown: " + cause.error().message();
  return record;
}

}  // namespace headcrash::campaign
