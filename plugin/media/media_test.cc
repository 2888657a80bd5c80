// Tests that the memory store and the file store hold the same bytes, and that a directory with
// foreign contents is rejected.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>

#include "plugin/base/testing/temporary_folder.h"
#include "plugin/media/memory_store.h"
#include "plugin/media/sparse_file_store.h"

namespace headcrash::media {
namespace {

namespace fs = std::filesystem;
using model::kSectorBytes;

std::vector<std::byte> noise(std::size_t sectors, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(sectors * kSectorBytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

void behaves_like_a_vector(model::SectorStore& store, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> expected(store.sectors() * kSectorBytes);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t lba = random() % store.sectors();
    const std::uint64_t count = 1 + random() % std::min<std::uint64_t>(store.sectors() - lba, 40);
    const auto at = expected.begin() + static_cast<std::ptrdiff_t>(lba * kSectorBytes);
    const auto bytes = static_cast<std::ptrdiff_t>(count * kSectorBytes);
    if (i % 3 == 0) {
      const auto data = noise(count, random());
      ASSERT_TRUE(store.write(lba, data));
      std::copy(data.begin(), data.end(), at);
    } else if (i % 3 == 1) {
      ASSERT_TRUE(store.write_zeroes(lba, count));
      std::fill(at, at + bytes, std::byte{0});
    } else {
      std::vector<std::byte> read(count * kSectorBytes, std::byte{0xee});
      ASSERT_TRUE(store.read(lba, read));
      ASSERT_TRUE(std::equal(read.begin(), read.end(), at)) << "seed " << seed << " step " << i;
    }
  }
  std::vector<std::byte> all(expected.size());
  ASSERT_TRUE(store.read(0, all));
  EXPECT_EQ(all, expected) << "seed " << seed;
}

TEST(MemoryStore, BehavesLikeAVector) {
  for (unsigned seed : {1U, 2U, 3U}) {
    auto store = MemoryStore::create(333);
    ASSERT_TRUE(store);
    behaves_like_a_vector(**store, seed);
  }
}

TEST(MemoryStore, AllocatesLazilyAndChecksRanges) {
  auto store = MemoryStore::create(std::uint64_t{1} << 32);  // 2 TiB
  ASSERT_TRUE(store);
  std::vector<std::byte> sector(kSectorBytes);
  EXPECT_TRUE((*store)->write((std::uint64_t{1} << 32) - 1, sector));
  EXPECT_FALSE((*store)->write(std::uint64_t{1} << 32, sector));
  EXPECT_FALSE((*store)->read(~std::uint64_t{0}, sector));
  EXPECT_FALSE((*store)->write_zeroes(5, std::uint64_t{1} << 32));
  EXPECT_FALSE((*store)->read(0, std::span(sector).first(100)));
  EXPECT_FALSE(MemoryStore::create(0));
  EXPECT_FALSE(MemoryStore::create(~std::uint64_t{0}));
}

/// Returns this process's private memory. The kernel's shared zero page does not count.
std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0, shared = 0;
  statm >> size >> resident >> shared;
  return (resident - shared) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// A file system image is copied into a store as a whole, including its pages of zeroes. These
/// pages must not be stored.
TEST(MemoryStore, DoesNotStorePagesOfZeroes) {
  constexpr std::uint64_t kMiB = 1 << 20;
  constexpr std::uint64_t kImage = 256 * kMiB, kData = 8 * kMiB;
  auto store = MemoryStore::create(kImage / kSectorBytes);
  ASSERT_TRUE(store);
  const std::vector<std::byte> zeroes(kMiB);
  const std::vector<std::byte> data = noise(kMiB / kSectorBytes, 5);
  const std::uint64_t before = resident_bytes();
  for (std::uint64_t at = 0; at < kImage; at += kMiB)
    ASSERT_TRUE((*store)->write(at / kSectorBytes, at % (32 * kMiB) == 0 ? data : zeroes));
  EXPECT_LT(resident_bytes() - before, kData + 4 * kMiB) << "only nonzero pages are stored";
  EXPECT_GE(resident_bytes() - before, kData - kMiB);
  // Writing zeroes to whole pages releases them. Smaller ranges must at least read as zeroes.
  for (std::uint64_t at = 0; at < kImage; at += 32 * kMiB)
    ASSERT_TRUE((*store)->write(at / kSectorBytes, zeroes));
  EXPECT_LT(resident_bytes() - std::min(before, resident_bytes()), 2 * kMiB);
  std::vector<std::byte> read(kMiB, std::byte{1});
  ASSERT_TRUE((*store)->read(0, read));
  EXPECT_EQ(read, zeroes);
}

/// Tests zero sectors among nonzero ones, at every position in a page.
TEST(MemoryStore, ReadsBackZeroSectors) {
  auto store = MemoryStore::create(64);
  ASSERT_TRUE(store);
  std::vector<std::byte> expected(64 * kSectorBytes);
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t lba = random() % 64;
    const std::uint64_t count = 1 + random() % std::min<std::uint64_t>(64 - lba, 20);
    std::vector<std::byte> bytes = noise(count, random());
    for (std::uint64_t s = 0; s < count; ++s)
      if (random() % 2 == 0)
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(s * kSectorBytes), kSectorBytes,
                    std::byte{0});
    if (random() % 4 == 0) std::fill(bytes.begin(), bytes.end(), std::byte{0});
    ASSERT_TRUE((*store)->write(lba, bytes));
    std::copy(bytes.begin(), bytes.end(),
              expected.begin() + static_cast<std::ptrdiff_t>(lba * kSectorBytes));
    std::vector<std::byte> all(expected.size());
    ASSERT_TRUE((*store)->read(0, all));
    ASSERT_EQ(all, expected) << "step " << i;
  }
}

const std::vector<StoredDevice> kDisk = {{"hd0", "hp-c2447", 333}};

TEST(StoreFolder, BehavesLikeAVectorAndPersists) {
  TemporaryFolder folder;
  const auto data = noise(3, 9);
  {
    auto store = StoreFolder::open(folder.path() / "s", kDisk);
    ASSERT_TRUE(store) << store.error().message();
    behaves_like_a_vector((*store)->store(0), 7);
    ASSERT_TRUE((*store)->store(0).write(330, data));
  }
  EXPECT_EQ(fs::file_size(folder.path() / "s/hd0.img"), 333 * kSectorBytes);
  auto again = StoreFolder::open(folder.path() / "s", kDisk);
  ASSERT_TRUE(again) << again.error().message();
  std::vector<std::byte> read(data.size());
  ASSERT_TRUE((*again)->store(0).read(330, read));
  EXPECT_EQ(read, data);
}

TEST(StoreFolder, ImagesAreSparse) {
  TemporaryFolder folder;
  auto store = StoreFolder::open(folder.path() / "s", {{"hd0", "p", std::uint64_t{1} << 24}});
  ASSERT_TRUE(store);
  ASSERT_TRUE((*store)->store(0).write(1 << 20, noise(256, 1)));
  ASSERT_TRUE((*store)->store(0).write_zeroes(1 << 20, 256));
  struct stat status = {};
  ASSERT_EQ(stat((folder.path() / "s/hd0.img").c_str(), &status), 0);
  EXPECT_LT(status.st_blocks, 1024);
}

void expect_refused(const fs::path& folder, const std::vector<StoredDevice>& devices,
                    const char* word) {
  auto store = StoreFolder::open(folder, devices);
  ASSERT_FALSE(store) << word;
  EXPECT_NE(store.error().message().find(word), std::string::npos) << store.error().message();
  EXPECT_NE(store.error().message().find(folder.filename().string()), std::string::npos)
      << store.error().message();
  EXPECT_FALSE(store.error().hint.empty()) << store.error().message();
}

TEST(StoreFolder, RejectsMismatchedDevices) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "s";
  {
    ASSERT_TRUE(StoreFolder::open(path, kDisk));
  }
  expect_refused(path, {{"hd0", "other-drive", 333}}, "devices[0].profile");
  expect_refused(path, {{"hd0", "hp-c2447", 334}}, "devices[0].sectors");
  expect_refused(path, {{"hd1", "hp-c2447", 333}}, "devices[0].name");
  expect_refused(path, {kDisk[0], {"hd1", "hp-c2447", 333}}, "devices");
  expect_refused(path, {{"../hd0", "hp-c2447", 333}}, "is not a valid image name");
  fs::resize_file(path / "hd0.img", 100 * kSectorBytes);
  expect_refused(path, kDisk, "hd0.img");
  fs::remove(path / "hd0.img");
  expect_refused(path, kDisk, "missing");
  EXPECT_TRUE(StoreFolder::open(folder.path() / "t", kDisk));
}

