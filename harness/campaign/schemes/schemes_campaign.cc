// Plans the trials from the campaign's name, and runs them one after the other
// (schemes_campaign.h).
#include "harness/campaign/schemes/schemes_campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/explorer/in_process/confirm.h"
#include "harness/explorer/in_process/disk_explorers.h"
#include "harness/explorer/in_process/io_errors.h"
#include "harness/explorer/in_process/minimise_history.h"
#include "harness/explorer/in_process/search_schedules.h"
#include "harness/run/text_hash.h"
#include "plugin/base/scratch_folder.h"
#include "plugin/base/stopwatch.h"
#include "plugin/base/wall_clock.h"

namespace headcrash::campaign {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReportEvery = 500;  // number of trials between two progress reports
constexpr std::size_t kFailuresKept = 20;
// Maximum number of failures to store for each trial of a control. One failure would be enough to
// show that the control was detected.
constexpr std::size_t kFailuresOfControls = 3;
constexpr std::uint64_t kStatesWithFaults = 150;
/// The limit is low, because other runs of the same operations already check most of these states.
constexpr std::uint64_t kStatesUnderASchedule = 100;
/// Number of additional random schedules of a shared history. The crash states of these runs are
/// not checked.
constexpr std::size_t kSchedulesWithoutStates = 8;
/// Sizes of the buffer cache in bytes. The smallest is so small that buffers are evicted even with
/// a small disk.
constexpr std::array<std::uint64_t, 3> kCacheBytes{4 << 20, 512 << 10, 192 << 10};
/// Limits on the number of states of a run whose final image is damaged. For most systems the limit
/// is low, because other workloads already check these states. It is higher for controls, because
/// the damage must still be detected.
constexpr std::uint64_t kStatesWithDamage = 10, kStatesOfDamagedControls = 300;
constexpr std::uint64_t kDamagedImages = 100;        // per run
constexpr std::uint64_t kSeedsMost = 1'000'000'000;  // a limit that keeps seeds readable

using SchemeTrial = SchemesPlan::Trial;

class SchemesRun {
 public:
  SchemesRun(const SchemesCampaign& campaign, const CampaignOptions& options,
             db::Database& database, const run::StoredRun& run, const fs::path& scratch)
      : campaign_(campaign),
        options_(options),
        database_(database),
        run_(run),
        explorers_(scratch),
        scratch_(scratch) {}

  Result<void> trial(const SchemeTrial& trial, CampaignProgress& progress) {
    const base::Stopwatch watch;
    TRY(const auto workload, parse_schemes_workload(trial.workload));
    TRY(const auto operations, workload.operations());
    TRY(const auto disk, explorers_.get(workload.disk, *trial.system));
    TRY(auto run, run_options(trial, workload, disk->formatted));
    in_process::ExplorationOptions how{.budget = budget(trial, workload),
                                       .run = std::move(run),
                                       .failures_kept = failures_kept(trial),
                                       .interrupted = options_.interrupted,
                                       .contradicted = &contradicted_};
    if (workload.damage)
      how.damage = {.seed = run::hash_text(trial.key(), campaign_.seed) % kSeedsMost,
                    .images = kDamagedImages};
    auto explored = disk->explorer.explore(*trial.system, operations, how, scratch_ / "run.hcrec");
    if (!explored && workload.damage)
      return fail(fmt::format("{}/{}/{}: {}", campaign_.name(), trial.system->name(),
                              trial.workload, explored.error().subject),
                  explored.error().problem, explored.error().hint);
    if (!explored) return forward_error(explored);
    if (options_.interrupted != nullptr && *options_.interrupted) return {};
    const base::Stopwatch again;
    // Controls are expected to fail, so their failures are not minimised.
    const auto minimise =
        trial.system->control() ? in_process::Minimise::none : in_process::Minimise::first;
    TRY(in_process::confirm_failures(disk->formatted, *trial.system, operations, how,
                                     scratch_ / "again.hcrec", minimise, *explored));
    confirm_ms_ = again.ms();
    faults_ = workload.faults ? faults_of(workload, how.run, operations, *explored) : Faults{};
    if (workload.shares_names())
      TRY(search(trial, workload, disk->formatted, operations, how.run, *explored));
    db::TrialRecord record = row(trial, *explored);
    record.operations = static_cast<std::int64_t>(operations.size());
    record.wall_ms = watch.ms();
    TRY(database_.record_trial(run_.id, record));
    ++progress.done;
    progress.running = record.key;
    progress.trial = &record;
    const bool failed = !trial.system->control() && !oracle::keeps_promises(worst_);
    if (options_.on_progress && (failed || progress.done % kReportEvery == 0))
      options_.on_progress(progress);
    progress.trial = nullptr;
    failed_ = failed_ || failed;
    caught_ = caught_ || (trial.system->control() && !oracle::keeps_promises(worst_));
    return {};
  }

