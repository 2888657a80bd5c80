// Tests how unsynced-loss evaluates trees, using constructed trees.
#include "harness/campaign/surveys/unsynced_ages.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/workload/stamp.h"

namespace headcrash::campaign {
namespace {

using oracle::ContentRun;
using oracle::ObservedObject;
using workload::Operation;

constexpr std::int64_t kS = kNsPerSecond;

/// Returns a file system's tree after the first `done` operations.
std::vector<ObservedObject> tree_after(const UnsyncedWorkload& workload, std::size_t done) {
  std::vector<ObservedObject> tree;
  const auto find = [&](const std::string& path) {
    return std::ranges::find(tree, path, &ObservedObject::path);
  };
  for (std::size_t i = 0; i < done; ++i) {
    const Operation& operation = workload.operations[i];
    if (operation.kind == Operation::Kind::create) tree.push_back({.path = operation.path});
    if (operation.kind == Operation::Kind::rename) find(operation.path)->path = operation.target;
    if (!workload::is_write(operation.kind)) continue;
    ObservedObject& file = *find(operation.path);
    const std::uint64_t first = operation.offset / workload::kStampBytes,
                        blocks = operation.length / workload::kStampBytes;
    // Replaces the runs for the written blocks. Each written block gets its own run.
    std::vector<ContentRun> runs;
    for (const ContentRun& run : file.runs)
      if (run.first_block < first || run.first_block >= first + blocks) runs.push_back(run);
    for (std::uint64_t block = first; block < first + blocks; ++block)
      runs.push_back({.kind = ContentRun::Kind::stamp,
                      .first_block = block,
                      .blocks = 1,
                      .file = operation.file,
                      .version = operation.version});
    file.runs = runs;
    file.size_bytes = std::max(file.size_bytes, operation.offset + operation.length);
  }
  return tree;
}

std::vector<RestMark> marks_of(const UnsyncedWorkload& workload) {
  std::vector<RestMark> marks;
  for (std::size_t i = 0; i < workload.rests.size(); ++i)
    marks.push_back({workload.rests[i], static_cast<std::int64_t>(i + 1) * kS});
  return marks;
}

TEST(UnsyncedAges, LostChangesHaveTheAgeOfTheirRound) {
  const UnsyncedWorkload workload = unsynced_workload(6);
  ASSERT_EQ(workload.rests.size(), 6U);
  const auto marks = marks_of(workload);  // the rests begin at 0, 1, ... 5 s and last 1 s
  const auto all =
      change_ages(workload, marks, 8 * kS, tree_after(workload, workload.operations.size()));
  EXPECT_EQ(all.size(), 6U * 4U + 3U);
  EXPECT_EQ(summary_of(all).lost, 0U);
  EXPECT_DOUBLE_EQ(summary_of(all).newest_kept_ms, 3000);
  // Only the first four of six rounds are on the disk. The two lost rounds are 3 s and 4 s old at
  // the cut.
  const auto ages = change_ages(workload, marks, 8 * kS, tree_after(workload, workload.rests[3]));
  const LossSummary summary = summary_of(ages);
  EXPECT_EQ(summary.lost, 2U * 5U);
  EXPECT_DOUBLE_EQ(summary.oldest_lost_ms, 4000);
  EXPECT_DOUBLE_EQ(summary.newest_kept_ms, 5000);
  EXPECT_EQ(summary.lost_bytes, 2U * (4096U + 4096U + 1024U));
  for (const ChangeAge& age : ages)
    EXPECT_EQ(age.lost, age.age_ms < 4500) << age.kind << " " << age.age_ms;
}

TEST(UnsyncedAges, EachKindIsCheckedSeparately) {
  const UnsyncedWorkload workload = unsynced_workload(4);
  const auto marks = marks_of(workload);
  auto tree = tree_after(workload, workload.operations.size());
  const auto lost_kinds = [&] {
    std::vector<std::string> kinds;
    for (const ChangeAge& age : change_ages(workload, marks, 5 * kS, tree))
      if (age.lost) kinds.emplace_back(age.kind);
    return kinds;
  };
  EXPECT_TRUE(lost_kinds().empty());
  const auto at = [&](const std::string& path) {
    return std::ranges::find(tree, path, &ObservedObject::path);
  };
  at("r0")->path = "f0";  // undo the rename of round 3
  EXPECT_EQ(lost_kinds(), std::vector<std::string>{"rename"});
  at("f0")->path = "r0";
  at("f2")->runs.clear();
  EXPECT_EQ(lost_kinds(), std::vector<std::string>{"write"});
  tree.erase(at("f2"));
  EXPECT_EQ(lost_kinds(), (std::vector<std::string>{"create", "write"}));
}

TEST(UnsyncedAges, IgnoresARoundWithoutItsMark) {
  const UnsyncedWorkload workload = unsynced_workload(4);
  auto marks = marks_of(workload);
  marks.pop_back();
  const auto ages = change_ages(workload, marks, 5 * kS, {});
  EXPECT_EQ(ages.size(), 3U * 4U);
  EXPECT_EQ(summary_of(ages).kept, 0U);
  EXPECT_DOUBLE_EQ(summary_of(ages).newest_kept_ms, 0);
  EXPECT_TRUE(change_ages(workload, {}, 5 * kS, {}).empty());
}

}  // namespace
}  // namespace headcrash::campaign
