// Tests that a remembered outcome is used if and only if the step would read the same contents
// again.
#include "harness/explorer/in_process/remembered_step.h"

#include <gtest/gtest.h>

#include "fs-adapters/registry.h"
#include "harness/explorer/in_process/exploration.h"
#include "harness/workload/ace.h"
#include "plugin/base/testing/temporary_folder.h"
#include "plugin/model/testing/sector_bytes.h"

namespace headcrash::in_process {
namespace {

constexpr std::size_t kSector = model::kSectorBytes;

class ARememberedStep : public testing::Test {
 protected:
  void write(std::uint64_t sector, int value) {
    ASSERT_TRUE(disk_.write(sector, std::vector<std::byte>(kSector, std::byte(value))));
  }
  /// Runs the step unless its outcome is known. Returns true if it was known.
  template <typename Step>
  bool know(Step step, int outcome, std::uint64_t also = 0) {
    if (const int* known = step_.find(also)) {
      EXPECT_EQ(*known, outcome);
      return true;
    }
    step_.run([&] { return step(), 0; });
    step_.keep(outcome);
    return false;
  }
  std::function<void()> reading(std::uint64_t sector) {
    return [this, sector] {
      std::vector<std::byte> bytes(kSector);
      ASSERT_TRUE(disk_.read(sector, bytes));
    };
  }

  std::vector<std::byte> base_ = std::vector<std::byte>(64 * kSector);
  StateDisk disk_{base_};
  RememberedStep<int> step_{disk_};
};

TEST_F(ARememberedStep, IsReusedWhileTheSectorsItReadsAreUnchanged) {
  EXPECT_FALSE(know(reading(3), 1));
  EXPECT_FALSE(know(reading(3), 1)) << "a step that has read new sectors keeps no outcome";
  EXPECT_TRUE(know(reading(3), 1));
  write(4, 7);  // never read
  EXPECT_TRUE(know(reading(3), 1));
  write(3, 7);
  EXPECT_FALSE(know(reading(3), 2));
  EXPECT_TRUE(know(reading(3), 2));
  disk_.show_base();
  EXPECT_TRUE(know(reading(3), 1));
  EXPECT_FALSE(know(reading(3), 5, 1)) << "the outcome depends on another number";
}

TEST_F(ARememberedStep, ForgetsOutcomesWhenItReadsANewSector) {
  know(reading(3), 1);
  know(reading(3), 1);
  write(3, 7);
  const auto both = [&] { reading(3)(), reading(4)(); };
  know(both, 2);
  disk_.show_base();
  EXPECT_FALSE(know(reading(3), 1)) << "sector 4 was not part of what was known";
}

TEST_F(ARememberedStep, TracksDigestsAndContentsLikeReads) {
  const auto look = [&] { (void)disk_.digests()[5], (void)disk_.content(6, kSector); };
  know(look, 1);
  know(look, 1);
  EXPECT_TRUE(know(look, 1));
  write(5, 1);
  EXPECT_FALSE(know(look, 2));
  disk_.show_base();
  write(6, 1);
  EXPECT_FALSE(know(look, 3));
}

TEST_F(ARememberedStep, IsKeyedByTheStateBeforeItsOwnWrites) {
  const auto change = [&] { reading(3)(), write(3, 9); };
  know(change, 1);
  disk_.show_base();
  know(change, 1);
  disk_.show_base();
  EXPECT_TRUE(know(change, 1));
  write(3, 9);
  EXPECT_FALSE(know(change, 2)) << "this is what the disk has after the step, not before it";
}

TEST(RememberedChecks, ReplayTheWritesOfARepair) {
  const std::vector<std::byte> base(64 * kSector);
  StateDisk disk(base);
  RememberedChecks checks(disk);
  const auto repair = [&] { return disk.write(9, std::vector<std::byte>(kSector, std::byte{1})); };
  for (int i = 0; i < 2; ++i) {
    disk.show_base();
    ASSERT_EQ(checks.repair.find(), nullptr) << "nothing has been kept";
    if (i == 0) continue;
    ASSERT_TRUE(checks.repair.run(repair));
    checks.repair.keep(checks.writes());
  }
  const std::vector<std::byte> repaired(disk.bytes().begin(), disk.bytes().end());
  const std::uint64_t digest = disk.digests()[9];
  disk.show_base();
  const auto* known = checks.repair.find();
  ASSERT_NE(known, nullptr);
  checks.repeat(*known);
  EXPECT_TRUE(model::bench::same_bytes(disk.bytes(), repaired));
  EXPECT_EQ(disk.digests()[9], digest);
  disk.show_base();
  EXPECT_TRUE(model::bench::same_bytes(disk.bytes(), base));
}

TEST(RememberedChecks, KeepTheWritesOfEachStepApart) {
  const std::vector<std::byte> base(64 * kSector);
  StateDisk disk(base);
  RememberedChecks checks(disk);
  const auto writing = [&](std::uint64_t sector) {
    return [&disk, sector] {
      return disk.write(sector, std::vector<std::byte>(kSector, std::byte{1}));
    };
  };
  checks.recovery.find();
  ASSERT_TRUE(checks.recovery.run(writing(9)));
  EXPECT_EQ(checks.writes().size(), 1U);
  checks.repair.find();
  ASSERT_TRUE(checks.repair.run([&] { return (void)writing(9)(), writing(10)(); }));
  const auto writes = checks.writes();
  ASSERT_EQ(writes.size(), 2U) << "the repair has written sector 9 again";
  EXPECT_EQ(writes[0].sector, 9U);
  checks.repair.find();
  ASSERT_TRUE(checks.repair.run(writing(11)));
  EXPECT_EQ(checks.writes().size(), 1U);
}

/// Checks every state twice: with remembered outcomes, and in full. The exploration fails if the
/// two results differ.
class Remembering : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Remembering, ChangesNoVerdict) {
  const TemporaryFolder folder;
  const auto system = adapters::find_system(GetParam().first, GetParam().second);
  ASSERT_TRUE(system) << system.error().message();
  auto disk = (*system)->lab_disk("plain");
  ASSERT_TRUE(disk);
  disk->bytes = 8 << 20;  // large enough: outcomes are not remembered for small disks
  const auto formatted = format_disk((*system)->type(), *disk, folder.path() / "formatted.hcrec");
  ASSERT_TRUE(formatted) << formatted.error().message();
  DiskExplorer explorer(*formatted);
  std::uint64_t remembered = 0;
  for (const std::uint64_t number : {4711U, 815U}) {
    const auto result =
        explorer.explore(**system, workload::Ace(2).workload(number),
                         {.budget = 400, .verify_one_in = 1, .verify_remembered_one_in = 1},
                         folder.path() / "run.hcrec");
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->verified, result->checked);
    remembered += result->remembered;
  }
  // The LFS checker reads the whole log. The log ends at a different position in each state, so no
  // earlier outcome can be reused.
  EXPECT_EQ(remembered > 0, std::string_view(GetParam().first) != "lfs");
}

INSTANTIATE_TEST_SUITE_P(All, Remembering,
                         testing::Values(std::pair("ufs", "soft-updates"),
                                         std::pair("ufs", "journal"), std::pair("ufs", "no-order"),
                                         std::pair("lfs", "roll-forward"),
                                         std::pair("snapfs", "snapshots"),
                                         std::pair("shadow", "commit-last")),
                         [](const auto& tried) {
                           std::string name = std::string(tried.param.first) + tried.param.second;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace headcrash::in_process
