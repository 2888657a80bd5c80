// Tests the bytes, ranges and digests of images and overlays against plain memory.
#include "plugin/states/state_image.h"

#include <gtest/gtest.h>

#include "plugin/states/run_history.h"
#include "plugin/states/testing/random_run.h"

namespace headcrash::states {
namespace {

StateImage empty_disk(std::uint64_t sectors) {
  return StateImage(record::MediumState(nullptr, record::ExtentIndex(sectors)));
}

Bytes contents(const OverlayStore& store) {
  Bytes bytes(store.sectors() * model::kSectorBytes);
  EXPECT_TRUE(store.read(0, bytes));
  return bytes;
}

Bytes random_bytes(Random& random, std::uint64_t sectors) {
  Bytes bytes(sectors * model::kSectorBytes);
  for (std::uint64_t i = 0; i < sectors; ++i)
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(i * model::kSectorBytes),
                model::kSectorBytes, static_cast<std::byte>(random.below(4)));
  return bytes;
}

/// Returns the digest of a disk that was empty before `bytes` were written to it.
std::uint64_t digest_of(const Bytes& bytes) {
  OverlayStore store(empty_disk(bytes.size() / model::kSectorBytes), bytes.size());
  EXPECT_TRUE(store.write(0, bytes));
  return *store.digest();
}

TEST(OverlayStore, StoresOnlyWrittenData) {
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const TemporaryFolder folder;
    const RandomRun reference(folder / "r", seed, {.sectors = 40});
    const auto run = RunHistory::load(folder / "r");
    ASSERT_TRUE(run);
    const CrashState state{.event = reference.events()};
    auto image = (*run)->image(state, 0);
    ASSERT_TRUE(image);
    OverlayStore store(*image, 64 * model::kSectorBytes);
    Bytes expected = reference.image(state);
    EXPECT_EQ(*image->digest(), digest_of(expected));
    Random random(seed);
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t lba = random.below(40);
      const std::uint64_t count = 1 + random.below(40 - lba);
      const Bytes data =
          random.below(3) == 0 ? Bytes(count * model::kSectorBytes) : random_bytes(random, count);
      if (random.below(4) == 0) {
        ASSERT_TRUE(store.write_zeroes(lba, count));
        std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(lba * model::kSectorBytes),
                    count * model::kSectorBytes, std::byte{0});
      } else {
        ASSERT_TRUE(store.write(lba, data));
        std::copy(data.begin(), data.end(),
                  expected.begin() + static_cast<std::ptrdiff_t>(lba * model::kSectorBytes));
      }
      ASSERT_EQ(contents(store), expected) << "seed " << seed << ", step " << i;
      ASSERT_EQ(*store.digest(), digest_of(expected)) << "seed " << seed << ", step " << i;
      ASSERT_LE(store.overlay_bytes(), expected.size());
    }
    EXPECT_EQ(all_of(*image), reference.image(state)) << "the state must not change";
  }
}

TEST(OverlayStore, IsBoundedAndReportsItsLimit) {
  OverlayStore store(empty_disk(1 << 20), 8 * model::kSectorBytes);
  const Bytes data(6 * model::kSectorBytes, std::byte{1});
  ASSERT_TRUE(store.write(0, data));
  // four of these sectors already have a slot, so this write needs only two more slots
  ASSERT_TRUE(store.write(2, data));
  const auto full = store.write(7, data);
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message().find("is full"), std::string::npos);
  Bytes back(14 * model::kSectorBytes);
  ASSERT_TRUE(store.read(0, back));
  EXPECT_EQ(back[8 * model::kSectorBytes], std::byte{0}) << "a rejected write must store nothing";
  // Zeroes must release space, and a whole disk of zeroes must take none.
  ASSERT_TRUE(store.write_zeroes(0, 1 << 20));
  EXPECT_EQ(store.overlay_bytes(), 0U);
  ASSERT_TRUE(store.write(100, data));
  EXPECT_EQ(store.overlay_bytes(), 6U * model::kSectorBytes);
  EXPECT_FALSE(store.write((1 << 20) - 1, data));
  EXPECT_FALSE(store.write_zeroes(1, 1 << 20));
  EXPECT_FALSE(store.read(~0ULL - 2, back));
}