TEST(StoreFolder, IsExclusiveWhileOpen) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "s";
  {
    auto first = StoreFolder::open(path, kDisk);
    ASSERT_TRUE(first);
    expect_refused(path, kDisk, "in use");
  }
  EXPECT_TRUE(StoreFolder::open(path, kDisk));
}

TEST(StoreFolder, RejectsForeignAndDamagedFolders) {
  TemporaryFolder folder;
  expect_refused(folder.path() / "no/such", kDisk, "cannot be created");
  std::ofstream(folder.path() / "letter.txt") << "dear friend";
  expect_refused(folder.path(), kDisk, "letter.txt");
  expect_refused(folder.path() / "letter.txt", kDisk, "cannot be opened");
  const fs::path path = folder.path() / "s";
  fs::create_directory(path);
  for (const char* text :
       {"", "[]", "17", "{\"format\":\"x\"}", "\xff\xfe", "{\"format\":\"headcrash-store\"}",
        R"({"format":"headcrash-store","version":2,"devices":[]})",
        R"({"format":"headcrash-store","version":1})",
        R"({"format":"headcrash-store","version":1,"devices":[3]})"}) {
    std::ofstream(path / "store.json", std::ios::trunc) << text;
    expect_refused(path, kDisk, "store.json");
  }
}

