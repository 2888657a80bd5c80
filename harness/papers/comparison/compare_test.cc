// Tests the summary's rules, an aged disk and synchronous calls. Also runs a scaled-down version of
// each part.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fs-adapters/ufs/schemes/scheme_variants.h"
#include "fs-adapters/ufs/under_test.h"
#include "harness/papers/comparison/ageing.h"
#include "harness/papers/comparison/fairness.h"
#include "harness/papers/comparison/rows.h"
#include "harness/papers/comparison/summary.h"
#include "harness/papers/comparison/synchronous_vfs.h"
#include "harness/papers/experiment.h"
#include "harness/papers/loss_run.h"

namespace headcrash::experiment::compare {
namespace {

bool beats(const Sample& a, const Sample& b) {
  return Ranking({&a, &b}).beats(0, 1);
}

TEST(Ranking, IgnoresDifferencesWithinTheIntervals) {
  EXPECT_TRUE(beats({10, 10.1, 9.9}, {20, 20.2, 19.9}));
  EXPECT_FALSE(beats({20, 20.2, 19.9}, {10, 10.1, 9.9}));
  EXPECT_FALSE(beats({10, 14, 6}, {11, 9, 13})) << "the mean is lower, but the seeds disagree";
  EXPECT_FALSE(beats({10, 10, 10}, {10.1, 10.1, 10.1})) << "one percent is not a difference";
  EXPECT_FALSE(beats({10}, {20})) << "one seed is not significant";
  EXPECT_FALSE(beats({}, {20, 20, 20})) << "a failed cell beats no other";
  EXPECT_FALSE(beats({10, 10, 10}, {}));
}

TEST(Ranking, ListsContendersThatNoOtherBeats) {
  const Sample slow{20, 21, 20}, fast{10, 10.2, 9.9}, as_fast{10.1, 10, 10.2}, failed{};
  EXPECT_EQ(Ranking({&slow, &as_fast, &failed, &fast}).unbeaten(),
            (std::vector<std::size_t>{3, 1}));
  EXPECT_TRUE(Ranking({&failed}).unbeaten().empty());
}

/// The sample with the lowest mean is too noisy to beat another sample. The second sample must
/// still beat the third.
TEST(Ranking, ANoisyLeaderDoesNotHideOtherDifferences) {
  const Sample noisy{300, 1700, 991}, second{1009, 1010, 1011}, third{1099, 1100, 1101};
  const Ranking ranking({&noisy, &second, &third});
  EXPECT_FALSE(ranking.beats(0, 2));
  EXPECT_TRUE(ranking.beats(1, 2));
  EXPECT_EQ(ranking.unbeaten(), (std::vector<std::size_t>{0, 1}));
}

TEST(Interval, IsShownIfKnownAndNotNegligible) {
  EXPECT_EQ(text_of({}), "-");
  EXPECT_EQ(text_of({3, 3, 3}), "3.00");
  EXPECT_EQ(text_of({2, 4}), "3.00");
  EXPECT_NE(text_of({10, 11, 12}).find("11.0 ±"), std::string::npos) << text_of({10, 11, 12});
}

TEST(Summary, CountsDifferencesThatHoldForAllSeeds) {
  const Sample a{1, 1.01, 1}, b{2, 2.02, 2}, loose{.5, 3, 1};
  const std::vector<Contest> contests{{"m", "clear", {&a, &b}}, {"m", "open", {&loose, &b}}};
  EXPECT_EQ(times_beaten(contests, 0, 1), 1U);
  EXPECT_EQ(times_beaten(contests, 1, 0), 0U);
  EXPECT_EQ(times_best(contests, 0), 2U);
  EXPECT_EQ(times_best(contests, 1), 1U) << "the other contest is undecided";
  const Sample failed{};
  EXPECT_EQ(times_the_best({{"m", "clear", {&b, &a, &failed}}, {"m", "open", {&loose, &b, &b}}},
                           {"x", "y", "z"}, Durability::each_call)
                .rows,
            (std::vector<std::vector<std::string>>{{"m", "clear", "2.00", "1.00*", "-"},
                                                   {"m", "open", "1.00*", "1.34*", "1.34*"}}));
}

Condition condition(std::size_t number, const std::vector<Row>& of = rows(),
                    const MachineOf& machine = machine_of) {
  return conditions(of, machine).at(number - 1);
}

TEST(Fairness, IsComputedFromTheSystems) {
  for (const std::size_t number : {1, 2, 3, 4, 7, 10})
    EXPECT_EQ(condition(number).met, Met::yes) << condition(number).text << condition(number).how;
  // 44 GB with 250 MB of files is not 25 % full, and two systems differ from those of their lab.
  EXPECT_EQ(condition(8).met, Met::no) << condition(8).how;
  EXPECT_EQ(condition(11).met, Met::no);
  EXPECT_NE(condition(11).how.find("Netra UFS"), std::string::npos) << condition(11).how;
}

TEST(Fairness, DetectsASystemWithoutInitialisation) {
  std::vector<Row> changed = rows();
  changed.back().system = ufs::system_of(*ufs::find_scheme_variant("netra"));
  EXPECT_EQ(condition(2, changed).met, Met::no);
  EXPECT_NE(condition(2, changed).how.find("Netra UFS"), std::string::npos);
}

TEST(Fairness, DetectsASystemWithDifferentTimesOrBlockSizes) {
  std::vector<Row> changed = rows();
  changed[1].system = ufs::system_of(*ufs::find_scheme_variant("conventional-5s"));
  changed[2].mkfs["block-size"] = "4096";
  EXPECT_EQ(condition(1, changed).how, "not met by: Conventional");
  EXPECT_EQ(condition(4, changed).how, "not met by: Flag");
}

TEST(Fairness, DetectsASystemOnADifferentMachine) {
  const auto with = [](const std::function<void(ModelledMachineOptions&)>& change) {
    return [change](const Row& row, const MachineChoice& choice) {
      ModelledMachineOptions machine = machine_of(row, choice);
      if (row.name == "Flag") change(machine);
      return machine;
    };
  };
  using Options = ModelledMachineOptions;
  const std::pair<std::size_t, std::function<void(Options&)>> changes[] = {
      {1, [](Options& o) { o.syncer.own_times = true; }},
      {3, [](Options& o) { o.cache_bytes *= 2; }},
      {3, [](Options& o) { o.structures_count = false; }},
      {4, [](Options& o) { o.concatenated_sectors = 8; }},
      {7, [](Options& o) { o.costs.allocation = 1; }},
      {10, [](Options& o) { o.write_cache = true; }}};
  for (const auto& [number, change] : changes)
    EXPECT_EQ(condition(number, rows(), with(change)).how, "not met by: Flag") << number;
}

TEST(Rows, HaveUniqueNamesAndACampaign) {
  std::vector<std::string> names;
  for (const Row& row : rows()) {
    names.push_back(full_name(row));
    EXPECT_FALSE(row.lab.empty()) << row.name;
    EXPECT_EQ(row.system->control(), row.durability == Durability::none) << row.name;
    EXPECT_TRUE(machine_of(row, {}).structures_count) << row.name;
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(Ageing, FillsTheDiskAndRewritesItsContent) {
  for (const char* type : {"ufs", "lfs", "snapfs"}) {
    const auto row = std::ranges::find_if(
        rows(), [&](const Row& each) { return each.system->type().name() == type; });
    ModelledMachineOptions machine = machine_of(*row, {.size_bytes = 32 << 20});
    AgedDisk disk;
    machine.populate = [&](Vfs& vfs) -> VfsResult<void> {
      const auto aged = age(vfs, {.full = .75, .turnovers = 2});
      if (!aged) return forward_errno(aged);
      disk = *aged;
      return {};
    };
    const auto image = ModelledMachine::image_of(machine);
    ASSERT_TRUE(image) << type << ": " << image.error().message();
    EXPECT_NEAR(disk.full, .75, .04) << type;
    EXPECT_GE(disk.written_over, 2) << type;
    EXPECT_GT(disk.files, 100U) << type;
  }
}

/// Part `aged` uses nine tenths of the reported space and rewrites the contents three times.
TEST(Ageing, NineTenthsOfTheReportedSpaceCanBeUsed) {
  for (const char* its_name : {"LFS", "Netra UFS", "Conventional", "Snapshots"}) {
    const auto row = std::ranges::find(rows(), its_name, &Row::name);
    ModelledMachineOptions machine = machine_of(*row, {.size_bytes = 128 << 20});
    machine.image_cache_bytes = 16 << 20;
    std::string refused;
    machine.populate = [&](Vfs& vfs) -> VfsResult<void> {
      const auto aged = age(vfs, {.full = .9, .turnovers = 3});
      const auto space = vfs.space();
      if (!aged && space)
        refused = fmt::format("errno {}, {} of {} bytes and {} of {} inodes free",
                              aged.error().value, space->free_bytes, space->total_bytes,
                              space->free_inodes, space->total_inodes);
      return aged ? VfsResult<void>() : forward_errno(aged);
    };
    EXPECT_TRUE(ModelledMachine::image_of(machine)) << its_name << ": " << refused;
  }
}

/// Returns true if a machine has dirty blocks immediately after a file was created and written.
bool leaves_dirty(bool synchronous) {
  auto options = machine_with("ufs", "soft-updates-init-cb");
  EXPECT_TRUE(options);
  options->size_bytes = 32 << 20;
  if (synchronous)
    options->front = [](Vfs& below) { return std::make_unique<SynchronousVfs>(below); };
  const auto machine = ModelledMachine::start(*options);
  EXPECT_TRUE(machine);
  os::Account account{.name = "user"};
  bool there = false;
  (*machine)->system().run_as(account, [&] {
    Vfs& vfs = (*machine)->vfs();
    const auto file = vfs.open("file", {.create = true});
    EXPECT_TRUE(file);
    EXPECT_TRUE(vfs.pwrite(*file, 0, std::vector<std::byte>(1000)));
    EXPECT_TRUE(vfs.close(*file));
  });
  (*machine)->cut();
  EXPECT_TRUE((*machine)->recover(Repair::as_needed));
  (*machine)->system().run_as(account, [&] {
    const auto status = (*machine)->vfs().stat("file");
    there = status && status->size_bytes == 1000;
  });
  return !there;
}

TEST(SynchronousVfs, LeavesNothingDirtyAfterACall) {
  EXPECT_TRUE(leaves_dirty(false));
  EXPECT_FALSE(leaves_dirty(true));
}

/// LFS writes data that is 30 s old. The power is cut at instants at which LFS plans this write,
/// places blocks, or waits for the disk.
TEST(Recovery, SurvivesACutDuringAFlush) {
  const auto row = std::ranges::find(rows(), "LFS", &Row::name);
  for (const os::TimeNs tenths : {310, 311, 312, 330}) {
    const MachineChoice choice{.pentium = true, .size_bytes = 230'000'000 / 512 * 512};
    const LossSeen seen = run_loss({.machine = machine_of(*row, choice),
                                    .warm_ns = tenths * model::kSecondNs / 10,
                                    .instants = 0,
                                    .cut_at_last = true});
    EXPECT_EQ(seen.error, "");
    EXPECT_TRUE(seen.recovery);
  }
}

/// The format of Netra UFS includes the features required for a fast check.
TEST(Recovery, NetraUfsSupportsAFastCheck) {
  const auto row = std::ranges::find(rows(), "Netra UFS", &Row::name);
  const auto requests = [&](Repair repair) {
    const LossSeen seen = run_loss({.machine = machine_of(*row, {.size_bytes = 512 << 20}),
                                    .warm_ns = 5 * model::kSecondNs,
                                    .instants = 0,
                                    .cut_at_last = true,
                                    .repair = repair});
    EXPECT_EQ(seen.error, "");
    return seen.recovery ? seen.recovery->repair.requests : 0;
  };
  const std::uint64_t fast = requests(Repair::fast);
  EXPECT_GT(fast, 0U);
  EXPECT_LT(fast, requests(Repair::always));
}

ExperimentOutcome run(const std::string& part) {
  auto outcome = run_experiment({.name = "compare/" + part, .scaled = true});
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message());
  return *std::move(outcome);
}

TEST(Compare, RunsToCompletion) {
  for (const char* part : {"drive-cache", "fast-drive", "raid5-nvram", "aged", "recovery", "delays",
                           "memory", "laddis"}) {
    for (const ClaimAnswer& answer : run(part).answers) {
      EXPECT_FALSE(answer.tables.empty()) << answer.id;
      for (const ClaimNumber& number : answer.numbers)
        EXPECT_TRUE(number.ours) << answer.id << " " << number.cell << ": " << number.remark;
    }
  }
}

TEST(Compare, EqualSeedsGiveEqualBytes) {
  const ExperimentOutcome once = run("drive"), again = run("drive");
  EXPECT_EQ(as_text(once), as_text(again));
  EXPECT_EQ(as_csv(once), as_csv(again));
  EXPECT_NE(as_csv(once).find(",low,high"), std::string::npos);
  EXPECT_EQ(as_text(once).find("paper"), std::string::npos) << "numbers of papers must not appear";
}

/// Systems in the group `each call` must not lose changes, and the damage that No Order causes must
/// be detected.
TEST(Compare, LossesMatchTheDurabilityGroups) {
  const ExperimentOutcome outcome = run("loss");
  std::size_t each_call = 0;
  for (const ClaimRule& rule : outcome.answers.at(0).rules) {
    if (rule.text.find("each call") == std::string::npos) continue;
    ++each_call;
    EXPECT_EQ(rule.verdict, Verdict::holds) << rule.text << ": " << rule.detail;
  }
  EXPECT_GE(each_call, 2U);
}

TEST(Compare, TheSummaryCoversAllParts) {
  const ExperimentOutcome outcome = run("summary");
  ASSERT_EQ(outcome.answers.size(), 1U);
  EXPECT_EQ(outcome.answers[0].tables.size(), 8U);
  std::size_t maps = 0;
  for (const Table& table : outcome.answers[0].tables) {
    if (!table.name.starts_with(kHeatMap)) continue;
    ++maps;
    EXPECT_GT(table.rows.size(), 20U);
    for (const auto& row : table.rows) {
      ASSERT_EQ(row.size(), table.columns.size());
      EXPECT_NE(std::ranges::find(row, std::string("1.00") + kUnbeaten), row.end())
          << row[0] << ", " << row[1];
    }
  }
  EXPECT_EQ(maps, 2U);
}

}  // namespace
}  // namespace headcrash::experiment::compare
