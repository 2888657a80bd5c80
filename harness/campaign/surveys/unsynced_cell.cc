// Measures a cell (unsynced_cell.h).
#include "harness/campaign/surveys/unsynced_cell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "harness/campaign/surveys/unsynced_ages.h"
#include "plugin/base/stopwatch.h"
#include "plugin/base/wall_clock.h"
#include "plugin/record/recording.h"

namespace headcrash::campaign {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::int64_t kStepMostS = 300;
constexpr std::uint64_t kUnsyncedSeed = 1996;
/// Each round takes one second. All rounds together last one and a half times the age at which a
/// change should be on the disk. Some changes are therefore older than this age and must have been
/// kept.
constexpr std::int64_t kMsPerRound = 1000, kRoundsMore = 6;
/// The power is cut after the mark of one of the last kLastRounds rounds, chosen at random.
constexpr std::size_t kLastRounds = 3;

std::uint32_t rounds_of(const UnsyncedCell& cell, std::string_view type) {
  return static_cast<std::uint32_t>(cell.setting->bound_ms(type) * 3 / 2 / kMsPerRound +
                                    kRoundsMore);
}

struct Timing {
  std::vector<RestMark> marks;
  std::int64_t cut_at_ns = 0;
};

Result<Timing> timing_of(const std::filesystem::path& recording) {
  TRY(auto reader, record::RecordingReader::open(recording));
  Timing timing;
  while (true) {
    TRY(const auto next, reader.next());
    if (!next) break;
    const record::Event& event = *next;
    if (event.kind == record::Kind::power && event.detail == 0) {
      timing.cut_at_ns = event.at;
      return timing;
    }
    if (event.kind != record::Kind::mark) continue;
    const std::string_view text(reinterpret_cast<const char*>(event.payload.data()),
                                event.payload.size());
    if (const auto operation = workload::parse_persisted_mark(text))
      timing.marks.push_back({*operation, event.at});
  }
  return fail(recording.string(), "contains no power cut", "this is a bug in headcrash");
}

class UnsyncedRun : private SurveyCellRun {
 public:
  UnsyncedRun(const UnsyncedCell& cell, const adapters::LinuxAdapter& filesystem,
              const SurveyContext& context)
      : SurveyCellRun(filesystem, context, context.seed * 100 + cell.cut, kStepMostS),
        cell_(cell),
        workload_(unsynced_workload(rounds_of(cell, filesystem.type))) {
    filesystem_.mount_options +=
        (filesystem_.mount_options.empty() || option().empty() ? "" : ",") + option();
    if (cell.synced) workload_.operations.push_back({.kind = workload::Operation::Kind::sync});
  }

  Result<db::TrialRecord> run();

 private:
  std::string option() const { return cell_.setting->mount_option(filesystem_.type); }
  Result<void> course();
  Result<void> format_and_mount();
  Result<void> work_until_cut();
  Result<void> await_cut();
  Result<void> recover();
  Result<void> shell(const std::string& commands);
  Result<void> conclude(db::TrialRecord& record);