TEST(StoreFolder, RejectsAReadOnlyFolder) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  expect_refused(folder.path(), kDisk, "cannot be written");
}

TEST(StoreFolder, CompletesAnInterruptedFirstStart) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "s";
  fs::create_directory(path);
  std::ofstream(path / "hd0.img").close();
  std::ofstream(path / "store.json.new") << "{";
  auto store = StoreFolder::open(path, kDisk);
  EXPECT_TRUE(store) << store.error().message();
}

TEST(SparseFileStore, AnImageHasOneWriterOrAnyNumberOfReaders) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "x.img";
  auto writer = SparseFileStore::open(path, 8);
  ASSERT_TRUE(writer);
  EXPECT_FALSE(SparseFileStore::open(path, 8));
  EXPECT_FALSE(SparseFileStore::open_existing(path, SparseFileStore::Access::read_only));
  writer->reset();
  const auto reader = SparseFileStore::open_existing(path, SparseFileStore::Access::read_only);
  EXPECT_TRUE(SparseFileStore::open_existing(path, SparseFileStore::Access::read_only));
  const auto late = SparseFileStore::open_existing(path, SparseFileStore::Access::read_write);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().problem, "is in use by another program");
}

TEST(SparseFileStore, ReportsHostErrors) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  EXPECT_FALSE(SparseFileStore::open("/dev/full", 8));
  TemporaryFolder folder;
  auto store = SparseFileStore::open(folder.path() / "x.img", 8);
  ASSERT_TRUE(store);
  fs::resize_file(folder.path() / "x.img", 512);
  std::vector<std::byte> sector(kSectorBytes);
  auto read = (*store)->read(7, sector);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("x.img"), std::string::npos);
}

}  // namespace
}  // namespace headcrash::media
