// Tests arrays whose members are modelled drives; other tests use simpler members. Service times
// depend on head positions, and must not depend on whether the drives store data. Arrays must also
// tolerate the loss of members.
#include <gtest/gtest.h>

#include "plugin/model/array/array.h"
#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

using bench::DiskFixture;
using bench::Host;
using bench::LogObserver;
using bench::MemoryStore;

constexpr TimeNs kRevolutionNs = 10 * kMillisecondNs;

struct DisksFixture {
  explicit DisksFixture(RaidLevel level, std::uint32_t members, bool with_bytes = true)
      : bytes(with_bytes), drive(bench::small_profile()), machine(observer) {
    profile.name = "array";
    profile.level = level;
    profile.members = members;
    profile.stripe_unit_sectors = 4;
    profile.recovery = ArrayRecovery::resync;
    ArrayOptions options{profile, machine.simulation(), observer};
    options.bytes = bytes;
    for (std::uint32_t m = 0; m < members; ++m) {
      stores.push_back(std::make_unique<MemoryStore>(drive.capacity_sectors));
      faults.push_back(std::make_unique<DeviceFaults>(machine.simulation(), observer,
                                                      static_cast<DeviceId>(m + 1), 1));
      DiskOptions disk{drive, machine.simulation(), observer};
      disk.store = bytes ? stores.back().get() : nullptr;
      disk.device = static_cast<DeviceId>(m + 1);
      disk.faults = faults.back().get();
      disk.spindle_phase_ppm = m * 130'000;
      options.members.push_back(std::make_unique<Disk>(disk));
    }
    auto made = Array::create(std::move(options));
    EXPECT_TRUE(made) << made.error().message();
    array = made->get();
    machine.add_device("array", *std::move(made));
  }
  /// Writes `data`. If the array stores no bytes, only the length of `data` matters.
  Completion write(std::uint64_t lba, const std::vector<std::byte>& data) {
    Request request;
    request.op = Op::write;
    request.lba = lba;
    request.sectors = static_cast<std::uint32_t>(data.size() / kSectorBytes);
    if (bytes) request.data = data;
    return finish(machine.submit(0, request, host));
  }
  Completion read(std::uint64_t lba, std::vector<std::byte>& into) {
    Request request;
    request.lba = lba;
    request.sectors = static_cast<std::uint32_t>(into.size() / kSectorBytes);
    if (bytes) request.into = into;
    return finish(machine.submit(0, request, host));
  }
  Completion finish(RequestId id) {
    while (!host.has(id) && machine.simulation().run_next()) {
    }
    return host.done[id];
  }
  void run_until(TimeNs at) { machine.simulation().run_until(at); }
  void finish_background() {
    while (!array->status().background.empty() && machine.simulation().run_next()) {
    }
  }

  bool bytes;
  DiskProfile drive;
  LogObserver observer;
  Machine machine;
  ArrayProfile profile;
  std::vector<std::unique_ptr<MemoryStore>> stores;
  std::vector<std::unique_ptr<DeviceFaults>> faults;
  Host host;
  Array* array = nullptr;
};

TEST(ArrayOfDisks, HasTheSameTimingWithoutStoredBytes) {
  for (const RaidLevel level : {RaidLevel::raid0, RaidLevel::raid1, RaidLevel::raid5}) {
    std::vector<TimeNs> took[2];
    for (const bool bytes : {false, true}) {
      DisksFixture b(level, 4, bytes);
      // Assembly reads the superblocks, and thus moves the arms, only if the members store bytes.
      // These writes give the arms the same positions in both runs.
      std::vector<std::byte> all(16 * kSectorBytes * 4);
      b.run_until(kSecondNs);
      b.write(0, DiskFixture::pattern(1, 1));
      b.run_until(kSecondNs + 100 * kMillisecondNs);
      b.write(800, all);
      b.run_until(kSecondNs + 250 * kMillisecondNs);
      for (std::uint32_t i = 0; i < 60; ++i) {
        std::vector<std::byte> data(std::size_t{1 + i * 3 % 40} * kSectorBytes, std::byte(i));
        const Completion c = i % 3 == 0 ? b.read(i * 11, data) : b.write(i * 11, data);
        EXPECT_EQ(c.status, Status::ok);
        took[bytes ? 1 : 0].push_back(c.completed_at - c.submitted_at);
      }
    }
    EXPECT_EQ(took[0], took[1]) << "level " << static_cast<int>(level);
  }
}

TEST(ArrayOfDisks, SmallWriteWaitsOneRevolutionAfterItsReads) {
  DisksFixture b(RaidLevel::raid5, 4);
  b.write(0, DiskFixture::pattern(1, 1));
  for (std::uint64_t i = 1; i < 20; ++i) {
    const Completion c = b.write(i * 37, DiskFixture::pattern(1, 2));
    // A small write reads a sector and, after a full revolution, writes it. The duration is thus at
    // least one revolution. It is at most three revolutions plus the longest seek, because the
    // write never waits in a queue.
    EXPECT_GT(c.completed_at - c.submitted_at, kRevolutionNs);
    EXPECT_LT(c.completed_at - c.submitted_at, 3 * kRevolutionNs + 6 * kMillisecondNs);
  }
}

TEST(ArrayOfDisks, SurvivesALostMemberAPowerCutAndARebuild) {
  for (const RaidLevel level :
       {RaidLevel::raid1, RaidLevel::raid4, RaidLevel::raid5, RaidLevel::raid6}) {
    SCOPED_TRACE(static_cast<int>(level));
    DisksFixture b(level, 4);
    const auto first = DiskFixture::pattern(200, 1);
    EXPECT_EQ(b.write(100, first).status, Status::ok);
    FaultSpec dead;
    dead.kind = FaultKind::dead;
    ASSERT_TRUE(b.faults[1]->add(dead));
    const auto second = DiskFixture::pattern(40, 2);
    EXPECT_EQ(b.write(150, second).status, Status::ok);
    EXPECT_EQ(b.array->status().members[1], MemberState::failed);
    std::vector<std::byte> expected = first;
    std::copy(second.begin(), second.end(), expected.begin() + 50 * kSectorBytes);
    std::vector<std::byte> seen(expected.size());
    EXPECT_EQ(b.read(100, seen).status, Status::ok);
    EXPECT_EQ(seen, expected);
    b.faults[1]->clear();
    ASSERT_TRUE(b.array->rebuild(1));
    b.finish_background();
    EXPECT_EQ(b.array->status().members[1], MemberState::active);
    b.run_until(b.machine.simulation().now() + kSecondNs);
    EXPECT_FALSE(b.array->status().dirty);
    b.machine.power_cut();
    b.run_until(b.machine.simulation().now() + kSecondNs);
    b.machine.power_on();
    ASSERT_TRUE(b.faults[2]->add(dead)) << "reconstruction from the rebuilt member must be correct";
    EXPECT_EQ(b.read(100, seen).status, Status::ok);
    EXPECT_EQ(seen, expected);
  }
}

}  // namespace
}  // namespace headcrash::model