  bool contradicted() const { return contradicted_; }

  /// Returns true if further trials cannot change the campaign's result. This is so if a scheme has
  /// failed, or if the only scheme is a control whose fault has been detected.
  bool known() const {
    return failed_ || (caught_ && !campaign_.scheme.empty() &&
                       campaign_.scheme.find(',') == std::string::npos);
  }

 private:
  std::size_t failures_kept(const SchemeTrial& trial) const {
    if (options_.stop_at_first) return 1;
    return trial.system->control() ? kFailuresOfControls : kFailuresKept;
  }

  std::uint64_t budget(const SchemeTrial& trial, const SchemesWorkload& workload) const {
    std::uint64_t most = campaign_.budget;
    if (workload.schedule != 0 || workload.enumerated) most = kStatesUnderASchedule;
    if (workload.faults) most = kStatesWithFaults;
    if (workload.damage)
      most = trial.system->control() ? kStatesOfDamagedControls : kStatesWithDamage;
    return std::min(campaign_.budget, most);
  }

  /// Returns the options of a run. The pauses between operations are the same in all elevator runs,
  /// but differ between runs with a random order.
  Result<in_process::RunOptions> run_options(const SchemeTrial& trial,
                                             const SchemesWorkload& workload,
                                             const in_process::FormattedDisk& formatted) const {
    in_process::RunOptions run{
        .seed =
            workload.order == 0 ? campaign_.seed : run::hash_text(trial.workload, campaign_.seed),
        .cache_bytes = kCacheBytes.at(run::hash_text(trial.workload, campaign_.seed) % 3),
        .order = workload.order,
        .unmount = workload.damage.has_value(),
        .schedule = workload.schedule,
        .shared_names = workload.shares_names()};
    if (workload.shares_names()) run.pause_ns_max = 0;  // users overlap
    if (!workload.faults) return run;
    TRY(auto faults, in_process::draw_faults(formatted, *workload.faults));
    run.faults = std::move(faults);
    return run;
  }

  /// Runs a shared history under more schedules, and minimises a failure.
  Result<void> search(const SchemeTrial& trial, const SchemesWorkload& workload,
                      const in_process::FormattedDisk& formatted,
                      std::span<const workload::Operation> operations,
                      const in_process::RunOptions& run,
                      in_process::ExplorationResult& explored) const {
    const fs::path recording = scratch_ / "again.hcrec";
    std::optional<in_process::RunOptions> failed;
    if (explored.run.failure) {
      failed = run;
    } else {
      in_process::StateDisk disk(formatted);
      TRY(const auto searched,
          in_process::search_schedules(
              formatted, disk, *trial.system, operations, run,
              {.deviations = workload.enumerated ? 1U : 0U, .random = kSchedulesWithoutStates},
              recording));
      explored.run.failure = searched.failure;
      failed = searched.failed_run;
    }
    if (!failed) return {};
    TRY(const auto minimised,
        in_process::minimise_history(formatted, *trial.system, operations, *failed, recording));
    explored.run.failure = minimised.text();
    return {};
  }

  /// The faults and the operations of a failed trial, as text.
  struct Faults {
    std::string summary, operations;
  };
  static Faults faults_of(const SchemesWorkload& workload, const in_process::RunOptions& run,
                          std::span<const workload::Operation> operations,
                          const in_process::ExplorationResult& explored) {
    const in_process::MetFaults& met = explored.run.met;
    Faults faults{.summary = fmt::format(
                      "; faults of seed {}: {}; {} requests and {} syncs failed, {}",
                      *workload.faults, in_process::format(run.faults), met.failed_requests,
                      met.failed_syncs,
                      met.ended_by.empty() ? "no other operation failed" : "then " + met.ended_by)};
    faults.operations = "; operations:";
    for (const workload::Operation& one : operations.first(explored.run.executed))
      faults.operations += "\n" + workload::format(one);
    return faults;
  }

