// A copy of a medium: beside a plain one after random writes, and the base stays what it was.
#include "plugin/media/memory_overlay.h"

#include <gtest/gtest.h>

#include <random>

namespace headcrash::media {
namespace {

constexpr std::uint64_t kSectors = 203;  // the last page is no whole one

std::vector<std::byte> content_of(const model::SectorStore& store) {
  std::vector<std::byte> bytes(store.sectors() * model::kSectorBytes);
  EXPECT_TRUE(store.read(0, bytes));
  return bytes;
}

TEST(MemoryOverlay, IsACopyAndTheBaseStays) {
  std::mt19937_64 random(7);
  std::shared_ptr<MemoryStore> base = *MemoryStore::create(kSectors);
  auto plain = *MemoryStore::create(kSectors);
  std::vector<std::byte> bytes(40 * model::kSectorBytes);
  const auto draw = [&](std::uint64_t sectors) {
    for (std::size_t i = 0; i < sectors * model::kSectorBytes; ++i)
      bytes[i] = static_cast<std::byte>(random());
    return std::span<const std::byte>(bytes).first(sectors * model::kSectorBytes);
  };
  for (std::uint64_t lba = 0; lba + 10 <= kSectors; lba += 30) {
    ASSERT_TRUE(base->write(lba, draw(10)));
    ASSERT_TRUE(plain->write(lba, std::span<const std::byte>(bytes).first(10 * model::kSectorBytes)));
  }
  const auto before = content_of(*base);
  const auto overlay = *MemoryOverlay::create(base);
  EXPECT_EQ(content_of(*overlay), before);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t count = random() % 20, lba = random() % (kSectors - count + 1);
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

TEST(MemoryStore, KnowsWhereNothingHasBeenWritten) {
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

TEST(MemoryOverlay, RefusesWhatIsOutside) {
  std::shared_ptr<MemoryStore> base = *MemoryStore::create(kSectors);
  const auto overlay = *MemoryOverlay::create(base);
  std::vector<std::byte> bytes(2 * model::kSectorBytes);
  EXPECT_FALSE(overlay->read(kSectors - 1, bytes));
  EXPECT_FALSE(overlay->write(kSectors - 1, bytes));
  EXPECT_FALSE(overlay->write_zeroes(kSectors - 1, 2));
}

}  // namespace
}  // namespace headcrash::media
