#include "harness/explorer/guests/stack_rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>

#include "harness/explorer/testing/recorded_disk.h"
#include "plugin/base/little_endian.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::explorer {
namespace {

constexpr std::uint64_t kDataSector = 2048;  // the first MiB of each disk is metadata

adapters::StackRules all_rules(std::size_t mirror_width, bool xor_is_zero) {
  return {.answered_after_all = true,
          .flushed_on_all = true,
          .mirror_width = mirror_width,
          .xor_is_zero = xor_is_zero,
          .data_offset_bytes = kDataSector * 512};
}

/// A recording of three disks, with helpers that add completed writes.
class ThreeDisks {
  TemporaryFolder folder_;  // declared first, because it must outlive the recording in it

 public:
  RecordedDisk disks{folder_ / "run.hcrec", false, {{"hd0", 4096}, {"hd1", 4096}, {"hd2", 4096}}};

  static RecordedDisk::Data filled(int byte, std::size_t sectors = 8) {
    return RecordedDisk::Data(sectors * 512, static_cast<std::byte>(byte));
  }
  void write(int disk, model::RequestId id, int byte, std::uint64_t lba = kDataSector) {
    disks.on(static_cast<model::DeviceId>(disk)).write(id, lba, filled(byte)).ack(id);
  }
  std::vector<BrokenRule> broken(const adapters::StackRules& rules) {
    const auto run = disks.load();
    auto found = check_stack_rules(*run, rules);
    EXPECT_TRUE(found) << found.error().message();
    return found ? *found : std::vector<BrokenRule>{};
  }
};

TEST(StackRules, AWriteCompletesOnlyAfterAllDisksCompleteIt) {
  for (const bool late : {false, true}) {
    ThreeDisks three;
    three.disks.on(0).write(1, kDataSector, three.filled('a'));
    three.disks.on(1).write(2, kDataSector, three.filled('a'));
    // This write is still in flight, but the rule does not apply to metadata.
    three.disks.on(2).write(3, 8, three.filled('m'));
    three.disks.on(0).ack(1);
    if (!late) three.disks.on(1).ack(2);
    three.disks.mark("stack answered 0: dd");
    if (late) three.disks.on(1).ack(2);
    three.disks.on(2).ack(3);
    const auto broken = three.broken(all_rules(0, false));
    ASSERT_EQ(broken.size(), late ? 1U : 0U);
    if (!late) continue;
    EXPECT_EQ(broken[0].rule, "answered-after-all");
    EXPECT_EQ(broken[0].disk, "hd1");
    EXPECT_EQ(broken[0].requests, std::vector<model::RequestId>{2});
    EXPECT_NE(broken[0].text.find("hd1 has not completed request 2"), std::string::npos);
  }
}

TEST(StackRules, AFlushCompletesOnlyAfterAllDisksHaveFlushed) {
  for (const bool all : {true, false}) {
    ThreeDisks three;
    three.write(0, 1, 'a');
    three.write(1, 2, 'b');
    three.disks.on(0).flush(3);
    if (all) three.disks.on(1).flush(4);
    three.write(2, 5, 'm', 8);  // metadata
    three.disks.mark("stack flushed 0");
    const auto broken = three.broken(all_rules(0, false));
    ASSERT_EQ(broken.size(), all ? 0U : 1U);
    if (all) continue;
    EXPECT_EQ(broken[0].rule, "flushed-on-all");
    EXPECT_EQ(broken[0].disk, "hd1");
    EXPECT_EQ(broken[0].requests, std::vector<model::RequestId>{2});
  }
}

TEST(StackRules, AWriteWithoutAFlushNeedsNoDiskFlush) {
  ThreeDisks three;
  three.write(0, 1, 'a');
  three.disks.mark("stack answered 0");
  three.disks.mark("persisted 3");
  EXPECT_TRUE(three.broken(all_rules(0, false)).empty());
}

TEST(StackRules, CopiesAreEqualWhileNoWriteIsInFlight) {
  for (const int second : {0x61, 0x78, 0}) {
    ThreeDisks three;
    three.write(0, 1, 'a');
    if (second != 0) three.write(1, 2, second);
    three.write(2, 3, 'a');
    three.write(2, 4, 'm', 8);  // metadata differs
    const auto broken = three.broken(all_rules(3, false));
    ASSERT_EQ(broken.empty(), second == 0x61) << second;
    if (broken.empty()) continue;
    EXPECT_EQ(broken[0].rule, "mirror-width");
    EXPECT_NE(broken[0].text.find("sector 2048 differs between the copies"), std::string::npos);
    EXPECT_NE(broken[0].text.find(second == 0 ? "hd1 none" : "hd1 request 2"), std::string::npos)
        << broken[0].text;
    if (second == 0) {
      EXPECT_EQ(broken[0].disk, "hd1");
    }
  }
}

TEST(StackRules, CopiesMayDifferWhileAWriteIsInFlight) {
  ThreeDisks three;
  three.disks.on(0).write(1, kDataSector, three.filled('a'));
  three.write(1, 2, 'a');
  EXPECT_TRUE(three.broken(all_rules(3, false)).empty()) << "request 1 has no answer";
}

TEST(StackRules, DetectsAParityMismatch) {
  for (const int parity : {0x61 ^ 0x62, 0x61}) {
    ThreeDisks three;
    three.write(0, 1, 'a');
    three.write(1, 2, 'b');
    three.write(2, 3, parity);
    const auto broken = three.broken(all_rules(0, true));
    ASSERT_EQ(broken.empty(), parity == (0x61 ^ 0x62));
    if (broken.empty()) continue;
    EXPECT_EQ(broken[0].rule, "xor-is-zero");
    EXPECT_EQ(broken[0].requests, (std::vector<model::RequestId>{1, 2, 3}));
  }
}

TEST(StackRules, DetectsADifferenceThatPersistsWhileIdle) {
  for (const bool repaired : {true, false}) {
    ThreeDisks three;
    // The writes of a group complete one after the other, so at some moments the disks differ
    // although nothing is in flight.
    three.write(0, 1, 'a');
    three.write(1, 2, 'a');
    three.write(2, 3, repaired ? 'a' : 'c');
    three.write(0, 4, 'd', kDataSector + 64);
    three.write(1, 5, 'd', kDataSector + 64);
    three.write(2, 6, 'd', kDataSector + 64);
    // At the end of the recording, this write is in flight.
    three.disks.on(0).write(7, 8, three.filled('m'));
    EXPECT_EQ(three.broken(all_rules(3, false)).empty(), repaired);
  }
}

adapters::StackRules preflush_rule() {
  return {.preflushed_on_all = true, .data_offset_bytes = kDataSector * 512};
}
RecordedDisk::Data commit_record() {
  return RecordedDisk::block({0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 2, 0, 0, 0, 7});
}

TEST(StackRules, APreflushWriteReachesADiskAfterAllDisksFlush) {
  for (const bool waits : {true, false}) {
    ThreeDisks three;
    three.write(2, 1, 'm', 8);  // metadata
    three.write(0, 2, 'a');
    three.write(1, 3, 'b');
    three.disks.mark("stack preflushes");
    three.disks.on(0).flush(4);
    if (waits) three.disks.on(1).flush(5);
    // The write of the parity is complete before the record is written. The parity need not be
    // flushed.
    three.write(2, 6, 'p', kDataSector + 64);
    three.disks.on(0).write(7, kDataSector + 64, commit_record()).ack(7);
    if (!waits) three.disks.on(1).flush(8);
    const auto broken = three.broken(preflush_rule());
    ASSERT_EQ(broken.size(), waits ? 0U : 1U);
    if (waits) continue;
    EXPECT_EQ(broken[0].rule, "preflushed-on-all");
    EXPECT_EQ(broken[0].disk, "hd1");
    EXPECT_EQ(broken[0].requests, std::vector<model::RequestId>{3});
    EXPECT_NE(broken[0].text.find("request 7 (a write with a preflush) reaches hd0, but no "
                                  "completed flush of hd1 covers request 3"),
              std::string::npos)
        << broken[0].text;
  }
}

TEST(StackRules, PreflushesNeedNotCoverWritesInFlight) {
  ThreeDisks three;
  three.disks.mark("stack preflushes");
  three.disks.on(1).write(1, kDataSector, three.filled('b'));
  three.disks.on(0).write(2, kDataSector + 64, commit_record()).ack(2);
  three.disks.on(1).ack(1);
  EXPECT_TRUE(three.broken(preflush_rule()).empty());
}

TEST(StackRules, CommitRecordsBeforeTheMarkAreIgnored) {
  ThreeDisks three;
  three.write(1, 1, 'b');
  three.disks.on(0).write(2, kDataSector + 64, commit_record()).ack(2);
  three.disks.on(0).flush(3).on(1).flush(4);
  three.disks.mark("stack preflushes");
  three.disks.on(0).write(5, kDataSector + 72, commit_record()).ack(5);
  EXPECT_TRUE(three.broken(preflush_rule()).empty());
}

TEST(StackRules, RejectsRecordingsWithoutVisiblePreflushes) {
  ThreeDisks three;
  three.disks.mark("stack preflushes");
  three.write(0, 1, 'x');
  const auto found = check_stack_rules(*three.disks.load(), preflush_rule());
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message().find("preflushed-on-all = false"), std::string::npos);
}

