// Tests the text form of faults, when faults fire, and how they are reported.
#include "plugin/model/faults/faults.h"

#include <gtest/gtest.h>

#include "plugin/base/random.h"
#include "plugin/model/core/sector_ranges.h"
#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

FaultSpec fault(std::string_view text) {
  auto parsed = parse_fault(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message());
  return parsed.value_or(FaultSpec{});
}

struct FaultFixture {
  explicit FaultFixture(std::initializer_list<const char*> texts) {
    for (const char* text : texts) EXPECT_TRUE(faults.add(fault(text)));
  }
  static Request request(Op op, std::uint64_t lba, std::uint32_t sectors) {
    Request r;
    r.op = op;
    r.lba = lba;
    r.sectors = sectors;
    return r;
  }
  Simulation simulation;
  bench::LogObserver observer;
  DeviceFaults faults{simulation, observer, 3, 7};
};

TEST(FaultText, EveryKindRoundTrips) {
  for (const char* text :
       {"latent-error:hd0", "latent-error:hd0.1,lba=5", "dead:hd0.10,after-ms=1.5",
        "dead:hd0.below,after=3,times=2", "slow:a_b-c,lba=7+9,delay-ms=0.000001",
        "slow:hd0,delay-ms=0", "slow:hd0,delay-ms=2,op=flush",
        "slow:hd0,lba=7+9,delay-ms=2,op=write", "torn-write:hd0,lba=0",
        "lost-write:hd0,lba=4096+8,after-ms=1000000000,after=1,times=1000000000000",
        "misdirected-write:hd0,to=0", "misdirected-write:hd0,lba=3,to=99",
        "corrupted-write:hd0,times=3", "lying-flush:hd0,after=10", "write-error:hd0",
        "write-error:hd0,lba=7+9,data=c03b3998,after=2,times=1", "flush-error:hd0,after=1,times=2",
        "battery-low:hd0", "battery-dead:hd0,after-ms=12"}) {
    EXPECT_EQ(to_text(fault(text)), text);
  }
  EXPECT_EQ(fault("slow:x,delay-ms=2,lba=3+4"), fault("slow:x,lba=3+4,delay-ms=2"));
  EXPECT_EQ(fault("slow:x,delay-ms=2.5").delay_ns, 2'500'000);
}

TEST(FaultText, RejectsInvalidTextAndNamesTheInvalidPart) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "the ':' between"},
      {"dead", "the ':' between"},
      {"ded:hd0", "unknown fault 'ded'"},
      {":hd0", "unknown fault ''"},
      {"dead:", "invalid device name"},
      {"dead:,lba=1", "invalid device name"},
      {"dead:hd 0", "device name 'hd 0'"},
      {"dead:hd0,", "no option ''"},
      {"dead:hd0,lba", "'lba' has no value"},
      {"dead:hd0,lba=", "the sector ''"},
      {"dead:hd0,lba=-1", "the sector '-1'"},
      {"dead:hd0,lba=1+", "the length of the range ''"},
      {"dead:hd0,lba=1+0", "the length of the range '0'"},
      {"dead:hd0,lba=99999999999999999999", "the sector"},
      {"dead:hd0,lba=1,lba=2", "duplicate option 'lba'"},
      {"dead:hd0,to=1", "dead has no option 'to'"},
      {"dead:hd0,after=0", "the count '0'"},
      {"dead:hd0,after-ms=1e3", "'1e3'"},
      {"dead:hd0,after-ms=1.0000001", "below one nanosecond"},
      {"slow:hd0", "needs the option delay-ms="},
      {"slow:hd0,delay-ms=1,op=erase", "unknown command 'erase'"},
      {"slow:hd0,delay-ms=1,lba=3,op=flush", "a flush has no sectors"},
      {"dead:hd0,op=flush", "has no option 'op'"},
      {"misdirected-write:hd0", "needs the option to="},
      {"lying-flush:hd0,lba=3", "lying-flush has no option 'lba'"},
      {"flush-error:hd0,lba=3", "flush-error has no option 'lba'"},
      {"lost-write:hd0,data=00", "lost-write has no option 'data'"},
      {"write-error:hd0,data=", "the data '' must"},
      {"write-error:hd0,data=c03", "the data 'c03' must"},
      {"write-error:hd0,data=c0xy", "the data 'c0xy' must"},
      {"write-error:hd0,data=-1+1", "the data '-1+1' must"},
      {"battery-low:hd0,times=1", "battery-low has no option 'times'"},
  };
  for (const auto& [text, problem] : cases) {
    const auto parsed = parse_fault(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().problem.find(problem), std::string::npos) << parsed.error().message();
    EXPECT_FALSE(parsed.error().hint.empty()) << text;
  }
  EXPECT_NE(parse_fault("ded:hd0").error().hint.find("dead"), std::string::npos);
}

