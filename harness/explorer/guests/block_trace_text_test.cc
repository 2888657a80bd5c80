#include "harness/explorer/guests/block_trace_text.h"

#include <gtest/gtest.h>

#include <random>

namespace headcrash::explorer {
namespace {

using Kind = BlockEvent::Kind;
using Op = BlockEvent::Op;

/// Text from Linux 6.1: a commit block with a flush and FUA, issued by a thread whose name contains
/// a dash.
constexpr const char* kText =
    "# tracer: nop\n"
    "#\n"
    "# entries-in-buffer/entries-written: 7/9   #P:1\n"
    "#\n"
    "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
    "     jbd2/vda-8-77      [000] .....   312: block_bio_queue: 254,0 FWFSM 8236 + 8 "
    "[jbd2/vda-8]\n"
    "     jbd2/vda-8-77      [000] .....   313: <stack trace>\n"
    " => submit_bio+0x7e/0x90\n"
    " => jbd2_journal_commit_transaction+0x1174/0x1f90 [jbd2]\n"
    "  kworker/0:1H-31      [000] .....   314: block_rq_issue: 254,0 FF 0 () "
    "18446744073709551615 + 0 [kworker/0:1H]\n"
    "  kworker/0:1H-31      [000] .....   315: block_rq_issue: 254,0 WSM 4096 () "
    "8236 + 8 be,0,4 [kworker/0:1H]\n"
    "  a [0] b: c-12      [000] d..1.   316: block_dirty_buffer: 254,32 sector=515 size=4096\n"
    "  a [0] b: c-12      [000] d..1.   317: <stack trace>\n"
    " => ext4_mark_iloc_dirty+0x1/0x2\n"
    "  sh-5      [000] d..1.   318: block_bio_queue: 254,0 RA 16 + 8 [sh]\n"
    "  sh-5      [000] d..1.   319: <stack trace>\n"
    " => read_pages+0x1/0x2\n"
    "  sh-5      [000] d..1.   320: block_bio_queue: 254,0 DS 64 + 1024 [sh]\n";

TEST(BlockTraceText, ParsesEventsWithTheirStacks) {
  const auto trace = parse_block_trace(kText);
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(trace->lost, 2U);
  ASSERT_EQ(trace->events.size(), 5U) << "a read is no event";
  const BlockEvent& commit = trace->events[0];
  EXPECT_EQ(commit.kind, Kind::queued);
  EXPECT_EQ(commit.op, Op::write);
  EXPECT_TRUE(commit.preflush);
  EXPECT_TRUE(commit.fua);
  EXPECT_EQ(commit.device, "254,0");
  EXPECT_EQ(commit.sector, 8236U);
  EXPECT_EQ(commit.sectors, 8U);
  EXPECT_EQ(commit.task, "jbd2/vda-8");
  EXPECT_EQ(commit.stack,
            (std::vector<std::string>{"submit_bio+0x7e/0x90",
                                      "jbd2_journal_commit_transaction+0x1174/0x1f90 [jbd2]"}));
  const BlockEvent& flush = trace->events[1];
  EXPECT_EQ(flush.kind, Kind::issued);
  EXPECT_EQ(flush.op, Op::flush);
  EXPECT_EQ(flush.sectors, 0U);
  const BlockEvent& issued = trace->events[2];
  EXPECT_EQ(issued.sector, 8236U) << "a newer kernel has fields after the sectors";
  EXPECT_FALSE(issued.fua);
  EXPECT_TRUE(issued.stack.empty());
  const BlockEvent& dirtied = trace->events[3];
  EXPECT_EQ(dirtied.kind, Kind::dirtied);
  EXPECT_EQ(dirtied.device, "254,32");
  EXPECT_EQ(dirtied.sector, 515U * 8);
  EXPECT_EQ(dirtied.task, "a [0] b: c");
  EXPECT_EQ(dirtied.stack.size(), 1U);
  EXPECT_EQ(trace->events[4].op, Op::trim);
  EXPECT_TRUE(trace->events[4].stack.empty()) << "a read's stack belongs to no event";
}

/// The events have the form that Linux 6.1 and 7.3 print.
TEST(BlockTraceText, ParsesDirtyPagesAndTheirPositions) {
  const auto trace = parse_block_trace(
      "  sh-5  [000] .....  1: xfs_trans_log_buf: dev 254:0 daddr 0x80 bbcount 0x8 hold 3\n"
      "  sh-5  [000] .....  2: <stack trace>\n"
      " => xfs_trans_log_buf+0x1/0x2\n"
      "  sh-5  [000] .....  3: writeback_dirty_folio: bdi 254:0: ino=131 index=2\n"
      "  sh-5  [000] .....  4: <stack trace>\n"
      " => iomap_write_end+0x1/0x2\n"
      "  sh-5  [000] .....  5: xfs_iext_insert: dev 254:0 ino 0x83 state  cur c1/0 fileoff 0x1 "
      "startblock 0x18 fsbcount 0x4 flag 0 caller f+0x1/0x2\n"
      "  sh-5  [000] .....  6: xfs_map_blocks_found: dev 254:0 ino 0x83 disize 0x0 pos 0x0 "
      "bytecount 0x4000 fork data startoff 0x1 startblock 0xffffffffe0005 fsbcount 0x4\n"
      "  sh-5  [000] .....  7: f2fs_set_page_dirty: dev = (254,0), ino = 4, DATA, FILE, index = 9, "
      "dirty = 1, uptodate = 1\n"
      "  sh-5  [000] .....  8: f2fs_submit_page_write: dev = (254,0), ino = 4, page_index = 0x9, "
      "oldaddr = 0x0, newaddr = 0x1203, rw = WRITE(S), type = HOT_DATA\n"
      "  sh-5  [000] .....  9: f2fs_submit_folio_write: dev = (254,0), ino = 4, folio_index = 0xa, "
      "oldaddr = 0x0, newaddr = 0x1204, rw = WRITE(S), type = HOT_DATA\n"
      "  sh-5  [000] ..... 10: ext4_es_insert_extent: dev 254,0 ino 12 es [3/16) mapped 8209 "
      "status W\n"
      "  sh-5  [000] ..... 11: writeback_dirty_folio: bdi btrfs-1: ino=257 index=0\n"
      "  sh-5  [000] ..... 12: f2fs_set_page_dirty: in other words\n");
  ASSERT_TRUE(trace) << trace.error().message();
  ASSERT_EQ(trace->events.size(), 9U) << "an event of a file system in other words is no event";
  const auto& events = trace->events;
  EXPECT_EQ(events[0].kind, Kind::dirtied);
  EXPECT_EQ(events[0].device, "254,0");
  EXPECT_EQ(events[0].sector, 0x80U);
  EXPECT_EQ(events[0].sectors, 8U);
  EXPECT_EQ(events[0].stack.size(), 1U);
  EXPECT_EQ(events[1].kind, Kind::page_dirtied);
  EXPECT_EQ(events[1].device, "254,0");
  EXPECT_EQ(events[1].inode, 131U);
  EXPECT_EQ(events[1].at, 2U);
  EXPECT_EQ(events[1].stack.size(), 1U);
  EXPECT_EQ(events[2].kind, Kind::placed);
  EXPECT_EQ(events[2].inode, 131U);
  EXPECT_EQ(events[2].at, 1U);
  EXPECT_EQ(events[2].block, 0x18U);
  EXPECT_EQ(events[2].blocks, 4U);
  EXPECT_EQ(events[3].blocks, 0U) << "not allocated yet";
  EXPECT_EQ(events[4].at, 9U);
  EXPECT_EQ(events[4].device, "254,0");
  EXPECT_EQ(events[5].at, 9U);
  EXPECT_EQ(events[5].block, 0x1203U);
  EXPECT_EQ(events[5].blocks, 1U);
  EXPECT_EQ(events[6].block, 0x1204U);
  EXPECT_EQ(events[7].at, 3U);
  EXPECT_EQ(events[7].block, 8209U);
  EXPECT_EQ(events[7].blocks, 16U);
  EXPECT_EQ(events[8].device, "") << "a file system of several disks";
}

TEST(BlockTraceText, IgnoresStacksOfOtherThreads) {
  const auto trace = parse_block_trace(
      "  sh-5      [000] d..1.   318: block_bio_queue: 254,0 WS 16 + 8 [sh]\n"
      "  sh-6      [000] d..1.   319: <stack trace>\n"
      " => read_pages+0x1/0x2\n");
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->events.at(0).stack.empty());
}

TEST(BlockTraceText, ErrorsGiveTheNumberOfTheDamagedLine) {
  for (const char* line : {"garbage", "  sh-5 [000] d..1. 1: block_bio_queue: 254,0 WS 16 8 [sh]",
                           "  sh-5 [000] d..1. 1: block_bio_queue: 254,0 WS x + 8 [sh]",
                           "  sh-5 [000] d..1. 1: block_bio_queue: 254,0 WS 1 + 99999999999 [sh]",
                           "  sh-5 [000] d..1. 1: block_dirty_buffer: 254,0 sector=1 size=0",
                           "  sh [000] d..1. 1: block_bio_queue: 254,0 WS 16 + 8 [sh]",
                           "# entries-in-buffer/entries-written: x"}) {
    const auto trace = parse_block_trace(std::string("# tracer: nop\n") + line + "\n");
    ASSERT_FALSE(trace) << line;
    EXPECT_EQ(trace.error().subject, "line 2 of the guest's trace");
  }
}

TEST(BlockTraceText, DamagedTextNeverCrashes) {
  std::mt19937 random(1);
  const std::string good = kText;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good.substr(0, random() % (good.size() + 1));
    for (int change = 0; change < 4 && !text.empty(); ++change)
      text[random() % text.size()] = static_cast<char>(random());
    (void)parse_block_trace(text);
  }
}

}  // namespace
}  // namespace headcrash::explorer
