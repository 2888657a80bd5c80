#include "harness/explorer/guests/slow_writes.h"

#include <gtest/gtest.h>

#include "harness/explorer/testing/recorded_disk.h"

namespace headcrash::explorer {
namespace {

class SlowWrites : public testing::Test {
 protected:
  SlowWrites() {
    RecordedDisk disk(path_, 4096, false);
    disk.write(1, 800, commit(7)).ack(1).mark("phase workload");
    disk.write(2, 808, commit(8)).ack(2).write(3, 1600, RecordedDisk::stamps(2, 7, 0, 4096)).ack(3);
    disk.write(4, 808, commit(9)).ack(4).write(5, 816, commit(10)).ack(5).mark("phase end");
    disk.write(6, 824, commit(11)).ack(6);
    EXPECT_TRUE(disk.load());
  }
  static RecordedDisk::Data commit(int transaction) {
    return RecordedDisk::block({0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 2, 0, 0, 0, transaction});
  }
  Result<SlowPlaces> find(const std::string& kind) const {
    return places_of_kind(path_, "ext4", kind, 3, 12);
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "workload.hcrec";
};

TEST_F(SlowWrites, IncludeOnlyTheWorkloadsWritesOfTheKind) {
  const auto commits = find("commit block");
  ASSERT_TRUE(commits) << commits.error().message();
  EXPECT_EQ(*commits, (SlowPlaces{{808, 8}, {816, 8}}))
      << "each position once, without writes before and after the workload";
  const auto one = find("transaction 10");
  ASSERT_TRUE(one);
  EXPECT_EQ(*one, (SlowPlaces{{816, 8}}));
  const auto data = find("file 2");
  ASSERT_TRUE(data);
  EXPECT_EQ(*data, (SlowPlaces{{1600, 8}}));
}

TEST_F(SlowWrites, AnUnknownKindIsAnErrorThatListsTheKnownOnes) {
  const auto none = find("inode table");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("this workload has no write of kind \"inode table\""),
            std::string::npos);
  EXPECT_NE(none.error().message().find("journal commit block of transaction 8"), std::string::npos)
      << none.error().message();
}

}  // namespace
}  // namespace headcrash::explorer
