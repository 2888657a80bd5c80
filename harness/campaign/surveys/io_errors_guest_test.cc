// Tests two cells of io-errors from start to end: one in which a write to an existing block of a
// file on ext4 fails permanently, and its control.
#include <gtest/gtest.h>

#include "harness/campaign/campaign.h"
#include "harness/campaign/surveys/io_errors_cell.h"
#include "plugin/base/scratch_folder.h"

namespace headcrash::campaign {
namespace {

db::TrialRecord measured(const IoErrorCell& cell) {
  const auto adapter = adapters::load_adapter(cell.adapter()).value();
  const auto image = vm::guest_image(default_cache(), adapter.guest).value();
  const auto scratch = base::ScratchFolder::make().value();
  auto record =
      measure_io_errors(cell, adapter,
                        {.image = image,
                         .accelerator = vm::probe_accelerator(default_cache()).accelerator,
                         .cache = default_cache(),
                         .scratch = scratch.path(),
                         .seed = 1});
  EXPECT_TRUE(record) << (record ? "" : record.error().message());
  return record.value_or(db::TrialRecord{});
}

TEST(IoErrorsGuest, Ext4ReportsALastingDataErrorOnlyOnce) {
  const db::TrialRecord record =
      measured({.filesystem = "ext4", .failed = FailedRequest::data_overwrite, .lasting = true});
  ASSERT_EQ(record.verdict, db::kMeasured) << record.summary;
  const db::IoErrorRecord& seen = record.io_error.value();
  EXPECT_GE(seen.requests_failed, 1);
  EXPECT_NE(seen.failed_block.find("file 1: version 2"), std::string::npos) << seen.failed_block;
  EXPECT_EQ(seen.first_fsync, "EIO");
  EXPECT_EQ(seen.second_fsync, "ok") << "the page is now clean";
  EXPECT_EQ(seen.cached, "new");
  EXPECT_EQ(seen.recovered, "old");
  EXPECT_EQ(seen.rest, "new");
  EXPECT_NE(seen.surprise, "");
}

TEST(IoErrorsGuest, WithoutAFaultNothingFails) {
  const db::TrialRecord record = measured({.filesystem = "ext4"});
  ASSERT_EQ(record.verdict, db::kMeasured) << record.summary;
  const db::IoErrorRecord& seen = record.io_error.value();
  EXPECT_EQ(seen.requests_failed, 0);
  EXPECT_EQ(seen.surprise, "");
  EXPECT_EQ(seen.recovered, "new");
}

}  // namespace
}  // namespace headcrash::campaign