TEST(StateImage, UnreadableSectorsAreReportedAndCountInTheDigest) {
  const TemporaryFolder folder;
  {
    auto writer = record::RecordingWriter::create(folder / "r", {1, {{"hd0", "t", 16, 1}}});
    ASSERT_TRUE(writer);
    const Bytes data(2 * model::kSectorBytes, std::byte{5});
    (*writer)->submitted(0, 0,
                         {.id = 1, .op = model::Op::write, .lba = 4, .sectors = 2, .data = data});
    (*writer)->media_written(0, 0, {1, 4, 2, model::MediaWrite::Outcome::written, data});
    (*writer)->media_written(0, 0, {1, 5, 1, model::MediaWrite::Outcome::unreadable, {}});
  }
  const auto run = RunHistory::load(folder / "r");
  ASSERT_TRUE(run);
  const auto good = (*run)->image({.base = CrashState::Base::physical, .event = 2}, 0);
  const auto bad = (*run)->image({.base = CrashState::Base::physical, .event = 3}, 0);
  ASSERT_TRUE(good && bad);
  EXPECT_FALSE(good->first_unreadable(0, 16));
  EXPECT_EQ(bad->first_unreadable(0, 16), 5U);
  EXPECT_FALSE(bad->first_unreadable(6, 10));
  EXPECT_EQ(all_of(*good), all_of(*bad));
  EXPECT_NE(*good->digest(), *bad->digest());
  OverlayStore store(*bad, 1 << 20);
  EXPECT_EQ(store.first_unreadable(0, 16), 5U);
  ASSERT_TRUE(store.write(5, Bytes(model::kSectorBytes, std::byte{5})));
  EXPECT_FALSE(store.first_unreadable(0, 16));
  EXPECT_EQ(*store.digest(), *good->digest());
}

TEST(StateImage, ChangesInvalidateKnownDigests) {
  const TemporaryFolder folder;
  {
    auto writer = record::RecordingWriter::create(folder / "r", {1, {{"hd0", "t", 16, 1}}});
    ASSERT_TRUE(writer);
    const Bytes data(2 * model::kSectorBytes, std::byte{5});
    (*writer)->media_written(0, 0, {1, 4, 2, model::MediaWrite::Outcome::written, data});
    (*writer)->media_written(0, 0, {1, 5, 1, model::MediaWrite::Outcome::unreadable, {}});
  }
  const auto run = RunHistory::load(folder / "r");
  ASSERT_TRUE(run);
  const auto image = (*run)->image({.base = CrashState::Base::physical, .event = 2}, 0);
  ASSERT_TRUE(image);
  StateImage known = *image;
  ASSERT_TRUE(known.know_digests());
  for (std::uint64_t lba = 0; lba < 16; ++lba)
    EXPECT_EQ(*known.digest(lba, 16 - lba), *image->digest(lba, 16 - lba)) << lba;
  StateImage other = known;
  other.assign(4, 2, {});
  EXPECT_EQ(*other.digest(), 0U) << "all zeroes";
  EXPECT_EQ(*known.digest(), *image->digest()) << "only a copy has changed";
  other = known;
  other.apply(
      {.kind = record::Kind::media, .lba = 4, .sectors = 2, .bytes = record::Bytes::zeroes});
  EXPECT_EQ(*other.digest(), 0U);
}

TEST(StateImage, RejectsBytesThatWereNotRecorded) {
  const TemporaryFolder folder;
  {
    auto writer = record::RecordingWriter::create(folder / "r", {1, {{"hd0", "t", 16, 1}}});
    ASSERT_TRUE(writer);
    (*writer)->submitted(0, 0, {.id = 1, .op = model::Op::write, .lba = 4, .sectors = 2});
  }
  const auto run = RunHistory::load(folder / "r");
  ASSERT_TRUE(run);
  const auto image = (*run)->image({.event = 1}, 0);
  ASSERT_TRUE(image);
  Bytes bytes(model::kSectorBytes);
  EXPECT_TRUE(image->read(0, bytes));
  const auto unknown = image->read(4, bytes);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("not recorded"), std::string::npos);
  EXPECT_FALSE(image->digest());
}

}  // namespace
}  // namespace headcrash::states
