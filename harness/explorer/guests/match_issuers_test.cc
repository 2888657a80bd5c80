#include "harness/explorer/guests/match_issuers.h"

#include <gtest/gtest.h>

#include <random>

#include "harness/explorer/testing/recorded_disk.h"

namespace headcrash::explorer {
namespace {

using Kind = BlockEvent::Kind;
using Op = BlockEvent::Op;

RecordedDisk::Data sectors(std::size_t count) {
  return RecordedDisk::Data(count * model::kSectorBytes);
}

class MatchIssuers : public testing::Test {
 public:
  MatchIssuers& queue(const std::string& task, std::uint64_t sector, std::uint32_t count,
                      Op op = Op::write, const std::string& device = "254,0") {
    events_.push_back({.kind = Kind::queued,
                       .op = op,
                       .preflush = op == Op::flush,
                       .device = device,
                       .sector = sector,
                       .sectors = count,
                       .task = task});
    return *this;
  }
  MatchIssuers& commit(const std::string& task, std::uint64_t sector) {
    queue(task, sector, 8);
    events_.back().preflush = events_.back().fua = true;
    return *this;
  }
  MatchIssuers& issue(std::uint64_t sector, std::uint32_t count, Op op = Op::write,
                      const std::string& device = "254,0") {
    events_.push_back({.kind = Kind::issued,
                       .op = op,
                       .preflush = op == Op::flush,
                       .device = device,
                       .sector = sector,
                       .sectors = count,
                       .task = "kworker"});
    return *this;
  }
  MatchIssuers& dirty(const std::string& task, std::uint64_t sector) {
    events_.push_back(
        {.kind = Kind::dirtied, .device = "254,0", .sector = sector, .sectors = 8, .task = task});
    return *this;
  }
  MatchIssuers& dirty_page(const std::string& task, std::uint64_t inode, std::uint64_t page) {
    events_.push_back(
        {.kind = Kind::page_dirtied, .device = "254,0", .inode = inode, .at = page, .task = task});
    return *this;
  }
  MatchIssuers& place(std::uint64_t inode, std::uint64_t at, std::uint64_t block,
                      std::uint64_t blocks) {
    events_.push_back({.kind = Kind::placed,
                       .device = "254,0",
                       .inode = inode,
                       .at = at,
                       .block = block,
                       .blocks = blocks});
    return *this;
  }
  MatchedIssuers match(RecordedDisk& disk,
                       const std::vector<TracedDevice>& devices = {{0, "254,0"}}) {
    const auto run = disk.load();
    matched_ = match_issuers(*run, devices, events_);
    return matched_;
  }
  /// Returns the tasks that issued a request, joined by '+'.
  std::string tasks(model::RequestId request, model::DeviceId device = 0) const {
    const auto* found = matched_.issuers.find(device, request);
    return found == nullptr ? "" : joined(found->issued);
  }
  std::string dirtied(model::RequestId request) const {
    const auto* found = matched_.issuers.find(0, request);
    return found == nullptr ? "" : joined(found->dirtied);
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "workload.hcrec";
  std::vector<BlockEvent> events_;
  MatchedIssuers matched_;

 private:
  static std::string joined(const std::vector<Issuer>& issuers) {
    std::string text;
    for (const Issuer& issuer : issuers) text += (text.empty() ? "" : "+") + issuer.task;
    return text;
  }
};

TEST_F(MatchIssuers, MatchesByPositionInIssueOrder) {
  queue("first", 8, 8).queue("other", 64, 8).issue(64, 8).issue(8, 8);
  queue("second", 8, 8).issue(8, 8);
  RecordedDisk disk(path_);
  disk.write(1, 64, sectors(8)).write(2, 8, sectors(8)).write(3, 8, sectors(8));
  disk.write(4, 8, sectors(8));
  match(disk);
  EXPECT_EQ(tasks(1), "other");
  EXPECT_EQ(tasks(2), "first");
  EXPECT_EQ(tasks(3), "second") << "the same place, later";
  EXPECT_EQ(tasks(4), "") << "a request that was not traced has no issuer";
  EXPECT_EQ(matched_.requests, 4U);
  EXPECT_EQ(matched_.matched, 3U);
}

TEST_F(MatchIssuers, MatchesMergedAndSplitWrites) {
  queue("a", 8, 8).queue("b", 16, 8).issue(8, 16);
  queue("c", 100, 20).issue(100, 12).issue(112, 8);
  queue("d", 200, 8).issue(200, 8).queue("e", 208, 8).issue(208, 8);
  RecordedDisk disk(path_);
  disk.write(1, 8, sectors(16)).write(2, 100, sectors(12)).write(3, 112, sectors(8));
  disk.write(4, 200, sectors(16));
  match(disk);
  EXPECT_EQ(tasks(1), "a+b");
  EXPECT_EQ(tasks(2), "c");
  EXPECT_EQ(tasks(3), "c");
  EXPECT_EQ(tasks(4), "d+e") << "QEMU merges adjacent requests";
  EXPECT_EQ(matched_.matched, 4U);
}

TEST_F(MatchIssuers, MatchesFlushesBeforeAndAfterACommit) {
  commit("jbd2", 8).issue(0, 0, Op::flush).issue(8, 8).issue(0, 0, Op::flush);
  queue("fsync", 0, 0, Op::flush).queue("sync", 0, 0, Op::flush).issue(0, 0, Op::flush);
  RecordedDisk disk(path_);
  disk.flush(1).write(2, 8, sectors(8)).flush(3).flush(4);
  match(disk);
  EXPECT_EQ(tasks(1), "jbd2");
  EXPECT_EQ(tasks(2), "jbd2");
  EXPECT_EQ(tasks(3), "jbd2");
  EXPECT_EQ(tasks(4), "fsync+sync");
}

TEST_F(MatchIssuers, MatchesARequestThatTheDriverRejectedOnce) {
  queue("a", 8, 8).issue(8, 8).issue(8, 8).queue("b", 8, 8).issue(8, 8);
  RecordedDisk disk(path_);
  disk.write(1, 8, sectors(8)).write(2, 8, sectors(8));
  match(disk);
  EXPECT_EQ(tasks(1), "a");
  EXPECT_EQ(tasks(2), "b");
}

TEST_F(MatchIssuers, DistinguishesOperationsAndDisks) {
  queue("trim", 8, 8, Op::trim).queue("write", 8, 8).issue(8, 8).issue(8, 8, Op::trim);
  queue("log", 8, 8, Op::write, "254,32").issue(8, 8, Op::write, "254,32");
  RecordedDisk disk(path_, 4096, true, 4096);
  disk.write(1, 8, sectors(8)).trim(2, 8, 8).on(1).write(3, 8, sectors(8));
  match(disk, {{0, "254,0"}, {1, "254,32"}});
  EXPECT_EQ(tasks(1), "write");
  EXPECT_EQ(tasks(2), "trim");
  EXPECT_EQ(tasks(3, 1), "log");
}

TEST_F(MatchIssuers, FindsTheLastTaskThatDirtiedABlock) {
  dirty("early", 8).dirty("late", 8).dirty("neighbour", 16).dirty("far", 64);
  queue("w", 8, 16).issue(8, 16).dirty("after", 8);
  RecordedDisk disk(path_);
  disk.write(1, 8, sectors(16));
  match(disk);
  EXPECT_EQ(tasks(1), "w");
  EXPECT_EQ(dirtied(1), "late+neighbour");
}

TEST_F(MatchIssuers, FindsTheTaskThatDirtiedAPageByItsPosition) {
  dirty_page("one", 12, 0).dirty_page("two", 12, 1).dirty_page("other", 13, 0);
  place(12, 0, 1, 2).place(13, 0, 20, 1).place(14, 3, 30, 4).dirty_page("later", 14, 5);
  queue("w", 8, 16).issue(8, 16).queue("w", 32 * 8, 8).issue(32 * 8, 8);
  RecordedDisk disk(path_);
  disk.write(1, 8, sectors(16)).write(2, 32 * 8, sectors(8));
  match(disk, {{0, "254,0", {.sectors = 8}}});
  EXPECT_EQ(dirtied(1), "one+two");
  EXPECT_EQ(dirtied(2), "later") << "the place was known before the page became dirty";
}

TEST_F(MatchIssuers, PositionsAreCountedInFileSystemBlocks) {
  dirty_page("small", 12, 1).place(12, 4, 100, 4);
  queue("w", 206, 2).issue(206, 2);
  RecordedDisk disk(path_);
  disk.write(1, 206, sectors(2));
  match(disk, {{0, "254,0", {.sectors = 2}}});
  EXPECT_EQ(dirtied(1), "small") << "the last of four blocks of 1 KiB, all in the same page";
  match(disk);
  EXPECT_EQ(dirtied(1), "") << "unknown blocks";
}

TEST_F(MatchIssuers, ConvertsXfsGroupBlockNumbers) {
  dirty_page("grouped", 12, 0).place(12, 0, (2U << 7) + 5, 1);
  queue("w", 205 * 8, 8).issue(205 * 8, 8);
  RecordedDisk disk(path_);
  disk.write(1, 205 * 8, sectors(8));
  match(disk, {{0, "254,0", {.sectors = 8, .group_blocks = 100, .group_bits = 7}}});
  EXPECT_EQ(dirtied(1), "grouped");
}

TEST(FileSystemBlocks, AreReadFromTheSuperblock) {
  std::vector<std::byte> disk(kFileSystemBlocksBytes);
  const auto put = [&](std::size_t at, std::initializer_list<int> bytes) {
    for (const int each : bytes) disk[at++] = static_cast<std::byte>(each);
  };
  EXPECT_EQ(file_system_blocks(disk).sectors, 0U);
  put(1024 + 56, {0x53, 0xef});
  EXPECT_EQ(file_system_blocks(disk).sectors, 2U);
  put(1024 + 24, {2});
  EXPECT_EQ(file_system_blocks(disk).sectors, 8U);
  disk.assign(disk.size(), std::byte{0});
  put(1024, {0x10, 0x20, 0xf5, 0xf2});
  put(1024 + 16, {12});
  EXPECT_EQ(file_system_blocks(disk).sectors, 8U);
  put(0, {'X', 'F', 'S', 'B', 0, 0, 0x10, 0});
  put(84, {0, 0, 0x4b, 0});
  put(124, {15});
  EXPECT_EQ(file_system_blocks(disk).sectors, 8U);
  EXPECT_EQ(file_system_blocks(disk).group_blocks, 0x4b00U);
  EXPECT_EQ(file_system_blocks(disk).group_bits, 15U);
  put(124, {200});
  EXPECT_EQ(file_system_blocks(disk).sectors, 0U) << "damaged";
  EXPECT_EQ(file_system_blocks(std::span(disk).first(100)).sectors, 0U);
}

TEST_F(MatchIssuers, AcceptsAnySequenceOfEvents) {
  std::mt19937_64 random(1);
  RecordedDisk disk(path_);
  for (model::RequestId id = 1; id < 40; ++id) {
    if (id % 5 == 0)
      disk.flush(id);
    else
      disk.write(id, random() % 32, sectors(1 + random() % 16));
  }
  const auto run = disk.load();
  for (int round = 0; round < 200; ++round) {
    std::vector<BlockEvent> events;
    for (int i = 0; i < 60; ++i)
      events.push_back({.kind = static_cast<Kind>(random() % 5),
                        .op = static_cast<Op>(random() % 4),
                        .preflush = random() % 2 == 0,
                        .fua = random() % 2 == 0,
                        .device = "254,0",
                        .sector = random() % 8 == 0 ? random() : random() % 32,
                        .sectors = static_cast<std::uint32_t>(random() % 20),
                        .inode = random() % 3,
                        .at = random() % 8 == 0 ? random() : random() % 8,
                        .block = random() % 8 == 0 ? random() : random() % 8,
                        .blocks = random() % 4,
                        .task = "t"});
    const auto matched = match_issuers(
        *run, {{0, "254,0", {.sectors = 2, .group_blocks = 3, .group_bits = 2}}}, events);
    EXPECT_LE(matched.matched, matched.requests);
    EXPECT_EQ(matched.issuers.size(), matched.matched);
  }
}

}  // namespace
}  // namespace headcrash::explorer
