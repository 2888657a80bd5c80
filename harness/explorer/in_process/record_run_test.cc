// Tests the order of requests, runs with several users, and settled runs (record_run.h).
#include "harness/explorer/in_process/record_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "fs-adapters/registry.h"
#include "harness/explorer/in_process/check_state.h"
#include "harness/explorer/in_process/disk_explorers.h"
#include "harness/explorer/in_process/persistence_points.h"
#include "harness/run/text_hash.h"
#include "harness/workload/families.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

class RecordedRuns : public testing::Test {
 protected:
  RecordedRun record(const char* scheme_name, const std::vector<workload::Operation>& operations,
                     const RunOptions& options) {
    const auto scheme = adapters::find_system("ufs", scheme_name);
    const auto explorer = explorers_.get("tiny", **scheme);
    EXPECT_TRUE(explorer) << explorer.error().message();
    StateDisk disk((*explorer)->formatted.bytes);
    auto run = record_run((*explorer)->formatted, disk, **scheme, operations, options, recording_);
    EXPECT_TRUE(run) << run.error().message();
    EXPECT_FALSE(run->failure) << *run->failure;
    return *std::move(run);
  }
  std::vector<workload::Operation> parsed(const char* text) {
    return *workload::parse_operations(text, "test");
  }
  /// Returns requests in completion order.
  std::vector<model::RequestId> completed() {
    const auto run = states::RunHistory::load(recording_);
    EXPECT_TRUE(run);
    std::vector<std::pair<std::uint64_t, model::RequestId>> writes;
    for (const states::RecordedWrite& write : (*run)->writes(0))
      writes.emplace_back(write.acked_event.value_or(UINT64_MAX), write.request);
    std::ranges::sort(writes);
    std::vector<model::RequestId> order;
    for (const auto& [event, request] : writes) order.push_back(request);
    return order;
  }

  TemporaryFolder folder_;
  DiskExplorers explorers_{folder_.path()};
  std::filesystem::path recording_ = folder_.path() / "run.hcrec";
};

TEST_F(RecordedRuns, TheSeedDeterminesTheOrder) {
  const auto operations =
      parsed("mkdir a\nmkdir b\ncreate a/f\nwrite a/f 0 8192 1 1\ncreate b/g\nsync\n");
  std::set<std::vector<model::RequestId>> different;
  for (const std::uint64_t order : {0, 1, 2, 3, 1}) {
    record("no-order", operations, {.pause_ns_max = 0, .order = order});
    different.insert(completed());
  }
  EXPECT_GE(different.size(), 3U);
  EXPECT_LE(different.size(), 4U);
}

TEST_F(RecordedRuns, PersistencePointsOfSeveralUsersAreReportedInListOrder) {
  for (std::uint64_t number = 0; number < 4; ++number) {
    const auto operations = *workload::family_member("many-users", number);
    ASSERT_GT(workload::threads_of(operations), 1U);
    const RecordedRun run = record("soft-updates", operations, {.seed = number, .order = number});
    const auto history = states::RunHistory::load(recording_);
    ASSERT_TRUE(history);
    std::optional<std::size_t> last;
    std::size_t reported = 0, points = 0;
    for (const states::RecordedMark& mark : (*history)->marks()) {
      const auto operation = workload::parse_persisted_mark(mark.text);
      if (!operation) continue;
      EXPECT_TRUE(!last || *operation > *last);
      last = *operation;
      ++reported;
    }
    for (const workload::Operation& one : operations)
      points += workload::is_persistence_point(one) ? 1 : 0;
    for (const workload::FailedOperation& failed : run.failed_operations)
      points -= workload::is_persistence_point(operations[failed.operation]) ? 1 : 0;
    EXPECT_EQ(reported, points);
  }
}

