// Tests explorations without a guest.
#include "harness/explorer/guests/exploration.h"

#include <gtest/gtest.h>

#include "plugin/base/file_lock.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::explorer {
namespace {

TEST(Exploration, OnlyOneExplorationRecordsRecoveries) {
  const TemporaryFolder folder;
  RecordedWorkload workload;
  // The file does not exist, so explore() fails when it opens the file, unless it has already
  // rejected the strategies.
  workload.recording = folder / "workload.hcrec";
  const adapters::LinuxAdapter filesystem;
  const auto error_with = [&](states::Strategy strategy) {
    ExplorationOptions options;
    options.explore.strategies = {strategy};
    const auto explored = explore({nullptr}, filesystem, workload, options);
    EXPECT_FALSE(explored);
    return explored ? "" : explored.error().problem;
  };
  const std::string unclaimed = error_with(states::Strategy::recovery);
  const auto other = base::FileLock::try_take(workload.recording.string() + ".exploring");
  ASSERT_TRUE(other);
  EXPECT_NE(error_with(states::Strategy::recovery), unclaimed);
  EXPECT_EQ(error_with(states::Strategy::prefix), unclaimed) << "this strategy records nothing";
}

}  // namespace
}  // namespace headcrash::explorer