TEST(SectorRangesSet, MatchesAPlainSet) {
  Random random(11);
  SectorRanges ranges;
  std::vector<bool> plain(64);
  for (int step = 0; step < 4000; ++step) {
    const std::uint64_t lba = random.below(64);
    const std::uint64_t count = random.below(64 - lba + 1);
    const bool adding = random.below(2) == 0;
    adding ? ranges.add(lba, count) : ranges.remove(lba, count);
    std::fill_n(plain.begin() + static_cast<std::ptrdiff_t>(lba), count, adding);
    const std::uint64_t from = random.below(64);
    const std::uint64_t to = from + random.below(64 - from + 1);
    std::optional<std::uint64_t> expected;
    for (std::uint64_t s = to; s-- > from;)
      if (plain[s]) expected = s;
    ASSERT_EQ(ranges.first_in(from, to), expected) << "step " << step;
    ASSERT_EQ(ranges.empty(), std::find(plain.begin(), plain.end(), true) == plain.end())
        << "step " << step;
  }
}

TEST(Faults, AnyReturnsFalseWithoutActiveFaults) {
  FaultFixture b{};
  EXPECT_FALSE(b.faults.any());
  EXPECT_TRUE(b.faults.add(fault("lost-write:hd0")));
  EXPECT_TRUE(b.faults.any());
  EXPECT_TRUE(b.faults.next_write(0, 8));
  EXPECT_FALSE(b.faults.any()) << "a write fault fires once by default";
  EXPECT_FALSE(b.faults.next_write(0, 8));
}

TEST(Faults, WritesRepairLatentErrorsSectorBySector) {
  FaultFixture b{"latent-error:hd0,lba=10+3"};
  EXPECT_FALSE(b.faults.unreadable(0, 10));
  EXPECT_FALSE(b.faults.unreadable(13, 10));
  EXPECT_EQ(b.faults.unreadable(0, 100), 10U);
  b.faults.written(10, 1);
  EXPECT_EQ(b.faults.unreadable(0, 100), 11U);
  EXPECT_EQ(b.faults.unreadable(0, 100, [](std::uint64_t lba) { return lba == 11; }), 12U);
  b.faults.written(11, 5);
  EXPECT_FALSE(b.faults.unreadable(0, 100));
  EXPECT_FALSE(b.faults.any());
}

TEST(Faults, RespectTheirDelaySkipAndTimesSettings) {
  FaultFixture b{"dead:hd0,after-ms=1,after=2,times=2"};
  const Request read = FaultFixture::request(Op::read, 0, 1);
  EXPECT_FALSE(b.faults.dead(read));
  b.simulation.run_until(kMillisecondNs);
  EXPECT_FALSE(b.faults.dead(read));
  EXPECT_FALSE(b.faults.is_dead());
  EXPECT_FALSE(b.faults.dead(read));
  EXPECT_TRUE(b.faults.is_dead());
  EXPECT_TRUE(b.faults.dead(read));
  EXPECT_TRUE(b.faults.dead(read));
  EXPECT_FALSE(b.faults.is_dead());
  EXPECT_FALSE(b.faults.dead(read));
}