  db::TrialRecord row(const SchemeTrial& trial, const in_process::ExplorationResult& explored) {
    db::TrialRecord record{.key = trial.key(),
                           .filesystem = trial.system->full_name(),
                           .device = "stage",
                           .workload = trial.workload.substr(0, trial.workload.find('/')),
                           .seed = static_cast<std::int64_t>(campaign_.seed),
                           .clock = "virtual",
                           .cut = "every state",
                           .expected = "clean"};
    if (trial.system->control()) record.control = "damage";
    record.started_at = base::now_utc();
    judge(explored, record);
    for (const in_process::StrategyCoverage& part : explored.coverage)
      record.coverage.push_back({.strategy = std::string(states::name(part.found.strategy)),
                                 .space = part.found.space,
                                 .generated = static_cast<std::int64_t>(part.found.generated),
                                 .distinct_states = static_cast<std::int64_t>(part.found.distinct),
                                 .checked = static_cast<std::int64_t>(part.checked),
                                 .bound = bound_of(part)});
    for (const adapters::Counter& counter : explored.recovery) {
      const auto count = static_cast<std::int64_t>(counter.value);
      record.coverage.push_back(
          {.strategy = std::string(kOtherRecovery) + std::string(counter.name),
           .space = static_cast<double>(count),
           .generated = count,
           .distinct_states = count,
           .checked = count});
    }
    const auto damaged = static_cast<std::int64_t>(explored.damage.damaged + explored.damage.cut);
    if (damaged > 0)
      record.coverage.push_back({.strategy = "damage",
                                 .space = 0x1p64,  // seeds
                                 .generated = damaged,
                                 .distinct_states = damaged,
                                 .checked = damaged,
                                 .bound = "drawn from a seed"});
    const auto checked = static_cast<std::int64_t>(explored.checked);
    record.steps.push_back({"record", 1, explored.record_ms});
    record.steps.push_back({"load", 1, explored.load_ms});
    if (damaged > 0) record.steps.push_back({"damage", damaged, explored.damage_ms});
    if (!explored.failures.empty())
      record.steps.push_back(
          {"confirm", static_cast<std::int64_t>(explored.failures.size()), confirm_ms_});
    for (std::size_t i = 0; i < in_process::kStepKinds; ++i)
      record.steps.push_back({std::string(in_process::name(static_cast<in_process::StepKind>(i))),
                              checked, explored.step_ms.at(i)});
    for (const in_process::ExploredState& failure : explored.failures)
      record.states.push_back(state(trial, failure));
    return record;
  }

  /// Returns the reason why the coverage of a strategy is incomplete. It includes the number of
  /// generated states that the driver's rules forbid, if there are any.
  static std::string bound_of(const in_process::StrategyCoverage& part) {
    if (part.forbidden == 0) return part.found.bound;
    return fmt::format("{}{}the driver's rules forbid {} states", part.found.bound,
                       part.found.bound.empty() ? "" : "; ", part.forbidden);
  }

  void judge(const in_process::ExplorationResult& explored, db::TrialRecord& record) {
    worst_ = oracle::Verdict::clean;
    if (explored.run.failure || explored.checked == 0) {
      worst_ =
          explored.run.failure ? oracle::Verdict::workload_failed : oracle::Verdict::harness_error;
      record.summary = explored.run.failure
                           ? "the workload failed before any cut: " + *explored.run.failure
                           : "there was no state to check";
      if (explored.run.failure) record.summary += faults_.summary + faults_.operations;
    } else {
      worst_ = explored.verdicts.rbegin()->first;
      record.summary = fmt::format(
          "{} of {} checked states keep the rules; the driver's rules forbid {} more states{}",
          explored.clean, explored.checked, explored.forbidden, faults_.summary);
      for (std::size_t i = 0; i < explored.recovery.size(); ++i)
        record.summary += fmt::format("{}{} {}", i == 0 ? "; by the alternative recovery: " : ", ",
                                      explored.recovery[i].value, explored.recovery[i].name);
      const adapters::DamageCounts& damage = explored.damage;
      if (damage.damaged > 0)
        record.summary += fmt::format(
            "; fsck repaired {} damaged images and repeated {} interrupted repairs; for lack of "
            "space, it repaired {} images only in part",
            damage.damaged, damage.cut, damage.left);
    }
    record.verdict = oracle::name(worst_);
  }