TEST_F(RecordedRuns, ANearlyFullDiskHasNoSpaceUntilSomeIsFreed) {
  for (std::uint64_t number = 0; number < 4; ++number) {
    const auto operations = *workload::family_member("nearly-full", number);
    const auto first_sync =
        std::ranges::find(operations, workload::Operation::Kind::sync, &workload::Operation::kind);
    const auto filled = static_cast<std::size_t>(first_sync - operations.begin());
    const RecordedRun run = record("conventional", operations, {.seed = number});
    std::size_t while_filling = 0;
    for (const workload::FailedOperation& failed : run.failed_operations)
      while_filling +=
          failed.operation < filled && failed.outcome == workload::Outcome::partial ? 1 : 0;
    EXPECT_GT(while_filling, 0U) << number;
  }
}

/// Runs a member of a family with the options that the campaign with this seed uses.
struct CampaignRun {
  const char *type, *system, *disk, *family;
  std::uint64_t number;
  const char* suffix;
  std::uint64_t campaign_seed;
  RunOptions options;
};

class SoundRuns : public testing::TestWithParam<CampaignRun> {};

INSTANTIATE_TEST_SUITE_P(
    InProcess, SoundRuns,
    testing::Values(
        // The last reads start a cleaner, which counts the blocks that it moves twice.
        CampaignRun{"lfs", "eager-cleaner", "deep", "truncation", 4, "@deep~2", 1994, {.order = 2}},
        CampaignRun{"lfs", "eager-cleaner", "deep", "truncation", 5, "@deep~0", 1994, {.order = 0}},
        CampaignRun{"lfs", "eager-cleaner", "deep", "truncation", 6, "@deep~1", 1994, {.order = 1}},
        // A repeated write is refused while a commit is under way.
        CampaignRun{"snapfs",
                    "snapshots-at-once",
                    "tiny",
                    "full-users",
                    1,
                    "@tiny~3:6",
                    2027,
                    {.order = 3, .schedule = 6}}));

TEST_P(SoundRuns, DoNotFail) {
  const CampaignRun& run = GetParam();
  const auto system = adapters::find_system(run.type, run.system);
  ASSERT_TRUE(system) << system.error().message();
  TemporaryFolder folder;
  DiskExplorers explorers(folder.path());
  const auto explorer = explorers.get(run.disk, **system);
  ASSERT_TRUE(explorer) << explorer.error().message();
  const FormattedDisk& formatted = (*explorer)->formatted;
  const auto operations = *workload::family_member(run.family, run.number);
  const std::string name = fmt::format("{}/{}{}", run.family, run.number, run.suffix);
  RunOptions options = run.options;
  options.seed = run::hash_text(name, run.campaign_seed);
  options.cache_bytes = std::array{4 << 20, 512 << 10, 192 << 10}.at(options.seed % 3);
  StateDisk disk(formatted.bytes, formatted.log_at);
  const auto recorded =
      record_run(formatted, disk, **system, operations, options, folder.path() / "run.hcrec");
  ASSERT_TRUE(recorded) << recorded.error().message();
  EXPECT_FALSE(recorded->failure) << *recorded->failure;
}

TEST_F(RecordedRuns, SettlesAtASyncAndAtTheEndUnlessANamelessFileIsOpen) {
  EXPECT_EQ(
      record("conventional", parsed("create a\nsync\ncreate b\nfsync b\n"), {}).settled.size(), 2U);
  EXPECT_EQ(
      record("conventional", parsed("create a\nopen a %f\nunlink a\nsync\nclose %f\nsync\n"), {})
          .settled.size(),
      2U);
}

TEST_F(RecordedRuns, ResidueIsAFindingInASettledRun) {
  const auto scheme = adapters::find_system("ufs", "soft-updates");
  const auto explorer = explorers_.get("tiny", **scheme);
  const auto operations =
      parsed("create f\nwrite f 0 8192 1 1\nmkdir d\nsync\nunlink f\nrmdir d\nsync\n");
  const auto result = (*explorer)->explorer.explore(**scheme, operations, {}, recording_);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->settled, 3U);
  EXPECT_EQ(result->clean, result->checked);
  // Leaked blocks are permitted during the run, but not at a cut at which nothing was pending.
  EXPECT_GT(result->found.size(), 0U);
}

