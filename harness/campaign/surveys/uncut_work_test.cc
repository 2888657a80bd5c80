// Tests how rests are added to a list of operations, and which differences from the reference are
// reported.
#include "harness/campaign/surveys/uncut_work.h"

#include <gtest/gtest.h>

#include "harness/run/testing/pretended_guest.h"
#include "harness/workload/catalogue.h"

namespace headcrash::campaign {
namespace {

using workload::Operation;
using Kind = Operation::Kind;

std::vector<Operation> list_of(const std::string& text) {
  return workload::parse_operations(text, "list").value();
}

TEST(UncutWork, InsertsRestsOnlyWhileNoFileIsOpen) {
  const auto rested = with_rests(list_of("create a\nopen a %f\nfsync %f\nclose %f\ncreate b\n"), 2);
  ASSERT_EQ(rested.rests, (std::vector<std::size_t>{5, 7}));
  EXPECT_EQ(rested.operations.size(), 7U);
  for (const std::size_t rest : rested.rests)
    EXPECT_EQ(rested.operations[rest - 1].kind, Kind::sync);
}

TEST(UncutWork, ThreadsJoinBeforeARest) {
  const auto random = workload::make_workload({.name = "random-threads", .rounds = 200}).value();
  const auto rested = with_rests(random, 50);
  EXPECT_GE(rested.rests.size(), 4U);
  for (const std::size_t rest : rested.rests)
    EXPECT_EQ(rested.operations[rest - 2].kind, Kind::join);
  std::vector<Operation> back;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rested.operations.size(); ++i) {
    if (next < rested.rests.size() && i + 2 == rested.rests[next]) {
      ++next, ++i;
    } else {
      back.push_back(rested.operations[i]);
    }
  }
  EXPECT_EQ(back, random) << "only rests were added";
}

TEST(UncutWork, TheTreeMustMatchExactly) {
  const auto operations = list_of("mkdir d\ncreate d/a\nlink d/a b\nsync\n");
  const adapters::LinuxAdapter ufs = adapters::load_adapter("ufs-soft-updates").value();
  const std::vector<oracle::ObservedObject> right{
      {.path = "d", .type = FileType::directory, .inode = 3, .links = 2},
      {.path = "d/a", .inode = 4, .links = 2},
      {.path = "b", .inode = 4, .links = 2}};
  const auto found = [&](const std::vector<oracle::ObservedObject>& tree) {
    return differences(operations, {}, ufs, tree).value().size();
  };
  EXPECT_EQ(found(right), 0U);
  EXPECT_NE(found({right[0], right[1]}), 0U)
      << "a missing link, which sync() would not keep on FUSE";
  auto wrong = right;
  wrong[2].inode = 5;
  EXPECT_NE(found(wrong), 0U) << "another file";
  wrong = right;
  wrong[1].size_bytes = wrong[2].size_bytes = 1;
  EXPECT_NE(found(wrong), 0U) << "one byte too long";
  wrong = right;
  wrong.push_back({.path = "c", .inode = 6, .links = 1});
  EXPECT_NE(found(wrong), 0U) << "a file that was never created";
}

TEST(UncutWork, ReportsAFailedOperationAsWorkloadFailed) {
  run::PretendedGuest pretended(R"({"id":1,"event":"failed","operation":0,"errno":28})"
                                "\n"
                                R"({"id":1,"ok":true,"done":0})"
                                "\n");
  run::GuestSession session(pretended.guest(), std::chrono::seconds(20));
  const auto work = work_and_compare(session, with_rests(list_of("create a\n"), 5),
                                     adapters::load_adapter("ufs-soft-updates").value());
  ASSERT_FALSE(work);
  EXPECT_EQ(work.error().kind, ErrorKind::workload);
}

}  // namespace
}  // namespace headcrash::campaign