  const UnsyncedCell& cell_;
  UnsyncedWorkload workload_;
  std::string cut_;
  std::vector<oracle::ObservedObject> tree_;
};

Result<db::TrialRecord> UnsyncedRun::run() {
  const base::Stopwatch watch;
  const WritebackSetting& setting = *cell_.setting;
  db::TrialRecord record{.key = cell_.key(),
                         .filesystem = cell_.filesystem,
                         .device = kSurveyDrive,
                         .workload = std::string(kUnsyncedName),
                         .seed = static_cast<std::int64_t>(context_.seed),
                         .clock = "real",
                         .verdict = db::kMeasured,
                         .expected = "any",
                         .started_at = base::now_utc(),
                         .variant = std::string(setting.name)};
  record.operations = static_cast<std::int64_t>(workload_.operations.size());
  if (cell_.synced) record.control = "keep";
  TRY(start_drive());
  const Result<void> done = course();
  if (interrupted()) return fail(record.key, "interrupted");
  TRY(end_guest_and_drive());
  record.cut = cut_;
  if (!done) {
    const oracle::Judgement judgement = oracle::judgement_of(done.error());
    record.verdict = oracle::name(judgement.verdict);
    record.summary = judgement.summary;
  } else if (const auto concluded = conclude(record); !concluded) {
    record.verdict = oracle::name(oracle::Verdict::harness_error);
    record.summary = concluded.error().message();
  }
  record.wall_ms = watch.ms();
  return record;
}

Result<void> UnsyncedRun::course() {
  TRY(start_guest());
  TRY(format_and_mount());
  TRY(work_until_cut());
  guest_->kill();
  TRY(control({{"power", "on"}}));
  TRY(control({{"clock", "off"}}));
  TRY(start_guest());
  return recover();
}

Result<void> UnsyncedRun::shell(const std::string& commands) {
  TRY(const auto done, session_->exec({"busybox", "sh", "-c", commands}));
  if (done.exit_code != 0)
    return run::stop(ErrorKind::other, "the kernel's settings: " + done.output);
  return {};
}

Result<void> UnsyncedRun::format_and_mount() {
  TRY(make_file_system());
  TRY(mount_fresh());
  const std::string commands = cell_.setting->shell_commands(filesystem_.type);
  if (filesystem_.type != "xfs") return shell(commands);
  // XFS has these settings only after its module has been loaded, and reads them only during a
  // mount. They are therefore set after a first mount, and the file system is mounted again.
  TRY(shell(commands));
  TRY(session_->unmount());
  return mount_fresh();
}

Result<void> UnsyncedRun::work_until_cut() {
  std::size_t after = workload_.operations.size() - 1;
  if (!cell_.synced)
    after = workload_.rests.at(workload_.rests.size() - 1 - random_() % kLastRounds);
  cut_ = fmt::format("after-mark:{}+{}", workload::persisted_mark(after),
                     static_cast<std::int64_t>(random_() % kMsPerRound));
  TRY(control({{"clock", "real"}}));
  TRY(control({{"power", "cut"}, {"when", cut_}}));
  TRY(guest_->send(run::run_request(workload_.operations)));
  return await_cut();
}

Result<void> UnsyncedRun::await_cut() {
  const auto deadline = steady_clock::now() + std::chrono::seconds(kStepMostS);
  std::optional<std::string> failure;  // operation that failed and thereby ended the workload
  while (true) {
    const auto message = guest_->receive(milliseconds(100));
    const auto status = device_->control().request({{"power", "status"}});
    if (!status)
      return run::stop(ErrorKind::other,
                       "cannot wait for the power cut: " + status.error().message());
    if (status->value("power", "") == "off") return {};
    if (message && !failure) failure = run::failure_of(*message, workload_.operations);
    if (failure && message && message->contains("ok"))
      return run::stop(ErrorKind::workload, *failure);
    if (message && message->contains("ok") && !message->value("ok", false))
      return run::stop(ErrorKind::refused,
                       "the workload failed before the cut: " + message->dump());
    if (const auto oops = guest_->oops())
      return run::stop(ErrorKind::guest_died, "the guest's kernel reported: " + *oops);
    if (guest_->malformed()) return tl::unexpected(*guest_->malformed());
    if (!guest_->alive()) return fail(ErrorKind::guest_died, "", "the guest died before the cut");
    if (interrupted()) return fail(ErrorKind::interrupted, "", "interrupted");
    if (steady_clock::now() > deadline)
      return fail(ErrorKind::timeout, "",
                  fmt::format("the workload did not reach the cut within {} s", kStepMostS));
  }
}

Result<void> UnsyncedRun::recover() {
  if (!filesystem_.replay_by_mount && !filesystem_.replay.argv.empty()) {
    TRY(const auto replayed, session_->exec(run::in_guest(filesystem_.replay.argv)));
    if (!filesystem_.replay.good(replayed.exit_code))
      return run::stop(ErrorKind::not_repairable, "the journal replay failed: " + replayed.output);
  }
  std::string why;
  TRY(const auto mounted, session_->mount(filesystem_, &why));
  if (!mounted) return run::stop(ErrorKind::unmountable, "the mount was refused: " + why);
  TRY(auto tree, session_->dump());
  tree_ = std::move(tree);
  return session_->unmount();
}

Result<void> UnsyncedRun::conclude(db::TrialRecord& record) {
  TRY(const auto timing, timing_of(recording()));
  record.cut_at_ns = timing.cut_at_ns;
  const auto ages = change_ages(workload_, timing.marks, timing.cut_at_ns, tree_);
  if (ages.empty())
    return fail(cell_.key(), "no round of the workload had finished before the cut");
  const LossSummary summary = summary_of(ages);
  const WritebackSetting& setting = *cell_.setting;
  const std::string& type = filesystem_.type;
  db::PhaseRecord phase{.name = "workload", .clock = "real"};
  phase.model_ms = static_cast<double>(timing.cut_at_ns - timing.marks.front().at_ns) / 1e6;
  phase.metrics = {{"loss.expire", "ms", static_cast<double>(setting.expire_ms)},
                   {"loss.writeback", "ms", static_cast<double>(setting.writeback_ms)},
                   {"loss.commit", "ms", static_cast<double>(setting.commit_ms(type))},
                   {"loss.bound", "ms", static_cast<double>(setting.bound_ms(type))},
                   {"loss.oldest_lost", "ms", summary.oldest_lost_ms},
                   {"loss.newest_kept", "ms", summary.newest_kept_ms},
                   {"loss.lost", "", static_cast<double>(summary.lost)},
                   {"loss.kept", "", static_cast<double>(summary.kept)},
                   {"loss.bytes", "bytes", static_cast<double>(summary.lost_bytes)}};
  for (const ChangeAge& each : ages)
    phase.metrics.push_back(
        {fmt::format("age.{}.{}.{}", each.lost ? "lost" : "kept", each.kind, each.operation), "ms",
         each.age_ms});
  record.phases.push_back(std::move(phase));
  record.summary = fmt::format("{} of {} changes lost, the oldest {:.1f} s old", summary.lost,
                               ages.size(), summary.oldest_lost_ms / 1000);
  return {};
}

}  // namespace