TEST(Faults, ApplyOnlyToTheirRange) {
  FaultFixture b{"slow:hd0,lba=8+8,delay-ms=2", "slow:hd0,delay-ms=1", "lying-flush:hd0",
                 "corrupted-write:hd0,lba=8+2"};
  EXPECT_EQ(b.faults.delay_ns(FaultFixture::request(Op::read, 0, 8)), kMillisecondNs);
  EXPECT_EQ(b.faults.delay_ns(FaultFixture::request(Op::read, 0, 9)), 3 * kMillisecondNs);
  EXPECT_EQ(b.faults.delay_ns(FaultFixture::request(Op::flush, 0, 0)), kMillisecondNs);
  Request write = FaultFixture::request(Op::write, 0, 1);
  EXPECT_FALSE(b.faults.lies_about_flush(write));
  write.fua = true;
  EXPECT_TRUE(b.faults.lies_about_flush(write));
  EXPECT_TRUE(b.faults.lies_about_flush(FaultFixture::request(Op::flush, 0, 0)));
  EXPECT_FALSE(b.faults.next_write(0, 8));
  const auto met = b.faults.next_write(9, 8);
  ASSERT_TRUE(met);
  EXPECT_EQ(met->lba, 9U);
  EXPECT_EQ(met->sectors, 1U);
}

TEST(Faults, WriteErrorKeepsTheRangeOfTheFirstWriteThatMatchesItsData) {
  FaultFixture b{"write-error:hd0,data=aabb,after=1"};
  const std::vector<std::byte> other(kSectorBytes, std::byte{0xaa});
  std::vector<std::byte> wanted = other;
  wanted[100] = std::byte{0xbb};
  const auto write = [](std::uint64_t lba, const std::vector<std::byte>& data) {
    Request r = FaultFixture::request(Op::write, lba, 1);
    r.data = data;
    return r;
  };
  EXPECT_FALSE(b.faults.fails(write(5, other)));
  EXPECT_FALSE(b.faults.fails(FaultFixture::request(Op::flush, 0, 0)));
  EXPECT_FALSE(b.faults.fails(write(5, wanted))) << "the first match is skipped";
  EXPECT_TRUE(b.faults.fails(write(9, wanted)));
  EXPECT_FALSE(b.faults.fails(write(5, wanted))) << "the range is now sector 9";
  EXPECT_TRUE(b.faults.fails(write(9, other))) << "any payload must fail there";
  EXPECT_TRUE(b.faults.fails(FaultFixture::request(Op::write_zeroes, 8, 4)));
  EXPECT_FALSE(b.faults.fails(FaultFixture::request(Op::read, 9, 1)));
  EXPECT_EQ(b.observer.log.front(),
            "0 incident 3 fault write-error fired (occurrence 1): write of 9+1 fails");
}

TEST(Faults, ClearKeepsSectorsMadeUnreadableByAPowerCut) {
  FaultFixture b{"latent-error:hd0,lba=1"};
  b.faults.make_unreadable(5, 1);
  b.faults.clear();
  EXPECT_EQ(b.faults.unreadable(0, 10), 5U);
  b.faults.written(5, 1);
  EXPECT_FALSE(b.faults.any());
}

TEST(Faults, LogEachRareFiringButOnlyCountFrequentOnes) {
  FaultFixture b{"lost-write:hd0,times=20", "latent-error:hd0", "battery-low:hd0"};
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(b.faults.next_write(0, 1));
  EXPECT_EQ(b.observer.log.size(), 20U);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(b.faults.unreadable(0, 1));
  EXPECT_EQ(b.observer.log.size(), 30U) << "1, 2, 4, ... 512";
  EXPECT_TRUE(b.faults.battery(FaultKind::battery_low));
  EXPECT_TRUE(b.faults.battery(FaultKind::battery_low));
  EXPECT_FALSE(b.faults.battery(FaultKind::battery_dead));
  EXPECT_EQ(b.observer.log.size(), 31U);
  EXPECT_EQ(b.observer.log.front(),
            "0 incident 3 fault lost-write fired (occurrence 1): write of 0+1");
}

TEST(Faults, AreLimitedInNumber) {
  FaultFixture b{};
  for (std::size_t i = 0; i < DeviceFaults::kFaultsMax; ++i)
    EXPECT_TRUE(b.faults.add(fault("dead:hd0")));
  EXPECT_FALSE(b.faults.add(fault("dead:hd0")));
}

}  // namespace
}  // namespace headcrash::model
