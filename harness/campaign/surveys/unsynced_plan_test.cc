// Tests the names of unsynced-loss campaigns, and the cells that each name selects.
#include "harness/campaign/surveys/unsynced_plan.h"

#include <gtest/gtest.h>

#include <set>

namespace headcrash::campaign {
namespace {

std::vector<UnsyncedCell> cells_of(std::string_view name) {
  const auto campaign = parse_unsynced_campaign(name);
  EXPECT_TRUE(campaign) << name;
  auto cells = unsynced_cells(campaign.value_or(UnsyncedCampaign{}));
  EXPECT_TRUE(cells) << (cells ? "" : cells.error().message());
  return cells.value_or(std::vector<UnsyncedCell>{});
}

TEST(UnsyncedPlan, TheDefaultIsSmallAndNamesAreUnique) {
  EXPECT_EQ(cells_of("unsynced-loss").size(), 4U * 3U);
  const auto all = cells_of("unsynced-loss/all");
  EXPECT_EQ(all.size(), 6U * (3U * 6U + 1U));
  std::set<std::string> keys, adapters_found;
  for (const UnsyncedCell& cell : all) {
    EXPECT_TRUE(keys.insert(cell.key()).second) << cell.key();
    const std::string adapter = cell.filesystem.substr(0, cell.filesystem.find('+'));
    EXPECT_TRUE(adapters::load_adapter(adapter)) << adapter;
  }
  EXPECT_EQ(cells_of("unsynced-loss/xfs/third").size(), 7U);
  EXPECT_EQ(cells_of("unsynced-loss/xfs/third").front().key(), "xfs/third/synced");
  EXPECT_FALSE(parse_unsynced_campaign("unsynced"));
  EXPECT_FALSE(parse_unsynced_campaign("unsynced-losses"));
}

TEST(UnsyncedPlan, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  for (const char* name : {"unsynced-loss/zfs", "unsynced-loss/xfs/slow", "unsynced-loss/all/x"}) {
    const auto cells = unsynced_cells(*parse_unsynced_campaign(name));
    ASSERT_FALSE(cells) << name;
    EXPECT_NE(cells.error().message().find("late-commit"), std::string::npos);
  }
}

TEST(UnsyncedPlan, SettingsBecomeShellCommands) {
  for (const WritebackSetting& setting : writeback_settings()) {
    EXPECT_NE(setting.shell_commands("xfs").find("xfssyncd"), std::string::npos);
    EXPECT_NE(setting.shell_commands("f2fs").find("cp_interval"), std::string::npos);
    EXPECT_EQ(setting.mount_option("xfs"), "");
    EXPECT_NE(setting.mount_option("ext4").find("commit="), std::string::npos);
    EXPECT_GT(setting.bound_ms("btrfs"), setting.expire_ms + setting.writeback_ms);
  }
  EXPECT_EQ(writeback_settings().front().shell_commands("ext4"),
            "echo 200 > /proc/sys/vm/dirty_expire_centisecs && echo 50 > "
            "/proc/sys/vm/dirty_writeback_centisecs");
}

TEST(UnsyncedPlan, ShardsCoverAllCells) {
  const UnsyncedCampaign all{.all = true};
  EXPECT_EQ(unsynced_cells(all, {0, 2})->size() + unsynced_cells(all, {1, 2})->size(),
            unsynced_cells(all)->size());
}

}  // namespace
}  // namespace headcrash::campaign