Result<db::TrialRecord> measure_unsynced(const UnsyncedCell& cell,
                                         const adapters::LinuxAdapter& filesystem,
                                         const SurveyContext& context) {
  return UnsyncedRun(cell, filesystem, context).run();
}

Result<CampaignOutcome> run_unsynced_campaign(const UnsyncedCampaign& campaign,
                                              const CampaignOptions& options) {
  TRY(const auto cells, unsynced_cells(campaign, options.shard));
  std::map<std::string, SurveySubject> subjects;
  for (const UnsyncedCell& cell : cells) {
    if (subjects.contains(cell.filesystem)) continue;
    TRY(auto subject, survey_subject(cell.filesystem, options.cache));
    subjects.emplace(cell.filesystem, std::move(subject));
  }
  Survey survey{.name = std::string(kUnsyncedName),
                .configuration = fmt::format("{} {} {} {} seed={}", kUnsyncedName, campaign.all,
                                             campaign.filesystem, campaign.setting, kUnsyncedSeed),
                .seed = kUnsyncedSeed,
                .guest_kernel = cells.empty() ? "" : subjects.begin()->second.image.kernel_version,
                .accelerator = vm::probe_accelerator(options.cache).accelerator};
  for (const UnsyncedCell& cell : cells) {
    const SurveySubject& subject = subjects.at(cell.filesystem);
    const auto measure = [&, cell,
                          accelerator = survey.accelerator](const std::filesystem::path& scratch) {
      return measure_unsynced(cell, subject.adapter,
                              {.image = subject.image,
                               .accelerator = accelerator,
                               .cache = options.cache,
                               .scratch = scratch,
                               .seed = kUnsyncedSeed,
                               .interrupted = options.interrupted});
    };
    survey.cells.push_back({cell.key(), measure});
  }
  return run_survey(std::move(survey), options);
}

}  // namespace headcrash::campaign
