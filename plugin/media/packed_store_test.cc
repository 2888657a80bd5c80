// Tests that a packed copy returns the same data as its source.
#include "plugin/media/packed_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace headcrash::media {
namespace {

constexpr std::uint64_t kPackedSectors = 2003;  // the last page is partial

/// Returns a medium that contains single sectors, runs across pages, and a hole as long as several
/// groups.
std::unique_ptr<MemoryStore> some_medium() {
  auto medium = *MemoryStore::create(kPackedSectors);
  std::mt19937_64 random(11);
  const auto put = [&](std::uint64_t lba, std::uint64_t count) {
    std::vector<std::byte> bytes(count * model::kSectorBytes);
    for (std::byte& each : bytes) each = static_cast<std::byte>(random());
    EXPECT_TRUE(medium->write(lba, bytes));
  };
  for (std::uint64_t lba = 3; lba < 700; lba += 1 + random() % 20) put(lba, 1);
  for (std::uint64_t lba = 1500; lba < 1900; lba += 60) put(lba, 1 + random() % 50);
  put(kPackedSectors - 1, 1);
  return medium;
}

/// Compares the whole medium, and then `ranges` random ranges of it.
void expect_same(const PackedStore& packed, const model::SectorStore& medium,
                 std::mt19937_64& random, int ranges) {
  for (int i = 0; i < ranges; ++i) {
    const std::uint64_t count = i == 0 ? kPackedSectors : 1 + random() % 40,
                        lba = random() % (kPackedSectors - count + 1);
    std::vector<std::byte> expected(count * model::kSectorBytes, std::byte{1}),
        found(expected.size());
    ASSERT_TRUE(medium.read(lba, expected));
    ASSERT_TRUE(packed.read(lba, found));
    ASSERT_EQ(found, expected) << lba << " " << count;
  }
}

TEST(PackedStore, ReadsLikeItsSource) {
  const auto medium = some_medium();
  const auto packed = PackedStore::of(*medium);
  ASSERT_EQ(packed->sectors(), kPackedSectors);
  std::mt19937_64 random(12);
  expect_same(*packed, *medium, random, 2000);
}

/// The three rounds write bytes over zeroes, bytes over bytes, and zeroes over bytes.
TEST(PackedStore, CopyOfAnOverlayReadsLikeTheOverlay) {
  std::mt19937_64 random(13);
  std::shared_ptr<const PackedStore> packed = PackedStore::of(*some_medium());
  const std::uint64_t empty = PackedStore::of(**MemoryStore::create(kPackedSectors))->bytes();
  for (int time = 0; time < 3; ++time) {
    const auto overlay = std::make_unique<MemoryOverlay>(packed);
    std::vector<bool> touched(kPackedSectors);
    for (int i = 0; i < 12; ++i) {
      const std::uint64_t count = 1 + random() % 30, lba = random() % (kPackedSectors - count + 1);
      const std::vector<std::byte> bytes(count * model::kSectorBytes,
                                         static_cast<std::byte>(1 + i));
      ASSERT_TRUE(i % 3 == 0 ? overlay->write_zeroes(lba, count) : overlay->write(lba, bytes));
      for (std::uint64_t each = lba / 8 * 8;
           each < std::min((lba + count + 7) / 8 * 8, kPackedSectors); ++each)
        touched[each] = true;
    }
    const std::shared_ptr<const PackedStore> grown = PackedStore::of(*overlay);
    EXPECT_EQ(grown->base(), packed);
    for (std::uint64_t lba = 0; lba < kPackedSectors; lba += 5) {
      const auto next =
          std::find(touched.begin() + static_cast<std::ptrdiff_t>(lba), touched.end(), true);
      ASSERT_EQ(grown->next_packed(lba), static_cast<std::uint64_t>(next - touched.begin())) << lba;
    }
    expect_same(*grown, *overlay, random, 500);
    EXPECT_LE(grown->bytes(), empty + kPackedSectors / 8 / 8 + 1 +
                                  static_cast<std::uint64_t>(std::ranges::count(touched, true)) *
                                      model::kSectorBytes);
    packed = grown;
  }
}

TEST(PackedStore, SizeGrowsOnlyWithNonzeroSectors) {
  const auto medium = *MemoryStore::create(1 << 20);
  const std::vector<std::byte> one(model::kSectorBytes, std::byte{1});
  const std::uint64_t empty = PackedStore::of(*medium)->bytes();
  for (std::uint64_t lba = 0; lba < 100; ++lba) ASSERT_TRUE(medium->write(lba * 1000, one));
  EXPECT_EQ(PackedStore::of(*medium)->bytes(), empty + 100 * model::kSectorBytes);
}

TEST(PackedStore, IsReadOnly) {
  const auto medium = some_medium();
  const auto packed = PackedStore::of(*medium);
  const std::vector<std::byte> one(model::kSectorBytes, std::byte{1});
  EXPECT_FALSE(packed->write(0, one));
  EXPECT_FALSE(packed->write_zeroes(0, 1));
  std::vector<std::byte> beyond(2 * model::kSectorBytes);
  EXPECT_FALSE(packed->read(kPackedSectors - 1, beyond));
}

}  // namespace
}  // namespace headcrash::media
