// Tests a disk with faults: what the host gets, what the medium contains, and which events the
// observer receives.
#include <gtest/gtest.h>

#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

using bench::DiskFixture;
using bench::kCacheOff;
using bench::kCacheOn;

constexpr int kOld = 1;
constexpr int kNew = 2;

/// A drive with kOld in its first 64 sectors, and with one fault, which is added after these
/// sectors have been written.
struct FaultyDisk : DiskFixture {
  explicit FaultyDisk(const char* fault, bool write_cache = kCacheOff, Tear tear = Tear::silent,
                      DiskProfile p = bench::small_profile(), std::uint64_t seed = 1)
      : DiskFixture(write_cache, seed, std::move(p), tear) {
    finish(submit_write(0, pattern(64, kOld)));
    finish(submit(Op::flush));
    observer.log.clear();
    if (*fault != '\0') add(fault);
  }
  void add(const char* text) { EXPECT_TRUE(faults.add(*parse_fault(text))) << text; }
  Status read(std::uint64_t lba, std::uint32_t sectors) {
    std::vector<std::byte> into(std::size_t{sectors} * kSectorBytes);
    return finish(submit_read(lba, into)).status;
  }
  bool reported(const char* words) const {
    return std::any_of(observer.log.begin(), observer.log.end(), [words](const std::string& line) {
      return line.find(words) != std::string::npos;
    });
  }
};

TEST(DiskFaults, LatentErrorLastsUntilAWrite) {
  FaultyDisk b("latent-error:disk,lba=10+2");
  EXPECT_EQ(b.read(0, 10), Status::ok);
  std::vector<std::byte> into(4 * kSectorBytes, std::byte{9});
  const Completion failed = b.finish(b.submit_read(9, into));
  EXPECT_EQ(failed.status, Status::medium_error);
  EXPECT_GT(failed.completed_at, failed.submitted_at);
  EXPECT_EQ(into, DiskFixture::pattern(4, 9)) << "a failed read must not change the buffer";
  EXPECT_TRUE(b.reported("latent-error"));
  EXPECT_EQ(b.finish(b.submit_write(10, DiskFixture::pattern(1, kNew))).status, Status::ok);
  EXPECT_EQ(b.read(10, 1), Status::ok);
  EXPECT_EQ(b.read(8, 4), Status::medium_error) << "the neighbour stays bad";
  EXPECT_EQ(b.finish(b.submit(Op::write_zeroes, 11, 1)).status, Status::ok);
  EXPECT_EQ(b.read(8, 4), Status::ok);
}

TEST(DiskFaults, CacheServesAnUnreadableSector) {
  FaultyDisk b("latent-error:disk,lba=10+2", kCacheOn);
  b.finish(b.submit_write(10, DiskFixture::pattern(1, kNew)));
  EXPECT_EQ(b.read(9, 2), Status::ok) << "the newer version is in the cache";
  EXPECT_EQ(b.read(9, 3), Status::medium_error);
  std::vector<std::byte> into(2 * kSectorBytes);
  EXPECT_EQ(b.finish(b.submit_read(9, into)).status, Status::ok);
  EXPECT_EQ(into.front(), std::byte{kOld});
  EXPECT_EQ(into.back(), std::byte{kNew});
  b.finish(b.submit(Op::flush));
  EXPECT_EQ(b.read(9, 2), Status::ok) << "the destage must heal it";
}

TEST(DiskFaults, DeadDriveFailsEverythingAndWritesNothing) {
  FaultyDisk b("", kCacheOn);
  b.finish(b.submit_write(3, DiskFixture::pattern(1, kNew)));
  b.add("dead:disk");
  EXPECT_EQ(b.read(40, 1), Status::device_failed);
  EXPECT_EQ(b.finish(b.submit(Op::flush)).status, Status::device_failed);
  EXPECT_EQ(b.finish(b.submit_write(5, DiskFixture::pattern(1, kNew))).status,
            Status::device_failed);
  EXPECT_EQ(b.finish(b.submit(Op::trim, 5, 1)).status, Status::device_failed);
  b.run_for(kSecondNs);
  EXPECT_EQ(b.on_medium(3, 1), DiskFixture::pattern(1, kOld)) << "a dead drive must not destage";
  EXPECT_TRUE(b.reported("fault dead"));
}

TEST(DiskFaults, CommandsWaitingForTheCacheFailWhenTheDriveDies) {
  FaultyDisk b("", kCacheOn);
  for (std::uint64_t lba = 0; lba < 40; lba += 4)
    b.finish(b.submit_write(lba, DiskFixture::pattern(2, kNew)));
  b.add("dead:disk,after-ms=20");
  const RequestId flush = b.submit(Op::flush);
  EXPECT_EQ(b.finish(flush).status, Status::device_failed);
  EXPECT_TRUE(b.host.has(flush));
}

