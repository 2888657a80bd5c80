// Tests the classification of a range's content, and the detection of unexpected results.
#include "harness/campaign/surveys/io_errors_verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

namespace headcrash::campaign {
namespace {

using oracle::ContentRun;
using oracle::ObservedObject;

ContentRun stamps(std::uint64_t first, std::uint64_t blocks, std::uint32_t version) {
  return {.kind = ContentRun::Kind::stamp,
          .first_block = first,
          .blocks = blocks,
          .file = 1,
          .version = version};
}
ContentRun run(ContentRun::Kind kind, std::uint64_t first, std::uint64_t blocks) {
  return {.kind = kind, .first_block = first, .blocks = blocks};
}
ObservedObject file(std::vector<ContentRun> runs, int error = 0) {
  return {.path = "a", .error = error, .runs = std::move(runs)};
}

constexpr std::uint64_t kFirst = 16, kBlocks = 8;
WrittenRange overwritten() {
  return {"a", 1, kFirst, kBlocks, 1, 2};
}

RangeContent found(const WrittenRange& range, const ObservedObject& object) {
  return content_of(std::vector{object}, range);
}

TEST(IoErrorContent, ClassifiesAnOverwrittenRange) {
  const auto of = [](const ObservedObject& object) { return found(overwritten(), object); };
  EXPECT_EQ(of(file({stamps(0, 16, 1), stamps(16, 8, 2), stamps(24, 16, 1)})), RangeContent::fresh);
  EXPECT_EQ(of(file({stamps(0, 40, 1)})), RangeContent::old);
  EXPECT_EQ(of(file({stamps(0, 17, 1), stamps(17, 23, 2)})), RangeContent::torn);
  EXPECT_EQ(of(file({stamps(0, 20, 1)})), RangeContent::torn) << "too short";
  EXPECT_EQ(of(file({stamps(0, 16, 1), run(ContentRun::Kind::zero, 16, 24)})), RangeContent::zero);
  EXPECT_EQ(of(file({stamps(0, 16, 1), run(ContentRun::Kind::foreign, 16, 1), stamps(17, 23, 2)})),
            RangeContent::foreign);
  EXPECT_EQ(of(file({stamps(0, 16, 1), stamps(16, 8, 7)})), RangeContent::foreign)
      << "an unknown version";
  EXPECT_EQ(of(file({stamps(0, 40, 1)}, EIO)), RangeContent::unreadable);
  EXPECT_EQ(content_of({}, overwritten()), RangeContent::missing);
}

TEST(IoErrorContent, ClassifiesAnAppendedRangeAndANewFile) {
  const WrittenRange appended{"a", 1, 40, kBlocks, std::nullopt, 2};
  EXPECT_EQ(found(appended, file({stamps(0, 40, 1), stamps(40, 8, 2)})), RangeContent::fresh);
  EXPECT_EQ(found(appended, file({stamps(0, 40, 1)})), RangeContent::old);
  EXPECT_EQ(found(appended, file({stamps(0, 40, 1), stamps(40, 3, 2)})), RangeContent::torn);
  EXPECT_EQ(found(appended, file({stamps(0, 40, 1), run(ContentRun::Kind::zero, 40, 8)})),
            RangeContent::zero);
  EXPECT_EQ(content_of({}, appended), RangeContent::missing);
  const WrittenRange created{"a", 1, 0, kBlocks, std::nullopt, 1};
  EXPECT_EQ(content_of({}, created), RangeContent::old) << "the file did not exist before";
  EXPECT_EQ(found(created, file({})), RangeContent::old);
}

/// Returns the outcome of a session in which no error occurred.
IoErrorOutcome quiet() {
  IoErrorOutcome o;
  o.first_fsync = o.second_fsync = o.reopened_fsync = o.fsync_after_sync = o.syncfs = 0;
  o.later_write = o.later_fsync = o.other_fsync = o.new_file_fsync = 0;
  o.state = MountState::read_write;
  o.cached = o.reread = o.recovered = o.rest = o.later = o.other = o.new_file = RangeContent::fresh;
  o.after_recovery = AfterRecovery::clean;
  return o;
}
bool says(const IoErrorOutcome& outcome, std::string_view words) {
  const auto said = surprises_of(outcome);
  return std::ranges::any_of(
      said, [&](const std::string& each) { return each.find(words) != each.npos; });
}

TEST(IoErrorSurprises, IncludeNothingIfEveryLossIsReported) {
  EXPECT_TRUE(surprises_of(quiet()).empty());
  IoErrorOutcome honest = quiet();
  honest.first_fsync = honest.second_fsync = honest.reopened_fsync = honest.fsync_after_sync = EIO;
  honest.recovered = honest.cached = honest.reread = RangeContent::old;
  EXPECT_TRUE(surprises_of(honest).empty());
}

TEST(IoErrorSurprises, IncludeALaterFsyncThatReportsSuccess) {
  IoErrorOutcome o = quiet();
  o.first_fsync = EIO;
  o.recovered = o.reread = RangeContent::old;
  EXPECT_TRUE(says(o, "failed once and then succeeded"));
  EXPECT_TRUE(says(o, "the page cache showed data that was not on the disk"));
  o.reread = RangeContent::fresh;
  EXPECT_TRUE(says(o, "the mounted file showed data that did not survive"));
  o.recovered = RangeContent::fresh;
  EXPECT_EQ(surprises_of(o), std::vector<std::string>{"fsync failed, but the write survived"});
}

TEST(IoErrorSurprises, IncludeASuccessfulFsyncOfALostWrite) {
  IoErrorOutcome o = quiet();
  o.recovered = RangeContent::zero;
  EXPECT_TRUE(
      says(o, "the first fsync succeeded, no later one failed, but the write is lost: zero"));
  o.fsync_after_sync = EIO;
  EXPECT_TRUE(says(o, "succeeded, a later one failed, but the write is lost"));
  o = quiet();
  o.other = RangeContent::old;
  EXPECT_TRUE(says(o, "fsync of another file succeeded, but its write is lost: old"));
  o.other_fsync = EROFS;
  EXPECT_TRUE(surprises_of(o).empty()) << "the loss was reported";
  o.rest = RangeContent::foreign;
  EXPECT_TRUE(says(o, "synced before the failure is lost: foreign"));
}

TEST(IoErrorSurprises, IncludeDamageAndHangs) {
  IoErrorOutcome o = quiet();
  o.after_recovery = AfterRecovery::repaired;
  o.state = MountState::hung;
  EXPECT_TRUE(says(o, "after recovery: damage repaired"));
  EXPECT_TRUE(says(o, "never returned"));
  for (const AfterRecovery wrong :
       {AfterRecovery::damage, AfterRecovery::not_repaired, AfterRecovery::mount_refused}) {
    o = quiet();
    o.after_recovery = wrong;
    o.refusal = "clean";
    EXPECT_TRUE(says(o, o.after_recovery_text())) << name(wrong);
  }
  o = quiet();
  o.first_fsync = o.second_fsync = EIO;
  o.reopened_fsync = o.fsync_after_sync = EIO;
  o.recovered = RangeContent::torn;
  EXPECT_TRUE(says(o, "neither the old nor the new data: torn"));
}

TEST(IoErrorSurprises, IncludeAnyErrorInAControl) {
  IoErrorOutcome o = quiet();
  o.control = true;
  EXPECT_TRUE(surprises_of(o).empty());
  o.syncfs = EIO;
  EXPECT_TRUE(says(o, "although no fault was injected"));
}

TEST(IoErrorAnswers, AreNamedAsInErrnoH) {
  EXPECT_EQ(answer_name(0), "ok");
  EXPECT_EQ(answer_name(EROFS), "EROFS");
  EXPECT_EQ(answer_name(kHung), "hang");
  EXPECT_EQ(answer_name(kNotReached), "-");
}

}  // namespace
}  // namespace headcrash::campaign
