// Tests the names of campaigns, the cells and shards that they select, and the faults of each cell.
#include "harness/campaign/surveys/io_errors_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/campaign/surveys/io_errors_faults.h"
#include "plugin/model/faults/faults.h"

namespace headcrash::campaign {
namespace {

std::vector<IoErrorCell> cells(std::string_view name, const run::Shard& shard = {}) {
  return io_error_cells(parse_io_errors_campaign(name).value(), shard).value();
}

TEST(IoErrorsPlan, NamesSelectCells) {
  EXPECT_FALSE(parse_io_errors_campaign("ufs-schemes"));
  EXPECT_FALSE(parse_io_errors_campaign("io-errors-too"));
  EXPECT_EQ(cells("io-errors/ext4/journal").size(), 4U);
  EXPECT_EQ(cells("io-errors/ext4/none").size(), 2U) << "controls need no duration";
  EXPECT_EQ(cells("io-errors/ext4/journal").front().key(), "ext4/journal/once/cut");
  EXPECT_GT(cells("io-errors/all/flush").size(), cells("io-errors/ext4/flush").size());
  const auto unknown = io_error_cells({.filesystem = "ext5", .failed = ""});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().hint.find("ext4"), std::string::npos);
  EXPECT_FALSE(io_error_cells({.filesystem = "ufs-soft-updates", .failed = "journal"}))
      << "soft updates have no journal";
}

TEST(IoErrorsPlan, ShardsCoverAllCells) {
  std::set<std::string> keys;
  for (const IoErrorCell& cell : cells("io-errors"))
    EXPECT_TRUE(keys.insert(cell.key()).second) << cell.key();
  for (std::size_t i = 0; i < 3; ++i)
    for (const IoErrorCell& cell : cells("io-errors", {i, 3}))
      EXPECT_EQ(keys.erase(cell.key()), 1U);
  EXPECT_TRUE(keys.empty());
}

TEST(IoErrorsPlan, AMountOptionIsPartOfTheName) {
  const IoErrorCell cell{.filesystem = "ext4+data_err=abort"};
  EXPECT_EQ(cell.adapter(), "ext4");
  EXPECT_EQ(cell.mount_option(), "data_err=abort");
  EXPECT_EQ(IoErrorCell{.filesystem = "xfs"}.mount_option(), "");
}

TEST(IoErrorsFaults, EveryCellHasValidFaults) {
  for (const IoErrorCell& cell : cells("io-errors")) {
    const auto adapter = adapters::load_adapter(cell.adapter());
    ASSERT_TRUE(adapter) << cell.key();
    const ArmedFaults faults = faults_of(cell, adapter->type, 12);
    EXPECT_EQ(faults.specs.empty(), cell.failed == FailedRequest::none) << cell.key();
    for (const std::string& spec : faults.specs) {
      const auto parsed = model::parse_fault(spec);
      ASSERT_TRUE(parsed) << cell.key() << ": " << parsed.error().message();
      EXPECT_EQ(parsed->times, cell.lasting ? 0U : 1U) << cell.key();
    }
  }
}

TEST(IoErrorsFaults, FaultsInJournaledMetadataAreArmedAfterFsync) {
  const auto late = [](const char* filesystem, const char* type, FailedRequest failed) {
    return faults_of({.filesystem = filesystem, .failed = failed}, type, 12).late;
  };
  EXPECT_TRUE(late("ext4", "ext4", FailedRequest::metadata));
  EXPECT_TRUE(late("ufs-journal", "fuseblk", FailedRequest::metadata));
  EXPECT_FALSE(late("ufs-soft-updates", "fuseblk", FailedRequest::metadata));
  EXPECT_FALSE(late("ext4", "ext4", FailedRequest::data_append));
  EXPECT_EQ(faults_of({.filesystem = "btrfs", .failed = FailedRequest::metadata}, "btrfs", 257)
                .specs.size(),
            2U)
      << "both copies";
  EXPECT_EQ(faults_of({.filesystem = "btrfs", .failed = FailedRequest::metadata_copy}, "btrfs", 257)
                .specs.size(),
            1U);
}

}  // namespace
}  // namespace headcrash::campaign