TEST(DiskFaults, SlowFaultAddsItsDelay) {
  FaultyDisk fast("");
  FaultyDisk slow("slow:disk,delay-ms=30,times=1");
  const Completion a = fast.finish(fast.submit(Op::flush));
  const Completion b = slow.finish(slow.submit(Op::flush));
  EXPECT_EQ(b.completed_at - b.submitted_at, a.completed_at - a.submitted_at + 30 * kMillisecondNs);
  const Completion c = slow.finish(slow.submit(Op::flush));
  EXPECT_EQ(c.completed_at - c.submitted_at, a.completed_at - a.submitted_at);
}

TEST(DiskFaults, SlowFaultCanBeLimitedToOneCommand) {
  const auto took = [](const char* fault, bool flush) {
    FaultyDisk b(fault);
    const Completion c =
        b.finish(flush ? b.submit(Op::flush) : b.submit_write(8, DiskFixture::pattern(1, kNew)));
    return c.completed_at - c.submitted_at;
  };
  for (const bool flush : {false, true}) {
    const TimeNs fast = took("", flush);
    EXPECT_EQ(took("slow:disk,delay-ms=30,op=read", flush), fast);
    EXPECT_EQ(took("slow:disk,delay-ms=30,op=flush", flush) > fast, flush);
    EXPECT_EQ(took("slow:disk,delay-ms=30,op=write", flush) > fast, !flush);
  }
}

TEST(DiskFaults, LyingFlushAndFuaLoseAcknowledgedData) {
  FaultyDisk b("lying-flush:disk", kCacheOn);
  b.finish(b.submit_write(1, DiskFixture::pattern(1, kNew)));
  EXPECT_EQ(b.finish(b.submit(Op::flush)).status, Status::ok);
  EXPECT_EQ(b.finish(b.submit_write(2, DiskFixture::pattern(1, kNew), true)).status, Status::ok);
  b.machine.power_cut();
  EXPECT_EQ(b.on_medium(1, 2), DiskFixture::pattern(2, kOld));
  EXPECT_TRUE(b.reported("flush"));
  EXPECT_TRUE(b.reported("FUA of request"));
}

TEST(DiskFaults, WriteErrorWritesNothing) {
  for (const bool write_cache : {false, true}) {
    FaultyDisk b("write-error:disk,lba=9,times=1", write_cache);
    EXPECT_EQ(b.finish(b.submit_write(8, DiskFixture::pattern(4, kNew))).status,
              Status::medium_error);
    b.finish(b.submit(Op::flush));
    EXPECT_EQ(b.on_medium(8, 4), DiskFixture::pattern(4, kOld));
    EXPECT_EQ(b.read(8, 4), Status::ok) << "old data must stay readable";
    EXPECT_TRUE(b.reported("fault write-error fired (occurrence 1): write of 8+4 fails"));
    EXPECT_EQ(b.finish(b.submit_write(8, DiskFixture::pattern(4, kNew))).status, Status::ok)
        << "once";
    b.finish(b.submit(Op::flush));
    EXPECT_EQ(b.on_medium(8, 4), DiskFixture::pattern(4, kNew));
  }
}

TEST(DiskFaults, FlushErrorKeepsTheCache) {
  FaultyDisk b("flush-error:disk,times=1", kCacheOn);
  b.finish(b.submit_write(8, DiskFixture::pattern(4, kNew)));
  EXPECT_EQ(b.finish(b.submit(Op::flush)).status, Status::medium_error);
  EXPECT_EQ(b.on_medium(8, 4), DiskFixture::pattern(4, kOld));
  EXPECT_EQ(b.finish(b.submit(Op::flush)).status, Status::ok) << "once";
  EXPECT_EQ(b.on_medium(8, 4), DiskFixture::pattern(4, kNew))
      << "the data must still be in the cache";
}

TEST(DiskFaults, PowerCutClearsTheCache) {
  FaultyDisk b("", kCacheOn);
  b.finish(b.submit_write(1, DiskFixture::pattern(1, kNew)));
  b.machine.power_cut();
  b.machine.power_on();
  std::vector<std::byte> into(kSectorBytes);
  b.finish(b.submit_read(1, into));
  EXPECT_EQ(into, DiskFixture::pattern(1, kOld));
}

