// Tests that an overlay matches a plain medium after random writes, and that the base stays
// unchanged.
#include "plugin/media/memory_overlay.h"

#include <gtest/gtest.h>

#include <random>

#include "plugin/media/memory_store.h"

namespace headcrash::media {
namespace {

constexpr std::uint64_t kSectors = 203;  // the last page is partial
// An overlay of this size can have several groups of places and several chunks of stored sectors.
constexpr std::uint64_t kManySectors = 5003;

std::vector<std::byte> content_of(const model::SectorStore& store) {
  std::vector<std::byte> bytes(store.sectors() * model::kSectorBytes);
  EXPECT_TRUE(store.read(0, bytes));
  return bytes;
}

class Overlays : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Overlays, MatchAPlainMediumAndLeaveTheBaseUnchanged) {
  const std::uint64_t sectors = GetParam();
  std::mt19937_64 random(7);
  std::shared_ptr<MemoryStore> base = *MemoryStore::create(sectors);
  auto plain = *MemoryStore::create(sectors);
  std::vector<std::byte> bytes(40 * model::kSectorBytes);
  const auto draw = [&](std::uint64_t count) {
    for (std::size_t i = 0; i < count * model::kSectorBytes; ++i)
      bytes[i] = static_cast<std::byte>(random());
    return std::span<const std::byte>(bytes).first(count * model::kSectorBytes);
  };
  for (std::uint64_t lba = 0; lba + 10 <= sectors; lba += 30) {
    ASSERT_TRUE(base->write(lba, draw(10)));
    ASSERT_TRUE(
        plain->write(lba, std::span<const std::byte>(bytes).first(10 * model::kSectorBytes)));
  }
  const auto before = content_of(*base);
  const auto overlay = std::make_unique<MemoryOverlay>(base);
  EXPECT_EQ(content_of(*overlay), before);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t count = random() % 20, lba = random() % (sectors - count + 1);
    if (random() % 4 == 0) {
      ASSERT_TRUE(overlay->write_zeroes(lba, count));
      ASSERT_TRUE(plain->write_zeroes(lba, count));
    } else {
      const auto data = draw(count);
      ASSERT_TRUE(overlay->write(lba, data));
      ASSERT_TRUE(plain->write(lba, data));
    }
    ASSERT_EQ(content_of(*overlay), content_of(*plain)) << i;
  }
  EXPECT_EQ(content_of(*base), before);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Overlays, testing::Values(kSectors, kManySectors));

TEST(MemoryOverlay, FindsSectorsWrittenToTheOverlay) {
  std::shared_ptr<MemoryStore> base = *MemoryStore::create(kManySectors);
  const auto overlay = std::make_unique<MemoryOverlay>(base);
  EXPECT_EQ(overlay->next_own(0), kManySectors);
  const std::vector<std::byte> one(model::kSectorBytes, std::byte{1}), zeroes(model::kSectorBytes);
  ASSERT_TRUE(overlay->write(2047, one));
  ASSERT_TRUE(overlay->write(4000, zeroes)) << "zeroes are its own, too";
  EXPECT_EQ(overlay->next_own(0), 2047U);
  EXPECT_EQ(overlay->next_own(2048), 4000U);
  EXPECT_EQ(overlay->next_own(4001), kManySectors);
}

TEST(MemoryStore, FindsUnwrittenRegions) {
  constexpr std::uint64_t kPiece = 8;
  const auto store = *MemoryStore::create(10 * kPiece);
  EXPECT_EQ(store->next_written(0), 10 * kPiece);
  const std::vector<std::byte> zeroes(model::kSectorBytes), ones(model::kSectorBytes, std::byte{1});
  ASSERT_TRUE(store->write(3 * kPiece, zeroes));
  EXPECT_EQ(store->next_written(0), 10 * kPiece);
  ASSERT_TRUE(store->write(5 * kPiece + 7, ones));
  EXPECT_EQ(store->next_written(0), 5 * kPiece);
  EXPECT_EQ(store->next_written(5 * kPiece + 5), 5 * kPiece + 5);
  EXPECT_EQ(store->next_written(6 * kPiece), 10 * kPiece);
}

TEST(MemoryOverlay, RejectsRangesOutsideTheMedium) {
  std::shared_ptr<MemoryStore> base = *MemoryStore::create(kSectors);
  const auto overlay = std::make_unique<MemoryOverlay>(base);
  std::vector<std::byte> bytes(2 * model::kSectorBytes);
  EXPECT_FALSE(overlay->read(kSectors - 1, bytes));
  EXPECT_FALSE(overlay->write(kSectors - 1, bytes));
  EXPECT_FALSE(overlay->write_zeroes(kSectors - 1, 2));
}

}  // namespace
}  // namespace headcrash::media