TEST(StackRules, ReportsLostZeroes) {
  ThreeDisks three;
  three.disks.mark("stack lost zeroes 7");
  const auto broken = three.broken({});
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_EQ(broken[0].rule, "zeroed-is-zero");
}

constexpr std::uint64_t kBitmapSector = 16, kChunkSectors = 128;

/// A disk of a RAID-1 with a bitmap, and helpers for requests.
class BitmapDisk {
  TemporaryFolder folder_;

 public:
  RecordedDisk disk{folder_ / "run.hcrec", false, {{"hd0", 8192}}};
  model::RequestId next = 1;

  explicit BitmapDisk(std::uint32_t level = 1) {
    RecordedDisk::Data superblock(512);
    little_endian::store32(superblock, 0, 0xa92b4efc);
    little_endian::store32(superblock, 8, 1);
    little_endian::store32(superblock, 72, level);
    little_endian::store32(superblock, 96, kBitmapSector - 8);
    little_endian::store64(superblock, 128, kDataSector);
    disk.write(next, 8, superblock).ack(next);
    ++next;
    mark_chunks(0);
  }
  /// Writes and flushes the bitmap: `chunks` contains a bit for each of the first eight chunks.
  void mark_chunks(int chunks, bool flushes = true) {
    RecordedDisk::Data bitmap(512);
    little_endian::store32(bitmap, 0, 0x6d746962);
    little_endian::store32(bitmap, 52, kChunkSectors * 512);
    bitmap[256] = static_cast<std::byte>(chunks);
    disk.write(next, kBitmapSector, bitmap).ack(next);
    ++next;
    if (flushes) disk.flush(next++);
  }
  void write(std::uint64_t lba, std::size_t sectors = 8) {
    disk.write(next, lba, RecordedDisk::Data(sectors * 512, std::byte{'d'})).ack(next);
    ++next;
  }
  Result<std::vector<BrokenRule>> check() {
    return check_stack_rules(*disk.load(),
                             {.bitmap_marks_writes = true, .data_offset_bytes = kDataSector * 512});
  }
};

