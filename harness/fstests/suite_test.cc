// Tests the selection of tests (suite.h).
#include "harness/fstests/suite.h"

#include <gtest/gtest.h>

#include <fstream>

#include "plugin/base/scratch_folder.h"

namespace headcrash::fstests {
namespace {

namespace fs = std::filesystem;

class SuiteFolder : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(scratch_);
    write("suite/check", "#!/bin/sh\n");
    write("suite/tests/generic/group.list",
          "# QA groups control file\n\n001 auto quick\n002 auto quick log\n019 auto dangerous\n"
          "020 auto quick dangerous_fuzzers\n021 auto log\n");
    write("suite/tests/ext4/group.list", "001 auto quick ioctl\n");
    write("suite/tests/xfs/group.list", "001 auto quick db\n");
  }
  void write(const std::string& name, const std::string& text) const {
    const fs::path path = scratch_->path() / "root" / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  Suite suite() const {
    const auto found = find_suite(scratch_->path() / "root", "/suite/check");
    EXPECT_TRUE(found) << found.error().message();
    return found.value_or(Suite{});
  }
  std::vector<std::string> select(const Selection& selection, const std::string& type = "ext4") {
    const auto tests = select_tests(suite(), type, selection);
    EXPECT_TRUE(tests) << tests.error().message();
    return tests.value_or(std::vector<std::string>{});
  }

  Result<base::ScratchFolder> scratch_ = base::ScratchFolder::make();
};

using Tests = std::vector<std::string>;

TEST_F(SuiteFolder, IsFoundByAPathOnTheHostOrInTheGuest) {
  EXPECT_EQ(suite().check, "/suite/check");
  const fs::path root = scratch_->path() / "root";
  const auto on_host = find_suite(root, (root / "suite/check").string());
  ASSERT_TRUE(on_host);
  EXPECT_EQ(on_host->check, "/suite/check");
  EXPECT_EQ(on_host->folder(), fs::canonical(root) / "suite");
  EXPECT_FALSE(find_suite(root, "/suite/absent"));
  EXPECT_FALSE(find_suite(root, "check"));
  EXPECT_FALSE(find_suite(root / "absent", "/suite/check"));
  write("other/check", "");
  EXPECT_FALSE(find_suite(root, "/other/check")) << "there is no folder `tests`";
}

TEST_F(SuiteFolder, SelectsTheTestsOfAGroupForTheFileSystem) {
  EXPECT_EQ(select({.groups = {"quick"}}), (Tests{"ext4/001", "generic/001", "generic/002"}));
  EXPECT_EQ(select({.groups = {"log"}}, "xfs"), (Tests{"generic/002", "generic/021"}));
}

TEST_F(SuiteFolder, OmitsDangerousTestsUnlessTheyAreNamed) {
  EXPECT_EQ(select({.groups = {"auto"}}),
            (Tests{"ext4/001", "generic/001", "generic/002", "generic/021"}));
  EXPECT_EQ(select({.tests = {"generic/020"}}), Tests{"generic/020"});
}

TEST_F(SuiteFolder, OmitsExpungedTests) {
  write("list", "generic/002  # fails since 6.1\n\n# a comment\nxfs/001\n");
  const auto expunged = read_expunged(scratch_->path() / "root/list");
  ASSERT_TRUE(expunged) << expunged.error().message();
  EXPECT_EQ(*expunged, (std::set<std::string>{"generic/002", "xfs/001"}));
  EXPECT_EQ(select({.groups = {"log"}, .expunged = *expunged}), Tests{"generic/021"});
  write("list", "generic/002\n002\n");
  const auto bad = read_expunged(scratch_->path() / "root/list");
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().subject.find("list:2"), std::string::npos);
}

TEST_F(SuiteFolder, RejectsUnknownGroupsAndTests) {
  EXPECT_FALSE(select_tests(suite(), "ext4", {.groups = {"quik"}}));
  EXPECT_FALSE(select_tests(suite(), "ext4", {.tests = {"generic/999"}}));
  EXPECT_FALSE(select_tests(suite(), "ext4", {.tests = {"xfs/001"}}));
}

}  // namespace
}  // namespace headcrash::fstests
