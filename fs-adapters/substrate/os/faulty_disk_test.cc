// Tests injected faults (faulty_disk.h): which requests fail, and which bytes are on the medium
// afterwards.
#include "fs-adapters/substrate/os/faulty_disk.h"

#include <gtest/gtest.h>

#include "fs-adapters/substrate/os/testing/world.h"

namespace headcrash::os {
namespace {

using bench::filled;
using model::Op;
using model::Status;

/// A disk without a driver; each request is complete before the next one is sent.
struct FaultyWorld {
  struct Heard final : BlockDone {
    void done(Status how) override { status = how; }
    Status status = Status::power_lost;
  };
  explicit FaultyWorld(std::vector<DiskFault> faults) : disk(memory, faults) {}
  Status write(std::uint64_t lba, std::uint64_t word, std::uint32_t sectors = 1) {
    const auto data = filled(sectors, word);
    BlockRequest request{Op::write, lba, sectors};
    request.data = data;
    return serve(request);
  }
  Status read(std::uint64_t lba) {
    auto into = filled(1, 0);
    BlockRequest request{Op::read, lba, 1};
    request.into = into;
    return serve(request);
  }
  Status serve(const BlockRequest& request) {
    Heard heard;
    disk.start(request, heard);
    while (simulation.run_next()) {
    }
    return heard.status;
  }

  model::Simulation simulation;
  bench::Medium medium{256};
  MemoryDisk memory{simulation, medium, 1000};
  FaultyDisk disk;
};

TEST(FaultyDisk, FailsTheNthRequestTheGivenNumberOfTimes) {
  FaultyWorld w({{.sectors = {10, 12}, .nth = 2, .times = 2}});
  EXPECT_EQ(w.write(10, 1), Status::ok);
  EXPECT_EQ(w.write(20, 1), Status::ok) << "elsewhere: not counted";
  EXPECT_EQ(w.read(10), Status::ok) << "a read: not counted";
  EXPECT_EQ(w.write(9, 2, 2), Status::medium_error) << "touches sector 10";
  EXPECT_EQ(w.write(11, 2), Status::medium_error);
  EXPECT_EQ(w.medium.word(11), 0U);
  EXPECT_EQ(w.write(11, 3), Status::ok);
  EXPECT_EQ(w.medium.word(11), 3U);
  EXPECT_EQ(w.disk.failed(), 2U);
}

TEST(FaultyDisk, APermanentFaultLastsUntilRepair) {
  FaultyWorld w({{.op = Op::read, .times = DiskFault::kForGood, .status = Status::device_failed}});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(w.read(3), Status::device_failed);
  EXPECT_EQ(w.write(3, 1), Status::ok);
  w.disk.clear();
  EXPECT_EQ(w.read(3), Status::ok);
}

TEST(FaultyDisk, AFailedWriteLeavesTheSpecifiedPart) {
  FaultyWorld w({{.nth = 1, .leaves = DiskFault::Leaves::nothing},
                 {.nth = 2, .leaves = DiskFault::Leaves::first_half},
                 {.nth = 3, .leaves = DiskFault::Leaves::everything}});
  EXPECT_EQ(w.write(0, 7, 2), Status::medium_error);
  EXPECT_EQ(w.medium.word(0), 0U);
  EXPECT_EQ(w.write(0, 7, 2), Status::medium_error);
  EXPECT_EQ(w.medium.word(0), 7U);
  EXPECT_EQ(w.medium.word(1), 0U);
  EXPECT_EQ(w.write(0, 8, 2), Status::medium_error);
  EXPECT_EQ(w.medium.word(1), 8U);
}

TEST(FaultyDisk, CanFailFlushes) {
  FaultyWorld w({{.op = Op::flush, .nth = 2}});
  EXPECT_EQ(w.serve({Op::flush}), Status::ok);
  EXPECT_EQ(w.serve({Op::flush}), Status::medium_error);
}

TEST(FaultyDisk, FormatsAFault) {
  EXPECT_EQ(format(DiskFault{}), "write 1 fails once, medium_error");
  EXPECT_EQ(format(DiskFault{.op = Op::read,
                             .sectors = {64, 128},
                             .nth = 7,
                             .times = DiskFault::kForGood,
                             .leaves = DiskFault::Leaves::first_half,
                             .status = Status::device_failed}),
            "read 7 of sectors 64-128 fails permanently, first half written, device_failed");
}

TEST(FaultyDisk, EqualSeedsDrawEqualFaults) {
  const std::vector<SectorRange> areas{{0, 64}, {64, 256}};
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    Random one(seed), other(seed);
    EXPECT_EQ(format(draw_fault(one, areas)), format(draw_fault(other, areas)));
  }
}

}  // namespace
}  // namespace headcrash::os