  db::CrashStateRecord state(const SchemeTrial& trial,
                             const in_process::ExploredState& failure) const {
    const in_process::StateOutcome& outcome = failure.outcome;
    db::CrashStateRecord record{.name = failure.state,
                                .strategy = std::string(states::name(failure.strategy)),
                                .digest = failure.digest,
                                .verdict = std::string(oracle::name(outcome.judgement.verdict)),
                                .summary = outcome.judgement.summary,
                                .wall_ms = failure.wall_ms};
    if (outcome.persisted)
      record.persisted_operation = static_cast<std::int64_t>(*outcome.persisted);
    for (const oracle::Finding& finding : outcome.findings)
      record.findings.push_back({std::string(oracle::name(finding.kind)),
                                 std::string(oracle::name(finding.tier)), finding.path,
                                 finding.expected, finding.found});
    record.failure = db::FailureRecord{
        .confirmed = failure.confirmed,
        .disagreement = failure.disagreement,
        .tier = std::string(oracle::name(outcome.findings.empty() ? oracle::Tier::integrity
                                                                  : outcome.findings.front().tier)),
        .minimised_state = failure.minimised_state,
        .account = outcome.judgement.summary + faults_.summary + faults_.operations,
        .replay = fmt::format("headcrash campaign {}/{}/{}", campaign_.name(), trial.system->name(),
                              trial.workload)};
    return record;
  }

  const SchemesCampaign& campaign_;
  bool contradicted_ = false;
  const CampaignOptions& options_;
  db::Database& database_;
  const run::StoredRun& run_;
  in_process::DiskExplorers explorers_;
  fs::path scratch_;
  double confirm_ms_ = 0;
  Faults faults_;  ///< faults of the current trial
  oracle::Verdict worst_ = oracle::Verdict::clean;
  bool failed_ = false, caught_ = false;
};

}  // namespace

Result<CampaignOutcome> run_schemes_campaign(const SchemesCampaign& campaign,
                                             const CampaignOptions& options) {
  TRY(const auto plan, SchemesPlan::create(campaign, options.shard));
  TRY(auto database, db::Database::open(options.database, db::Database::Access::read_write));
  // "five" is the version of the plan. It is part of the configuration, so --resume does not
  // continue a run of another version.
  const std::string configuration =
      fmt::format("{} five {} {} seq2={} seed={} budget={}", campaign.name(), campaign.scheme,
                  campaign.workload, campaign.seq2_workloads, campaign.seed, campaign.budget);
  TRY(const auto run, run::open_run(database, {.kind = "campaign",
                                               .name = campaign.name(),
                                               .configuration = configuration,
                                               .seed = campaign.seed,
                                               .digest = configuration,
                                               .shard = options.shard,
                                               .trials = plan.size(),
                                               .resume = options.resume,
                                               .redo_errors = options.redo_errors}));
  if (run.finished_before)
    return CampaignOutcome{
        .run = run.id, .planned = plan.size(), .done_before = plan.size(), .finished_before = true};
  TRY(const auto scratch, base::ScratchFolder::make());
  SchemesRun runner(campaign, options, database, run, scratch.path());
  CampaignOutcome outcome{.run = run.id, .planned = plan.size()};
  CampaignProgress progress{.planned = plan.size()};
  for (std::uint64_t number = 0; number < plan.size(); ++number) {
    const SchemeTrial trial = plan.at(number);
    if (run.finished.contains(trial.key())) {
      ++outcome.done_before;
      ++progress.done;
      continue;
    }
    if (const auto done = runner.trial(trial, progress); !done) {
      if (!runner.contradicted()) return forward_error(done);
      outcome.contradiction = done.error();
      return outcome;
    }
    outcome.interrupted = options.interrupted != nullptr && *options.interrupted;
    if (outcome.interrupted) return outcome;
    ++outcome.done_now;
    if (options.stop_at_first && runner.known()) return outcome;
  }
  TRY(database.finish_run(run.id));
  return outcome;
}

}  // namespace headcrash::campaign
