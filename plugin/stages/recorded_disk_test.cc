// Tests the disks on which workloads are recorded: a disk that holds old data, and a slow disk.
#include <future>
#include <thread>

#include "plugin/media/prior_bytes.h"
#include "plugin/stages/testing/stage_fixture.h"
#include "plugin/states/run_history.h"

namespace headcrash::stages {
namespace {

constexpr std::uint64_t kUsedSectors = 4096;

LoadOrder recorded_into(LoadOrder order, const std::filesystem::path& path) {
  order.record = path;
  return order;
}

std::vector<std::byte> prior(std::uint64_t lba) {
  auto bytes = filled('?');
  media::read_prior_bytes(lba, bytes);
  return bytes;
}

std::vector<std::byte> read_image(const states::StateImage& image, std::uint64_t lba) {
  auto bytes = filled('?');
  EXPECT_TRUE(image.read(lba, bytes));
  return bytes;
}

/// Records a disk that already contains data, then makes a second recording, based on a state of
/// the first. Unwritten sectors hold the prior bytes, a trim changes nothing, and written zeroes
/// read as zeroes. A state in which a write of zeroes is lost must differ from one in which it is
/// kept.
TEST(RecordedDisk, AUsedDiskShowsItsPriorContents) {
  const TemporaryFolder folder;
  const auto server = start_stages(1);
  LoadOrder used = recorded_into({.sectors = kUsedSectors}, folder / "formatted.hcrec");
  used.used_disk = true;
  load(*server, used);
  {
    StageClient client(**server->stage(0));
    EXPECT_EQ(client.read(8), prior(8));
    EXPECT_EQ(client.write(8, filled('x')), 0);
    EXPECT_EQ(client.trim(0, 64), 0);
    EXPECT_EQ(client.read(8), filled('x')) << "a trim must change nothing";
    EXPECT_EQ(client.zero(16, 8), 0);
    EXPECT_EQ(client.read(16), filled('\0'));
    EXPECT_EQ(client.flush(), 0);
  }
  ASSERT_TRUE((*server->stage(0))->seal());

  load(*server, recorded_into({.recording = folder / "formatted.hcrec", .id = "w8"},
                              folder / "workload.hcrec"));
  {
    StageClient client(**server->stage(0));
    EXPECT_EQ(client.read(8), filled('x'));
    EXPECT_EQ(client.read(16), filled('\0'));
    EXPECT_EQ(client.read(24), prior(24));
    EXPECT_EQ(client.write(24, filled('\0')), 0);
    EXPECT_EQ(client.trim(8, 8), 0);
  }
  ASSERT_TRUE((*server->stage(0))->seal());
  const auto run = states::RunHistory::load(folder / "workload.hcrec");
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ((*run)->writes(0).size(), 1U) << "the trim is not a write";
  const auto kept = (*run)->image({.event = (*run)->events()}, 0);
  const auto lost = (*run)->image({.event = (*run)->events(), .keep_others = false}, 0);
  ASSERT_TRUE(kept && lost);
  EXPECT_EQ(read_image(*kept, 24), filled('\0'));
  EXPECT_EQ(read_image(*lost, 24), prior(24));
  EXPECT_EQ(read_image(*kept, 8), filled('x'));
  EXPECT_NE(*kept->digest(), *lost->digest());
  std::uint64_t known = 0;
  kept->visit_written([&](std::uint64_t, std::uint64_t sectors) { known += sectors; });
  EXPECT_EQ(known, 16U) << "x, and zeroes written as bytes; prior contents are omitted";
}

/// A guest flushes without waiting for its write. The delay keeps the write in flight, so the flush
/// does not cover it. Without the delay, the write would be answered before the guest sends the
/// flush.
TEST(RecordedDisk, ASlowDiskCanHaveWritesInFlightAtAFlush) {
  const TemporaryFolder folder;
  const auto server = start_stages(1);
  LoadOrder slow = recorded_into({.sectors = kUsedSectors}, folder / "slow.hcrec");
  slow.delay = {.seed = 0, .most_us = 400'000};
  while (slow.delay.of(1) < std::chrono::milliseconds(200) ||
         slow.delay.of(2) > std::chrono::milliseconds(20))
    ++slow.delay.seed;
  load(*server, slow);
  {
    auto write = std::async(std::launch::async, [&] {
      StageClient client(**server->stage(0));
      return client.write(0, filled('a'));
    });
    while ((*server->stage(0))->status().writes == 0) std::this_thread::yield();
    StageClient client(**server->stage(0));
    EXPECT_EQ(client.flush(), 0);
    EXPECT_EQ(write.get(), 0);
  }
  ASSERT_TRUE((*server->stage(0))->seal());
  const auto run = states::RunHistory::load(folder / "slow.hcrec");
  ASSERT_TRUE(run);
  ASSERT_TRUE((*run)->flushes(0).at(0).acked_event && (*run)->writes(0).at(0).acked_event);
  EXPECT_LT(*(*run)->flushes(0)[0].acked_event, *(*run)->writes(0)[0].acked_event)
      << "the flush must overtake";
  EXPECT_EQ((*run)->unflushed_at(0, (*run)->events()).size(), 1U)
      << "the flush must not cover the write";
}

TEST(RecordedDisk, WritesToASlowRangeTakeLonger) {
  const AnswerDelay delay{.seed = 0, .most_us = 0, .slow = {{100, 8}, {200, 1}}, .slow_us = 7};
  const auto of = [&](model::Op op, std::uint64_t lba, std::uint32_t sectors,
                      std::size_t disk_index = 0) {
    return delay.of(1, disk_index, {.op = op, .lba = lba, .sectors = sectors}).count();
  };
  EXPECT_EQ(of(model::Op::write, 92, 8), 0);
  EXPECT_EQ(of(model::Op::write, 92, 9), 7);
  EXPECT_EQ(of(model::Op::write, 107, 1), 7);
  EXPECT_EQ(of(model::Op::write, 108, 92), 0);
  EXPECT_EQ(of(model::Op::write, 108, 93), 7);
  EXPECT_EQ(of(model::Op::write, 100, 8, 1), 0) << "the log disk has the same sector numbers";
  EXPECT_EQ(of(model::Op::trim, 100, 8), 0) << "only writes are slow";
  EXPECT_EQ(of(model::Op::flush, 0, 0), 0);
}

}  // namespace
}  // namespace headcrash::stages
