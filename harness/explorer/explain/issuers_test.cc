#include "harness/explorer/explain/issuers.h"

#include <gtest/gtest.h>

#include <random>

namespace headcrash::explorer {
namespace {

const Issuer kCommit{
    "jbd2/vda-8",
    {"__traceiter_block_bio_queue+0x1/0x2", "submit_bio+0x7e/0x90", "submit_bh_wbc+0x100/0x130",
     "jbd2_journal_commit_transaction+0x1174/0x1f90 [jbd2]", "kjournald2+0xa0/0x2",
     "kthread+0x1/0x2", "ret_from_fork+0x1/0x2"}};
const Issuer kAgent{"headcrash agent",
                    {"mark_buffer_dirty+0x1/0x2", "ext4_mark_iloc_dirty+0x1/0x2"}};

Issuers sample() {
  Issuers issuers;
  issuers.add_issued(0, 17, kCommit);
  issuers.add_issued(0, 17, kCommit);
  issuers.add_issued(0, 18, kCommit);
  issuers.add_dirtied(0, 17, kAgent);
  issuers.add_issued(2, 5, {"sh", {}});
  return issuers;
}

TEST(Issuers, ParsingInvertsFormatting) {
  const std::string text = sample().text();
  const auto read = Issuers::parse(text, "w.issuers.txt");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->text(), text);
  ASSERT_NE(read->find(0, 17), nullptr);
  EXPECT_EQ(read->find(0, 17)->issued, std::vector{kCommit}) << "without duplicates";
  EXPECT_EQ(read->find(0, 17)->dirtied, std::vector{kAgent});
  EXPECT_EQ(read->find(2, 5)->issued, (std::vector{Issuer{"sh", {}}}));
  EXPECT_EQ(read->find(1, 17), nullptr);
  EXPECT_EQ(read->size(), 3U);
}

TEST(Issuers, AreEmptyIfNoIssuersWereRecorded) {
  const auto none = Issuers::read("/nonexistent/workload.hcrec");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->size(), 0U);
}

TEST(Issuers, ErrorsNameTheDamagedLine) {
  const std::string head = "#issuers 1\nstack 0\n  f+0x1/0x2\n";
  for (const char* line :
       {"issued 0 1 1 sh\n", "issued 0 1\n", "issued x 1 0 sh\n", "issued 0 -1 0 sh\n", "stack 2\n",
        "stack 1 x\n", "other 0 1 0 sh\n", "\n", "issued 0 1 0 sh", "issued 0 1 0 sh\n  f\n"}) {
    const auto read = Issuers::parse(head + line, "w.issuers.txt");
    ASSERT_FALSE(read) << line;
    EXPECT_TRUE(read.error().subject.starts_with("w.issuers.txt:")) << line;
  }
  EXPECT_FALSE(Issuers::parse("#issuers 2\n", "w"));
}

TEST(Issuers, DamagedTextNeverCrashes) {
  const std::string good = sample().text();
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (int change = 0; change < 3; ++change)
      text[random() % text.size()] = static_cast<char>(random());
    (void)Issuers::parse(text, "w");
  }
}

TEST(Issuers, AreNamedByTheMostInformativeFunction) {
  EXPECT_EQ(telling_function(kCommit), "jbd2_journal_commit_transaction");
  EXPECT_EQ(stack_text(kCommit), "jbd2_journal_commit_transaction < kjournald2");
  EXPECT_EQ(telling_function({"sh", {}}), "");
  EXPECT_EQ(telling_function({"init",
                              {"save_stack_trace+0x2e/0x30", "stack_trace_save+0x35/0x40",
                               "__ftrace_trace_stack+0x225/0x2e0", "__trace_stack+0x16/0x20",
                               "stacktrace_trigger+0x49/0x70", "event_triggers_post_call+0x49/0x70",
                               "trace_event_buffer_commit+0x13a/0x370",
                               "trace_event_raw_event_block_bio+0xc6/0x100",
                               "submit_bio_noacct+0x1d4/0x510", "ext4_commit_super+0xaf/0x1b0"}}),
            "ext4_commit_super")
      << "a stack of user-mode Linux";
  EXPECT_EQ(telling_function({"sh", {"submit_bio+0x1/0x2"}}), "submit_bio");
  EXPECT_EQ(issuers_text(std::vector{kCommit, kAgent, Issuer{"sh", {}}}),
            "jbd2_journal_commit_transaction from jbd2/vda-8, ext4_mark_iloc_dirty from headcrash "
            "agent, from sh");
}

TEST(Issuers, ShowSourceLines) {
  Issuers issuers = sample();
  const std::string before = issuers.text();
  std::map<std::string, std::string> lines;
  for (const std::string& frame : issuers.frames()) lines[frame] = "commit.c:412";
  ASSERT_TRUE(lines.contains(kCommit.stack.front()));
  issuers.add_source_lines({{"gone+0x1/0x2", "gone.c:1"}});
  EXPECT_EQ(issuers.text(), before);
  issuers.add_source_lines(lines);
  const auto read = Issuers::parse(issuers.text(), "w");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text(), issuers.text());
  const Issuer commit{
      .task = "jbd2/vda-8",
      .stack = {"submit_bio+0x7e/0x90 (blk-core.c:7)",
                "jbd2_journal_commit_transaction+0x1174/0x1f90 [jbd2] (commit.c:412)"}};
  EXPECT_EQ(telling_function(commit), "jbd2_journal_commit_transaction");
  EXPECT_EQ(stack_text(commit), "jbd2_journal_commit_transaction (commit.c:412)");
}

}  // namespace
}  // namespace headcrash::explorer