TEST(DiskFaults, LostWriteIsAcknowledged) {
  FaultyDisk b("lost-write:disk,lba=9");
  EXPECT_EQ(b.finish(b.submit_write(8, DiskFixture::pattern(4, kNew))).status, Status::ok);
  EXPECT_EQ(b.on_medium(8, 4), DiskFixture::pattern(4, kOld));
  EXPECT_FALSE(b.reported("media"));
  EXPECT_TRUE(b.reported("incident 0 fault lost-write fired (occurrence 1): write of 8+4"));
  b.finish(b.submit_write(8, DiskFixture::pattern(4, kNew)));
  EXPECT_EQ(b.on_medium(8, 4), DiskFixture::pattern(4, kNew)) << "once";
}

TEST(DiskFaults, MisdirectedWriteIsStoredElsewhere) {
  FaultyDisk b("misdirected-write:disk,to=32");
  b.finish(b.submit_write(8, DiskFixture::pattern(2, kNew)));
  EXPECT_EQ(b.on_medium(8, 2), DiskFixture::pattern(2, kOld));
  EXPECT_EQ(b.on_medium(32, 2), DiskFixture::pattern(2, kNew));
  EXPECT_TRUE(b.reported("32+2 outcome3"));
  const std::uint64_t last = b.disk->characteristics().sectors - 1;
  b.add(("misdirected-write:disk,to=" + std::to_string(last)).c_str());
  b.finish(b.submit_write(8, DiskFixture::pattern(2, kNew)));
  EXPECT_EQ(b.on_medium(last, 1), DiskFixture::pattern(1, kNew))
      << "the part beyond the end is dropped";
  b.add("misdirected-write:disk,to=99999999");
  EXPECT_EQ(b.finish(b.submit_write(8, DiskFixture::pattern(2, kNew))).status, Status::ok);
  EXPECT_EQ(b.on_medium(8, 2), DiskFixture::pattern(2, kOld));
  b.add("misdirected-write:disk,to=32");
  b.finish(b.submit(Op::write_zeroes, 8, 1));
  EXPECT_EQ(b.on_medium(32, 2), [] {
    auto zero_then_new = DiskFixture::pattern(2, kNew);
    std::fill_n(zero_then_new.begin(), kSectorBytes, std::byte{0});
    return zero_then_new;
  }());
}

TEST(DiskFaults, CorruptedWriteChangesBytesOfOneSectorInItsRange) {
  FaultyDisk b("corrupted-write:disk,lba=10+2");
  b.finish(b.submit_write(8, DiskFixture::pattern(8, kNew)));
  EXPECT_EQ(b.on_medium(8, 2), DiskFixture::pattern(2, kNew));
  EXPECT_EQ(b.on_medium(12, 4), DiskFixture::pattern(4, kNew));
  const auto seen = b.on_medium(10, 2);
  const auto changed =
      std::count_if(seen.begin(), seen.end(), [](std::byte x) { return x != std::byte{kNew}; });
  EXPECT_GE(changed, 1);
  EXPECT_LE(changed, 8);
  EXPECT_TRUE(b.reported("outcome4"));
}

TEST(DiskFaults, TornWriteStopsInTheLastPhysicalSector) {
  for (const std::uint32_t physical : {1U, 8U}) {
    DiskProfile p = bench::small_profile();
    p.physical_sector_sectors = physical;
    FaultyDisk b("torn-write:disk", kCacheOff, Tear::silent, p);
    EXPECT_EQ(b.finish(b.submit_write(8, DiskFixture::pattern(16, kNew))).status, Status::ok);
    EXPECT_EQ(b.on_medium(8, 16 - physical), DiskFixture::pattern(16 - physical, kNew));
    const auto torn = b.on_medium(24 - physical, physical);
    EXPECT_EQ(torn.front(), std::byte{kNew});
    EXPECT_EQ(torn.back(), std::byte{kOld});
    EXPECT_TRUE(std::is_sorted(torn.rbegin(), torn.rend())) << "new bytes first, then old ones";
    EXPECT_TRUE(b.reported("outcome1"));
  }
}

