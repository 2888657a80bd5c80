#include "harness/explorer/guests/stack_rules.h"

#include <gtest/gtest.h>

#include "harness/explorer/testing/recorded_disk.h"
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

TEST(StackRules, AWriteIsAnsweredAfterAllDisksHaveAnswered) {
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

TEST(StackRules, AFlushIsAnsweredAfterAllDisksHaveFlushed) {
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

TEST(StackRules, AnAnswerWithoutAFlushNeedsNoFlush) {
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
    if (second == 0) EXPECT_EQ(broken[0].disk, "hd1");
  }
}

TEST(StackRules, CopiesMayDifferWhileAWriteIsInFlight) {
  ThreeDisks three;
  three.disks.on(0).write(1, kDataSector, three.filled('a'));
  three.write(1, 2, 'a');
  EXPECT_TRUE(three.broken(all_rules(3, false)).empty()) << "request 1 has no answer";
}

TEST(StackRules, AParityThatDoesNotMatchIsBroken) {
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

TEST(StackRules, ADifferenceThatLastsForSeveralQuietMomentsIsBroken) {
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

}  // namespace
}  // namespace headcrash::explorer