TEST_F(RecordedRuns, DetectsAWrongFreeCountOnASettledDisk) {
  const auto scheme = adapters::find_system("ufs", "soft-updates");
  const auto operations = parsed("create f\nwrite f 0 8192 1 1\nmkdir d\nsync\nunlink f\nsync\n");
  const RecordedRun recorded = record("soft-updates", operations, {});
  const auto run = states::RunHistory::load(recording_);
  ASSERT_TRUE(run);
  StateDisk disk((*explorers_.get("tiny", **scheme))->formatted.bytes);
  ASSERT_TRUE(disk.begin_run(*run));
  const auto fsck = (*scheme)->type().checker();
  auto checker =
      StateChecker::create(**scheme, disk, *fsck, operations, recorded.failed_operations);
  ASSERT_TRUE(checker);
  const PersistencePoints points(**run);
  StepTimes times{};
  ASSERT_EQ(recorded.settled.size(), 3U);
  for (const auto& [event, counted] : recorded.settled) {
    const states::CrashState state{.event = event};
    disk.show(state);
    StateFacts facts = facts_of(recorded, points, state);
    ASSERT_TRUE(facts.settled);
    EXPECT_TRUE(keeps_rules(checker->check(facts, CheckMode::plain, times)));
    --facts.settled->front().value;
    disk.show(state);
    const StateOutcome miscounted = checker->check(facts, CheckMode::plain, times);
    EXPECT_FALSE(keeps_rules(miscounted));
    EXPECT_NE(miscounted.judgement.summary.find("the mounted file system counts"),
              std::string::npos);
  }
}

/// A checker that reports thousands of leaked blocks, followed by one finding that no scheme
/// permits.
class VerboseChecker : public adapters::ImageChecker {
 public:
  explicit VerboseChecker(adapters::ImageChecker& real) : real_(real) {}
  Result<adapters::CheckReport> check(const model::SectorStore& store,
                                      const adapters::CheckOptions& options) override {
    auto report = real_.check(store, options);
    if (!report || repaired_) return report;
    const auto find = [&](adapters::Severity severity, const char* text, std::uint16_t order) {
      if (report->findings.size() >= options.findings_max) return void(++report->more_findings);
      report->findings.push_back(
          {.kind = {.name = text, .severity = severity, .order = order}, .text = text});
    };
    for (int i = 0; i < 2500; ++i) find(adapters::Severity::stale, "stale", 1000);
    find(adapters::Severity::damage, "forbidden", 1001);
    return report;
  }
  Result<adapters::CheckReport> repair(model::SectorStore& store,
                                       const adapters::CheckOptions& options) override {
    repaired_ = true;
    return real_.repair(store, options);
  }

 private:
  adapters::ImageChecker& real_;
  bool repaired_ = false;
};

TEST_F(RecordedRuns, DetectsAForbiddenFindingAfterThousandsOfPermittedOnes) {
  const auto scheme = adapters::find_system("ufs", "soft-updates");
  const auto operations = parsed("create f\nsync\n");
  const RecordedRun recorded = record("soft-updates", operations, {});
  const auto run = states::RunHistory::load(recording_);
  ASSERT_TRUE(run);
  StateDisk disk((*explorers_.get("tiny", **scheme))->formatted.bytes);
  ASSERT_TRUE(disk.begin_run(*run));
  const auto fsck = (*scheme)->type().checker();
  VerboseChecker verbose(*fsck);
  auto checker =
      StateChecker::create(**scheme, disk, verbose, operations, recorded.failed_operations);
  ASSERT_TRUE(checker);
  const PersistencePoints points(**run);
  const states::CrashState state{.event = recorded.settled.begin()->first};
  disk.show(state);
  StepTimes times{};
  const StateOutcome outcome =
      checker->check(facts_of(recorded, points, state), CheckMode::plain, times);
  EXPECT_EQ(outcome.judgement.verdict, oracle::Verdict::repaired_by_fsck)
      << outcome.judgement.summary;
}

}  // namespace
}  // namespace headcrash::in_process