/// The outcomes of power cuts in the middle of each sector of a write, counted over several seeds.
struct CutCounts {
  int old_bytes = 0, new_bytes = 0, mixed = 0, unreadable = 0;
};
CutCounts cut_under_head(Tear tear) {
  CutCounts counts;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    FaultyDisk b("", kCacheOff, tear, bench::small_profile(), seed);
    b.machine.arm(*parse_cut_trigger("at-lba:10"));
    EXPECT_EQ(b.finish(b.submit_write(8, DiskFixture::pattern(4, kNew))).status,
              Status::power_lost);
    EXPECT_EQ(b.on_medium(8, 2), DiskFixture::pattern(2, kNew)) << "passed";
    EXPECT_EQ(b.on_medium(11, 1), DiskFixture::pattern(1, kOld)) << "the head never reached it";
    b.machine.power_on();
    const auto under = b.on_medium(10, 1);
    if (b.read(10, 1) == Status::medium_error) {
      ++counts.unreadable;
      EXPECT_EQ(b.read(8, 2), Status::ok);
      b.finish(b.submit_write(10, DiskFixture::pattern(1, kNew)));
      EXPECT_EQ(b.read(10, 1), Status::ok);
    } else if (under == DiskFixture::pattern(1, kOld)) {
      ++counts.old_bytes;
    } else if (under == DiskFixture::pattern(1, kNew)) {
      ++counts.new_bytes;
    } else {
      ++counts.mixed;
    }
  }
  return counts;
}

TEST(Tearing, SilentModeMostlyMixesOldAndNewBytes) {
  const CutCounts c = cut_under_head(Tear::silent);
  EXPECT_EQ(c.unreadable, 0);
  EXPECT_GT(c.old_bytes, 0);
  EXPECT_GT(c.new_bytes, 0);
  EXPECT_GT(c.mixed, 20);
}

TEST(Tearing, AnyModeProducesAllFourOutcomes) {
  const CutCounts c = cut_under_head(Tear::any);
  EXPECT_GT(c.old_bytes, 3);
  EXPECT_GT(c.new_bytes, 3);
  EXPECT_GT(c.mixed, 3);
  EXPECT_GT(c.unreadable, 3);
}

TEST(Tearing, UnreadableModeAlwaysFailsTheRead) {
  EXPECT_EQ(cut_under_head(Tear::unreadable).unreadable, 40);
}

TEST(Tearing, UnreadableModeAffectsTheWholePhysicalSector) {
  DiskProfile p = bench::small_profile();
  p.physical_sector_sectors = 8;
  FaultyDisk b("", false, Tear::unreadable, p);
  b.machine.arm(*parse_cut_trigger("at-lba:10"));
  b.finish(b.submit_write(10, DiskFixture::pattern(2, kNew)));
  b.machine.power_on();
  for (std::uint64_t lba = 0; lba < 24; ++lba)
    EXPECT_EQ(b.read(lba, 1), lba / 8 == 1 ? Status::medium_error : Status::ok) << lba;
  EXPECT_TRUE(b.reported(" 8+2 outcome2")) << "the observer must be notified";
  EXPECT_TRUE(b.reported(" 12+4 outcome2"));
}

TEST(Trim, MakesSectorsReadAsZeroesIfTheProfileSupportsTrim) {
  for (const bool cache : {false, true}) {
    DiskProfile p = bench::small_profile();
    p.trim = true;
    FaultyDisk b("", cache, Tear::silent, p);
    b.finish(b.submit_write(4, DiskFixture::pattern(4, kNew)));
    EXPECT_EQ(b.finish(b.submit(Op::trim, 4, 2)).status, Status::ok);
    std::vector<std::byte> into(4 * kSectorBytes);
    b.finish(b.submit_read(4, into));
    auto expected = DiskFixture::pattern(4, kNew);
    std::fill_n(expected.begin(), 2 * kSectorBytes, std::byte{0});
    EXPECT_EQ(into, expected);
    b.finish(b.submit(Op::flush));
    EXPECT_EQ(b.on_medium(4, 4), expected);
  }
}

TEST(Trim, IsNotUndoneByAnOlderWriteInFlight) {
  DiskProfile p = bench::small_profile();
  p.trim = true;
  FaultyDisk b("", true, Tear::silent, p);
  for (std::uint64_t lba = 0; lba < 16; lba += 2)
    b.finish(b.submit_write(lba, DiskFixture::pattern(1, kNew)));
  b.observer.log.clear();
  while (!b.reported(" media ")) b.machine.simulation().run_next();
  const RequestId trim = b.submit(Op::trim, 0, 16);
  EXPECT_EQ(b.finish(trim).status, Status::ok);
  b.drain();
  EXPECT_EQ(b.on_medium(0, 16), DiskFixture::pattern(16, 0));
}

TEST(Trim, HasNoEffectIfTheProfileDoesNotSupportIt) {
  FaultyDisk b("");
  EXPECT_EQ(b.finish(b.submit(Op::trim, 0, 4)).status, Status::ok);
  EXPECT_EQ(b.on_medium(0, 4), DiskFixture::pattern(4, kOld));
}

}  // namespace
}  // namespace headcrash::model
