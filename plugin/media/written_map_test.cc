// Tests WrittenMap against a simple reference.
#include "plugin/media/written_map.h"

#include <gtest/gtest.h>

#include <random>

namespace headcrash::media {
namespace {

constexpr std::uint64_t kGranule = WrittenMap::kGranuleSectorsMin;

TEST(WrittenMap, MatchesAReferenceImplementation) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const std::uint64_t sectors = 1 + random() % 20000;
    WrittenMap map(sectors);
    std::vector<bool> reference(sectors / kGranule + 1);
    for (int i = 0; i < 30; ++i) {
      const std::uint64_t lba = random() % sectors;
      const std::uint64_t count = 1 + random() % std::min<std::uint64_t>(500, sectors - lba);
      map.mark(lba, count);
      for (std::uint64_t s = lba; s < lba + count; ++s) reference[s / kGranule] = true;
      std::uint64_t at = random() % sectors;
      while (at < sectors) {
        const WrittenMap::Run run = map.run(at, sectors - at);
        ASSERT_GT(run.sectors, 0U);
        ASSERT_LE(run.sectors, sectors - at);
        for (std::uint64_t s = at; s < at + run.sectors; ++s)
          ASSERT_EQ(reference[s / kGranule], run.written) << "seed " << seed << ", sector " << s;
        at += run.sectors;
      }
    }
  }
}

TEST(WrittenMap, UsesBoundedMemory) {
  WrittenMap map(1ULL << 40);
  map.mark((1ULL << 40) - 1, 1);
  EXPECT_TRUE(map.run((1ULL << 40) - 1, 1).written);
  EXPECT_FALSE(map.run(0, 1000).written);
  map.mark(0, ~0ULL);
  EXPECT_EQ(map.run(0, 1ULL << 40).sectors, 1ULL << 40) << "a count beyond the end is clipped";
}

}  // namespace
}  // namespace headcrash::media
