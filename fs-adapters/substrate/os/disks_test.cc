// Tests the devices below a driver's queue (emulated, real, in memory), and the store above it
// (fiber_store.h).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "fs-adapters/substrate/os/fiber_store.h"
#include "fs-adapters/substrate/os/model_disk.h"
#include "fs-adapters/substrate/os/raw_disk.h"
#include "fs-adapters/substrate/os/testing/world.h"
#include "plugin/base/testing/temporary_folder.h"
#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::os {
namespace {

using bench::filled;
using model::Status;

struct Emulated {
  model::bench::DiskFixture hardware{model::bench::kCacheOff};
  VirtualClock clock{hardware.machine.simulation()};
  Executor executor{clock};
  ModelDisk disk{hardware.machine};
  Cpu cpu{executor, {}};
  DiskQueue queue{executor, cpu, disk, {}};
  FiberStore store{queue, {.request_sectors_max = 16}};
  Account account{.name = "ann"};
};

TEST(ModelDisk, RequestsTakeTheModelledTimeAndReachTheMedium) {
  Emulated e;
  EXPECT_EQ(e.disk.sectors(), e.hardware.profile.capacity_sectors);
  EXPECT_FALSE(e.disk.volatile_cache());
  const std::vector<std::byte> bytes = filled(40, 6);
  std::vector<std::byte> back(bytes.size());
  e.executor.spawn(Executor::Kind::user, e.account, [&] {
    EXPECT_TRUE(e.store.write(100, bytes));
    EXPECT_GT(e.executor.now(), 3 * model::kMillisecondNs);
    EXPECT_TRUE(e.store.read(100, back));
    EXPECT_TRUE(e.store.write_zeroes(110, 20));
  });
  e.executor.run();
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(e.queue.counters().requests, 3U + 3U + 2U);  // a request has at most 16 sectors
  EXPECT_EQ(e.hardware.on_medium(100, 10), filled(10, 6));
  EXPECT_EQ(e.hardware.on_medium(110, 20), filled(20, 0));
  EXPECT_EQ(e.account.disk_wait_ns, e.executor.now());
}

TEST(FiberStore, FlushesAfterEachWriteIfRequested) {
  bench::World w;
  FiberStore store(w.queue, {.flushes = true});
  w.run_as_user([&] {
    EXPECT_TRUE(store.write(8, filled(4, 1)));
    EXPECT_TRUE(store.write_zeroes(16, 200));
    std::vector<std::byte> back(512);
    EXPECT_TRUE(store.read(8, back));
  });
  EXPECT_EQ(w.disk.log,
            (std::vector<std::string>{"w8+4", "f0+0", "w16+128", "w144+72", "f0+0", "r8+1"}));
}

TEST(ModelDisk, APowerCutIsReported) {
  Emulated e;
  std::string problem;
  e.executor.spawn(Executor::Kind::user, e.account, [&] {
    for (std::uint64_t lba = 0; lba < 1000; lba += 10) {
      if (const Result<void> result = e.store.write(lba, filled(4, 1)); !result) {
        problem = result.error().message();
        return;
      }
    }
  });
  e.executor.run_until(50 * model::kMillisecondNs);
  e.hardware.machine.power_cut();
  e.executor.halt();
  EXPECT_NE(problem.find("cannot be written: the power is off"), std::string::npos) << problem;
}

TEST(MemoryDisk, CompletesAfterStartReturnsEvenWithoutLatency) {
  bench::World w({}, {}, 0);
  const std::vector<std::byte> bytes = filled(2, 3);
  struct Done final : BlockDone {
    void done(Status status) override {
      EXPECT_EQ(status, Status::ok);
      called = true;
    }
    bool called = false;
  } done;
  BlockRequest request{model::Op::write, 5, 2};
  request.data = bytes;
  w.memory.start(request, done);
  EXPECT_FALSE(done.called);
  w.executor.run_until(0);
  w.run_as_user([&] { w.executor.sleep_until(1); });
  EXPECT_TRUE(done.called);
  EXPECT_EQ(w.medium.word(6), 3U);
}

TEST(MemoryDisk, RejectsRequestsBeyondItsEnd) {
  bench::World w;
  const std::vector<std::byte> bytes = filled(2, 3);
  w.run_as_user([&] {
    BlockRequest request{model::Op::write, w.queue.sectors() - 1, 2};
    request.data = bytes;
    EXPECT_EQ(w.queue.transfer(request), Status::out_of_range);
  });
}

struct Real {
  explicit Real(std::uint64_t sectors) {
    path = folder.path() / "disk";
    std::ofstream(path).close();
    std::filesystem::resize_file(path, sectors * model::kSectorBytes);
  }
  TemporaryFolder folder;
  std::filesystem::path path;
  WallClock clock;
  Executor executor{clock};
  Account account{.name = "ann"};
};

TEST(RawDisk, ReadsWritesZeroesAndFlushes) {
  Real real(1000);
  auto disk = RawDisk::open(real.path, real.clock, {.threads = 3, .buffered = true});
  ASSERT_TRUE(disk) << disk.error().message();
  EXPECT_EQ((*disk)->sectors(), 1000U);
  Cpu cpu(real.executor, {});
  DiskQueue queue(real.executor, cpu, **disk, {.flush_for_order = true});
  FiberStore store(queue);
  std::vector<std::byte> back(300 * 512);
  real.executor.spawn(Executor::Kind::user, real.account, [&] {
    EXPECT_TRUE(store.write(10, filled(300, 8)));
    EXPECT_TRUE(store.write_zeroes(20, 5));
    BlockRequest zeroes{model::Op::write_zeroes, 30, 3};
    EXPECT_EQ(queue.transfer(zeroes), Status::ok);
    EXPECT_TRUE(store.read(10, back));
    std::vector<std::byte> beyond(512);
    EXPECT_FALSE(store.read(1000, beyond));
  });
  real.executor.run();
  const std::span<const std::byte> all(back);
  EXPECT_TRUE(model::bench::is_filled_with(all.first(10 * 512), std::uint64_t{8}));
  EXPECT_TRUE(model::bench::is_filled_with(all.subspan(10 * 512, 5 * 512), std::uint64_t{0}));
  EXPECT_TRUE(model::bench::is_filled_with(all.subspan(20 * 512, 3 * 512), std::uint64_t{0}));
  EXPECT_TRUE(model::bench::is_filled_with(all.subspan(23 * 512), std::uint64_t{8}));
  EXPECT_GT(queue.counters().flushes, 0U);
}

TEST(RawDisk, RejectsPathsThatAreNotDisks) {
  Real real(3);
  const auto refused = [&](const std::string& path) {
    const auto disk = RawDisk::open(path, real.clock, {.buffered = true});
    return disk ? std::string() : disk.error().message();
  };
  EXPECT_NE(refused(real.folder.path() / "nothing").find("cannot be opened"), std::string::npos);
  EXPECT_NE(refused("/dev/null").find("is neither a block device nor a regular file"),
            std::string::npos);
  std::filesystem::resize_file(real.path, 1000);
  EXPECT_NE(refused(real.path).find("not a multiple of 512 bytes"), std::string::npos);
}

TEST(RawDisk, AnImageHasOneOwner) {
  Real real(1000);
  auto first = RawDisk::open(real.path, real.clock, {.buffered = true});
  ASSERT_TRUE(first) << first.error().message();
  const auto second = RawDisk::open(real.path, real.clock, {.buffered = true});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().problem, "is in use by another program");
  first->reset();
  EXPECT_TRUE(RawDisk::open(real.path, real.clock, {.buffered = true}));
}

TEST(RawDisk, CanBeDestroyedWithRequestsInFlight) {
  Real real(1000);
  auto disk = RawDisk::open(real.path, real.clock, {.buffered = true});
  ASSERT_TRUE(disk);
  struct Done final : BlockDone {
    void done(Status) override { ADD_FAILURE() << "completion after destruction"; }
  };
  {
    Done done;
    const std::vector<std::byte> bytes = filled(100, 8);
    BlockRequest request{model::Op::write, 10, 100};
    request.data = bytes;
    for (int i = 0; i < 20; ++i) (*disk)->start(request, done);
    disk->reset();
  }
  real.clock.pass_until(real.clock.now());
  EXPECT_EQ(std::filesystem::file_size(real.path), 512'000U);
}

}  // namespace
}  // namespace headcrash::os
