// Tests power changes, the exact instants of triggers, and the text form of triggers.
#include "plugin/model/core/machine.h"

#include <gtest/gtest.h>

#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

using bench::DiskFixture;
using bench::kCacheOff;
using bench::kCacheOn;

CutTrigger trigger(std::string_view text) {
  auto parsed = parse_cut_trigger(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message());
  return parsed.value_or(CutTrigger{});
}

TEST(CutTriggerText, ParsesEveryKind) {
  EXPECT_EQ(trigger("after-writes:7").kind, CutTrigger::Kind::after_writes);
  EXPECT_EQ(trigger("after-writes:7").count, 7U);
  EXPECT_EQ(trigger("after-requests:3").kind, CutTrigger::Kind::after_requests);
  EXPECT_EQ(trigger("at-lba:0").kind, CutTrigger::Kind::at_lba);
  EXPECT_EQ(trigger("at-lba:0").device, "");
  EXPECT_EQ(trigger("at-lba:hd0.3/77").device, "hd0.3");
  EXPECT_EQ(trigger("at-lba:hd0.3/77").lba, 77U);
  EXPECT_EQ(trigger("at-flush:1").kind, CutTrigger::Kind::at_flush);
  EXPECT_EQ(trigger("after-ms:12.5").delay_ns, 12'500'000);
  EXPECT_EQ(trigger("after-ms:0").delay_ns, 0);
  EXPECT_EQ(trigger("after-ms:0.000001").delay_ns, 1);
  const CutTrigger mark = trigger("after-mark:a + b:c 12+0.25");
  EXPECT_EQ(mark.mark, "a + b:c 12");
  EXPECT_EQ(mark.delay_ns, 250'000);
}

TEST(CutTriggerText, RejectsInvalidTextWithAReason) {
  for (const char* text : {"",
                           "after-writes",
                           "after-writes:",
                           "after-writes:0",
                           "after-writes:-1",
                           "after-writes:1x",
                           "after-writes:99999999999999999999",
                           "at-flush: 1",
                           "after-ms:",
                           "after-ms:-1",
                           "after-ms:1e3",
                           "after-ms:1.",
                           "after-ms:.5",
                           "after-ms:1.0000001",
                           "after-ms:9999999999",
                           "after-mark:x",
                           "after-mark:+3",
                           "after-mark:x+",
                           "after-mark:x+y",
                           "sometimes:3",
                           "after-requests:0",
                           "at-lba:",
                           "at-lba:/3",
                           "at-lba:hd0/",
                           "at-lba:hd0/-1",
                           "at-lba:3/hd0",
                           "after-ms:nan"}) {
    const auto parsed = parse_cut_trigger(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_FALSE(parsed.error().hint.empty()) << text;
    EXPECT_NE(parsed.error().subject.find(text), std::string::npos) << text;
  }
}

TEST(Machine, NumbersRequestsFromOne) {
  DiskFixture b(kCacheOff);
  EXPECT_EQ(b.submit(Op::read, 0, 1), 1U);
  EXPECT_EQ(b.submit(Op::read, 0, 1), 2U);
}

TEST(Machine, RejectsRangesBeyondTheEnd) {
  DiskFixture b(kCacheOff);
  const std::uint64_t end = b.disk->characteristics().sectors;
  const RequestId over = b.submit(Op::read, end - 1, 2);
  const RequestId far = b.submit(Op::write, ~std::uint64_t{0}, 1);
  EXPECT_FALSE(b.host.has(over)) << "submit must not complete a request";
  b.drain();
  EXPECT_EQ(b.host.done[over].status, Status::out_of_range);
  EXPECT_EQ(b.host.done[far].status, Status::out_of_range);
  EXPECT_EQ(b.finish(b.submit(Op::read, end - 1, 1)).status, Status::ok);
}

TEST(Machine, CutsPowerWhenTheNthWriteIsAcknowledged) {
  DiskFixture b(kCacheOff);
  b.machine.arm(trigger("after-writes:2"));
  const RequestId first = b.submit(Op::write, 0, 1);
  b.submit(Op::read, 8, 1);
  const RequestId second = b.submit(Op::write_zeroes, 1, 1);
  const RequestId third = b.submit(Op::write, 2, 1);
  b.drain();
  EXPECT_EQ(b.host.done[first].status, Status::ok);
  EXPECT_EQ(b.host.done[second].status, Status::ok);
  EXPECT_EQ(b.host.done[third].status, Status::power_lost);
  EXPECT_EQ(b.machine.last_cut_at(), b.host.done[second].completed_at);
  EXPECT_EQ(b.machine.power(), PowerState::off);
  EXPECT_FALSE(b.machine.armed());
}

TEST(Machine, CutsPowerAtAFlushBeforeAnyDataIsFlushed) {
  DiskFixture b(kCacheOn);
  b.machine.arm(trigger("at-flush:2"));
  const auto data = DiskFixture::pattern(1, 7);
  b.finish(b.submit_write(0, data));
  EXPECT_EQ(b.finish(b.submit(Op::flush)).status, Status::ok);
  b.finish(b.submit_write(1, data));
  const TimeNs now = b.machine.simulation().now();
  const RequestId flush = b.submit(Op::flush);
  EXPECT_EQ(b.machine.last_cut_at(), now);
  EXPECT_EQ(b.finish(flush).status, Status::power_lost);
  EXPECT_EQ(b.on_medium(0, 1), data);
  EXPECT_NE(b.on_medium(1, 1), data) << "cached data must be lost";
}

TEST(Machine, CutsPowerAfterATimeAndAfterAMark) {
  DiskFixture b(kCacheOff);
  b.machine.arm(trigger("after-ms:1.5"));
  b.drain();
  EXPECT_EQ(b.machine.last_cut_at(), 1'500'000);
  b.machine.power_on();
  b.machine.arm(trigger("after-mark:here 3+2"));
  b.machine.mark("here 2");
  b.run_for(10 * kMillisecondNs);
  EXPECT_EQ(b.machine.power(), PowerState::on);
  const TimeNs at = b.machine.simulation().now();
  b.machine.mark("here 3");
  b.drain();
  EXPECT_EQ(b.machine.last_cut_at(), at + 2'000'000);
  EXPECT_EQ(b.machine.power_cuts(), 2U);
}

TEST(Machine, ArmingOrDisarmingCancelsAnOlderTimer) {
  DiskFixture b(kCacheOff);
  b.machine.arm(trigger("after-ms:1"));
  b.machine.arm(trigger("after-ms:5"));
  b.run_for(2 * kMillisecondNs);
  EXPECT_EQ(b.machine.power(), PowerState::on);
  b.machine.disarm();
  b.drain();
  EXPECT_EQ(b.machine.power(), PowerState::on);
}

TEST(Machine, FailsRequestsWhileOffAndServesThemAfterPowerOn) {
  DiskFixture b(kCacheOff);
  const RequestId pending = b.submit(Op::read, 0, 4);
  b.machine.power_cut();
  b.machine.power_cut();
  EXPECT_FALSE(b.host.has(pending)) << "a cut must answer through an event";
  const RequestId off = b.submit(Op::read, 0, 4);
  b.drain();
  EXPECT_EQ(b.host.done[pending].status, Status::power_lost);
  EXPECT_EQ(b.host.done[off].status, Status::power_lost);
  EXPECT_EQ(b.machine.power_cuts(), 1U);
  b.machine.power_on();
  EXPECT_EQ(b.finish(b.submit(Op::read, 0, 4)).status, Status::ok);
}

TEST(Machine, CutsPowerWhenTheNthRequestCompletes) {
  DiskFixture b(kCacheOff);
  EXPECT_TRUE(b.machine.arm(trigger("after-requests:3")));
  b.submit(Op::read, 0, 1);
  b.submit(Op::flush);
  const RequestId third = b.submit(Op::write, 2, 1);
  const RequestId fourth = b.submit(Op::read, 2, 1);
  b.drain();
  EXPECT_EQ(b.host.done[third].status, Status::ok);
  EXPECT_EQ(b.host.done[fourth].status, Status::power_lost);
  EXPECT_EQ(b.machine.last_cut_at(), b.host.done[third].completed_at);
}

TEST(Machine, CutsPowerWhileASectorIsUnderTheHead) {
  for (const bool cache : {false, true}) {
    for (std::uint64_t lba = 0; lba < 40; ++lba) {
      DiskFixture b(cache, 100 + lba);
      EXPECT_TRUE(b.machine.arm(trigger(fmt::format("at-lba:disk/{}", lba))));
      const auto other = DiskFixture::pattern(4, 3);
      const auto data = DiskFixture::pattern(40, 9);
      b.finish(b.submit_write(50, other));
      b.finish(b.submit_write(0, data));
      b.submit(Op::flush);
      b.drain();
      ASSERT_EQ(b.machine.power(), PowerState::off) << lba;
      const auto seen = b.on_medium(0, 40);
      for (std::uint64_t s = 0; s < 40; ++s) {
        const auto first = seen.begin() + static_cast<std::ptrdiff_t>(s * kSectorBytes);
        if (s == lba) continue;
        EXPECT_TRUE(
            std::all_of(first, first + kSectorBytes,
                        [&](std::byte x) { return x == (s < lba ? std::byte{9} : std::byte{0}); }))
            << "sector " << s << " of a cut at " << lba;
      }
    }
  }
}

TEST(Machine, ATriggerOnASectorAppliesToAWriteAlreadyInFlight) {
  DiskFixture b(kCacheOff);
  const auto data = DiskFixture::pattern(12, 9);
  b.submit_write(0, data);
  b.run_for(kMillisecondNs);
  EXPECT_TRUE(b.machine.arm(trigger("at-lba:11")));
  b.drain();
  EXPECT_EQ(b.on_medium(0, 11), DiskFixture::pattern(11, 9));
  EXPECT_EQ(b.machine.power_cuts(), 1U);
}

TEST(Machine, RejectsATriggerOnAnInvalidSector) {
  DiskFixture b(kCacheOff);
  const auto nobody = b.machine.arm(trigger("at-lba:hd7/1"));
  ASSERT_FALSE(nobody);
  EXPECT_NE(nobody.error().hint.find("disk"), std::string::npos);
  const std::uint64_t end = b.disk->characteristics().sectors;
  EXPECT_FALSE(b.machine.arm(trigger(fmt::format("at-lba:{}", end))));
  EXPECT_TRUE(b.machine.arm(trigger(fmt::format("at-lba:{}", end - 1))));
  EXPECT_FALSE(b.machine.arm(trigger("at-lba:hd7/1")));
  EXPECT_FALSE(b.machine.armed()) << "a rejected trigger must disarm the old one";
}

/// A machine with two disks whose ids are not consecutive, like those of array members.
struct TwoDisks {
  explicit TwoDisks(bool write_cache) {
    for (const auto& [name, id] : {std::pair<const char*, DeviceId>{"data", 0}, {"log", 4}}) {
      DiskOptions options{profile, machine.simulation(), observer};
      options.store = id == 0 ? &data : &log;
      options.device = id;
      options.seed = 1;
      options.write_cache = write_cache;
      machine.add_device(name, std::make_unique<Disk>(options));
    }
  }
  RequestId submit(std::size_t index, Op op, std::uint64_t lba = 0, std::uint32_t sectors = 0) {
    Request request;
    request.op = op;
    request.lba = lba;
    request.sectors = sectors;
    if (op == Op::write) request.data = std::span(bytes).first(std::size_t{sectors} * kSectorBytes);
    return machine.submit(index, request, host);
  }
  void drain() {
    while (machine.simulation().run_next()) {
    }
  }
  std::vector<std::byte> bytes = DiskFixture::pattern(16, 5);
  DiskProfile profile = bench::small_profile();
  bench::MemoryStore data{profile.capacity_sectors};
  bench::MemoryStore log{profile.capacity_sectors};
  bench::LogObserver observer;
  Machine machine{observer};
  bench::Host host;
};

TEST(MachineOfTwo, CountsWritesAndFlushesOfAllDevicesTogether) {
  TwoDisks m(false);
  EXPECT_TRUE(m.machine.arm(trigger("after-writes:2")));
  const RequestId first = m.submit(1, Op::write, 0, 1);
  m.drain();
  const RequestId second = m.submit(0, Op::write, 0, 1);
  const RequestId third = m.submit(1, Op::write, 1, 1);
  m.drain();
  EXPECT_EQ(m.host.done[first].status, Status::ok);
  EXPECT_NE(m.host.done[second].status, m.host.done[third].status)
      << "one of them must be the second write";
  m.machine.power_on();
  EXPECT_TRUE(m.machine.arm(trigger("at-flush:2")));
  m.submit(1, Op::flush);
  EXPECT_EQ(m.machine.power(), PowerState::on);
  m.submit(0, Op::flush);
  EXPECT_EQ(m.machine.power(), PowerState::off);
}

TEST(MachineOfTwo, CutsThePowerOfAllDevicesAtOnce) {
  TwoDisks m(true);
  const RequestId on_data = m.submit(0, Op::write, 0, 16);
  const RequestId on_log = m.submit(1, Op::write, 8, 16);
  while (m.host.done.size() < 2) m.machine.simulation().run_next();
  const RequestId data_flush = m.submit(0, Op::flush);
  const RequestId log_flush = m.submit(1, Op::flush);
  EXPECT_TRUE(m.machine.arm(trigger("at-lba:log/20")));
  m.drain();
  EXPECT_EQ(m.host.done[on_data].status, Status::ok);
  EXPECT_EQ(m.host.done[on_log].status, Status::ok);
  EXPECT_EQ(m.host.done[log_flush].status, Status::power_lost);
  EXPECT_EQ(m.host.done[data_flush].completed_at <= *m.machine.last_cut_at(),
            m.host.done[data_flush].status == Status::ok);
  EXPECT_TRUE(std::any_of(m.observer.log.begin(), m.observer.log.end(),
                          [](const std::string& line) {
                            return line.find(" media 4 ") != std::string::npos &&
                                   line.find(" 8+12 ") != std::string::npos;
                          }))
      << "the recording must use the device's id, not its index";
}

TEST(MachineOfTwo, FindsDevicesByName) {
  TwoDisks m(false);
  m.machine.name_part("data.0", m.machine.device(1));
  EXPECT_TRUE(m.machine.arm(trigger("at-lba:data.0/3")));
  m.submit(0, Op::write, 0, 16);
  m.drain();
  EXPECT_EQ(m.machine.power(), PowerState::on);
  m.submit(1, Op::write, 0, 16);
  m.drain();
  EXPECT_EQ(m.machine.power(), PowerState::off);
}

}  // namespace
}  // namespace headcrash::model
