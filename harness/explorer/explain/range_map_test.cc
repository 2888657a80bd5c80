// Compares RangeMap with a plain map from sectors to values.
#include "harness/explorer/explain/range_map.h"

#include <gtest/gtest.h>

#include <random>

namespace headcrash::explorer {
namespace {

TEST(RangeMap, BehavesLikeAMapOfSectors) {
  constexpr std::uint64_t kSectors = 60;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    RangeMap<unsigned> ranges;
    std::map<std::uint64_t, unsigned> reference;
    for (unsigned step = 1; step <= 200; ++step) {
      const std::uint64_t lba = random() % kSectors;
      const std::uint64_t count = random() % (kSectors - lba + 1);
      // Keeps the values v with v % 3 == kept, and removes the others.
      const unsigned kept = random() % 3;
      ranges.each(lba, count, [&](unsigned value, std::uint64_t) { return value % 3 == kept; });
      for (std::uint64_t s = lba; s < lba + count; ++s)
        if (const auto found = reference.find(s);
            found != reference.end() && found->second % 3 != kept)
          reference.erase(found);
      if (random() % 2 == 0) {
        ranges.each(lba, count, [](unsigned, std::uint64_t) { return false; });
        ranges.put(lba, count, step);
        for (std::uint64_t s = lba; s < lba + count; ++s) reference[s] = step;
      }
      std::map<std::uint64_t, unsigned> counted;
      for (const auto& [sector, value] : reference) ++counted[value];
      ranges.each(0, kSectors, [&](unsigned value, std::uint64_t sectors) {
        counted[value] -= static_cast<unsigned>(sectors);
        return true;
      });
      for (const auto& [value, left] : counted) ASSERT_EQ(left, 0U) << "value " << value;
    }
  }
}

TEST(RangeMap, MemoryDoesNotGrowWithTheSizeOfARange) {
  RangeMap<int> ranges;
  ranges.put(0, 1U << 21U, 1);
  ranges.each(1000, 8, [](int, std::uint64_t) { return true; });
  EXPECT_LE(ranges.ranges(), 3U);
}

}  // namespace
}  // namespace headcrash::explorer