TEST(StackRules, ABitmapMustMarkARegionBeforeItIsWritten) {
  struct Case {
    int chunks;
    bool flushed;
    std::uint64_t lba;
    std::optional<std::uint64_t> unmarked;
  };
  for (const Case& each :
       {Case{1, true, kDataSector, std::nullopt},
        Case{3, true, kDataSector + kChunkSectors - 4, std::nullopt},
        Case{1, true, kDataSector - 4, std::nullopt}, Case{0, true, kDataSector - 4, kDataSector},
        Case{1, false, kDataSector, kDataSector},
        Case{1, true, kDataSector + kChunkSectors - 4, kDataSector + kChunkSectors},
        Case{2, true, kDataSector, kDataSector}}) {
    BitmapDisk one;
    one.mark_chunks(each.chunks, each.flushed);
    one.write(each.lba);
    const auto broken = one.check();
    ASSERT_TRUE(broken) << broken.error().message();
    ASSERT_EQ(broken->size(), each.unmarked ? 1U : 0U) << each.chunks << " " << each.lba;
    if (!each.unmarked) continue;
    EXPECT_EQ(broken->front().rule, "bitmap-marks-writes");
    EXPECT_NE(broken->front().text.find(fmt::format("sector {} is not marked", *each.unmarked)),
              std::string::npos)
        << broken->front().text;
  }
}

TEST(StackRules, DetectsABitmapThatIsClearedTooEarly) {
  BitmapDisk one;
  one.mark_chunks(1);
  one.write(kDataSector);
  one.mark_chunks(0);
  one.write(kDataSector);
  const auto broken = one.check();
  ASSERT_TRUE(broken) << broken.error().message();
  EXPECT_EQ(broken->size(), 1U);
}

TEST(StackRules, RejectsADiskWithoutABitmap) {
  for (const bool raid5 : {true, false}) {
    const auto found =
        raid5 ? BitmapDisk(5).check()
              : check_stack_rules(*ThreeDisks().disks.load(), {.bitmap_marks_writes = true});
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().message().find("has no RAID-1 with an internal bitmap"),
              std::string::npos);
  }
}

/// A block of an md journal that says that the stripe at the first data sector is on the disks. The
/// record follows one about data of two pages.
RecordedDisk::Data journal_block(std::uint16_t type) {
  RecordedDisk::Data block(4096);
  const std::span<std::byte> bytes(block);
  little_endian::store32(bytes, 0, 0x6433c509);
  little_endian::store32(bytes, 12, 32 + 24 + 16);
  little_endian::store32(bytes, 32 + 4, 16);
  little_endian::store32(bytes, 56, type);
  little_endian::store32(bytes, 56 + 4, 8);
  return block;
}

TEST(StackRules, AJournalForgetsAStripeOnlyWhenItIsDurableOnAllDisks) {
  for (const bool flushed : {true, false}) {
    for (const std::uint16_t type : {2, 1}) {
      ThreeDisks three;
      three.write(0, 1, 'a');
      three.write(1, 2, 'b');
      three.write(1, 3, 'c', kDataSector + 8);  // another stripe
      three.disks.on(0).flush(4);
      if (flushed) three.disks.on(1).flush(5);
      three.disks.on(2).write(6, kDataSector, journal_block(type)).ack(6);
      const auto broken =
          three.broken({.journal_forgets_flushed = true, .data_offset_bytes = kDataSector * 512});
      ASSERT_EQ(broken.size(), !flushed && type == 2 ? 1U : 0U);
      if (broken.empty()) continue;
      EXPECT_EQ(broken[0].rule, "journal-forgets-flushed");
      EXPECT_EQ(broken[0].disk, "hd1");
      EXPECT_EQ(broken[0].requests, std::vector<model::RequestId>{2});
    }
  }
}

}  // namespace
}  // namespace headcrash::explorer
