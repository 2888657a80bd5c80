// Tests the bmap cache: its encoding, the code that reads and checks it, and the state of fsynced
// blocks after a power cut.

#include "fs-adapters/ufs/core/bmap_cache.h"

#include <fmt/format.h>

#include "fs-adapters/ufs/core/tree_store.h"
#include "fs-adapters/ufs/format/image_reader.h"
#include "fs-adapters/ufs/testing/image_writer.h"
#include "fs-adapters/ufs/testing/mounted.h"
#include "fs-adapters/ufs/testing/superblock.h"
#include "fs-adapters/ufs/testing/tree.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
namespace {

using bench::Mounted;

constexpr MkfsOptions kSmall{
    .bytes_per_inode = 4096, .group_bytes = 1 << 20, .features = {.bmap_cache = true}};

FsckReport checked(const model::SectorStore& store) {
  Fsck fsck;
  auto report = fsck.check(store);
  EXPECT_TRUE(report) << report.error().message();
  return report ? *std::move(report) : FsckReport{};
}

TEST(BmapCache, CachesPointersOfOneIndirectBlock) {
  const Geometry geometry(superblock_for_tests());
  BmapCache cache(20, false);
  EXPECT_TRUE(cache.empty());
  EXPECT_FALSE(cache.covers(20));
  cache.set(20, 800);
  cache.set(23, 808);
  EXPECT_TRUE(cache.covers(20) && cache.covers(22) && cache.covers(23));
  EXPECT_FALSE(cache.covers(19) || cache.covers(24));
  EXPECT_EQ(cache.at(22), 0U) << "a hole";
  EXPECT_TRUE(cache.has_room_for(geometry, 33));
  EXPECT_FALSE(cache.has_room_for(geometry, 34) || cache.has_room_for(geometry, 19));
  EXPECT_TRUE(cache.is_of(geometry, kDirectPointers));
  const std::uint64_t second = geometry.blocks_within(1);
  BmapCache last(second - 1, false);
  last.set(second - 1, 816);
  EXPECT_FALSE(last.has_room_for(geometry, second)) << "another indirect block";
  std::array<std::byte, BmapCache::kBytes> bytes = {};
  cache.encode(bytes);
  EXPECT_EQ(BmapCache::decode(bytes), cache);
  // The other pointers of the indirect block do not change, unless the cache is `alone`. In that
  // case the indirect block has never been written, and the other pointers become zero.
  for (const bool alone : {false, true}) {
    BmapCache laid(14, alone);
    laid.set(14, 800);
    std::vector<std::byte> indirect(geometry.block_bytes(), std::byte{0x11});
    laid.lay_over(geometry, indirect);
    const std::uint32_t around = alone ? 0 : 0x11111111;
    EXPECT_EQ(little_endian::load32(indirect, 4), around);
    EXPECT_EQ(little_endian::load32(indirect, 8), 800U);
    EXPECT_EQ(little_endian::load32(indirect, indirect.size() - 4), around);
  }
}

TEST(BmapCache, RejectsInvalidContents) {
  const Geometry geometry(superblock_for_tests());
  const auto sound = [&](std::uint64_t first, std::uint64_t last, bool alone) {
    BmapCache cache(first, alone);
    cache.set(last, 800);
    return cache.is_sound(geometry);
  };
  EXPECT_TRUE(BmapCache().is_sound(geometry));
  EXPECT_TRUE(sound(12, 25, true));
  EXPECT_TRUE(sound(5000, 5013, false));
  EXPECT_FALSE(sound(5000, 5013, true)) << "not the inode's own indirect block";
  EXPECT_FALSE(sound(11, 12, false)) << "a direct block";
  const std::uint64_t second = geometry.blocks_within(1);
  EXPECT_FALSE(sound(second - 1, second, false)) << "two indirect blocks";
  std::array<std::byte, BmapCache::kBytes> bytes = {};
  BmapCache cache(12, true);
  cache.set(12, 800);
  cache.encode(bytes);
  bytes[4] = std::byte{15};
  EXPECT_FALSE(BmapCache::decode(bytes).is_sound(geometry)) << "count exceeds the capacity";
}

TEST(BmapCache, ImageReaderUsesTheBmapCache) {
  TestTree tree(kSmall);
  ImageWriter writer(*tree.store);
  const auto before = *ImageReader::open(*tree.store)->blocks(tree.large);
  writer.cache_last_blocks(tree.large, 5);
  const auto reader = ImageReader::open(*tree.store);
  EXPECT_EQ(*reader->blocks(tree.large), before);
  std::string text(TestTree::large_content().size(), '?');
  ASSERT_TRUE(reader->read(tree.large, 0, std::as_writable_bytes(std::span(text))));
  EXPECT_EQ(text, TestTree::large_content());
  EXPECT_TRUE(checked(*tree.store).nothing_found()) << bench::findings_of(checked(*tree.store));
}

TEST(BmapCache, IsClearedIfItsIndirectBlockIsMissing) {
  TestTree tree(kSmall);
  ImageWriter writer(*tree.store);
  BmapCache cache(20, false);
  cache.set(20, 800);
  for (const InodeNumber of : {tree.small, tree.docs}) {
    writer.save_extension(of, {.bmap = cache});
    EXPECT_TRUE(checked(*tree.store).has(FindingKind::bad_bmap_cache)) << of;
    Fsck fsck;
    const auto repaired = fsck.run(*tree.store, {.repair = true});
    ASSERT_TRUE(repaired);
    EXPECT_TRUE(checked(*tree.store).nothing_found()) << bench::findings_of(checked(*tree.store));
    EXPECT_TRUE(ImageReader::open(*tree.store)->extension(of)->bmap.empty());
  }
}

TEST(BmapCache, InvalidAddressesAndAddressesBeyondTheEndAreRemoved) {
  TestTree tree(kSmall);
  ImageWriter writer(*tree.store);
  BmapCache cache = writer.cache_last_blocks(tree.large, 4);
  const auto before = *ImageReader::open(*tree.store)->blocks(tree.large);
  cache.set(cache.first() + 1, 0x7ffffff0);
  writer.save_extension(tree.large, {.bmap = cache});
  Inode inode = writer.load(tree.large);
  inode.size_bytes -= writer.geometry().block_bytes();
  writer.save(tree.large, inode);
  const FsckReport found = checked(*tree.store);
  EXPECT_TRUE(found.has(FindingKind::bad_pointer) && found.has(FindingKind::blocks_behind_end))
      << bench::findings_of(found);
  Fsck fsck;
  ASSERT_TRUE(fsck.run(*tree.store, {.repair = true}));
  EXPECT_TRUE(checked(*tree.store).nothing_found()) << bench::findings_of(checked(*tree.store));
  auto after = before;
  after.pop_back();
  after[cache.first() + 1] = 0;
  EXPECT_EQ(*ImageReader::open(*tree.store)->blocks(tree.large), after);
}

TEST(BmapCache, IsCheckedBeforeUseInAMountedInode) {
  Mounted m(bench::setup_named("netra-bmap"));
  m.mount();
  m.as_user([&] { bench::put_file(*m.file_system, "f", std::string(60'000, 'f')); });
  m.unmount();
  const auto reader = ImageReader::open(*m.store);
  const InodeNumber number = *reader->lookup("f");
  EXPECT_TRUE(reader->extension(number)->bmap.alone());
  InodeExtension wrong = *reader->extension(number);
  wrong.bmap = BmapCache(3, false);
  wrong.bmap.set(3, 800);
  ImageWriter(*m.store).save_extension(number, wrong);
  EXPECT_FALSE(reader->read(number, 0, {}));
  m.cache.discard_all();
  m.mount();
  m.as_user([&] { EXPECT_FALSE(m.file_system->stat("f")); });
}

/// Appends to files at each level of indirect blocks. After each write and each torn write, all
/// fsynced data must be readable, both before and after a repair.
class BmapCuts : public testing::TestWithParam<const char*> {};

TEST_P(BmapCuts, PreserveFsyncedData) {
  constexpr std::uint64_t kBlock = 512;
  Mounted m(bench::setup_named(GetParam()), {.device_bytes = 2 << 20,
                                             .mkfs = {.block_bytes = kBlock,
                                                      .fragment_bytes = kBlock,
                                                      .inodes_per_group = 64,
                                                      .group_bytes = 256 << 10}});
  const auto before = media::MemoryStore::create(m.store->sectors());
  std::vector<std::byte> bytes(m.store->sectors() * kSectorBytes);
  ASSERT_TRUE(before && m.store->read(0, bytes) && (*before)->write(0, bytes));
  m.log.keep = true;
  m.mount();
  struct Promise {
    std::size_t writes;
    /// After `writes` disk writes, the file must have at least `size` bytes. If `cut` is 1, a
    /// truncation is in flight, and no size is promised.
    std::uint64_t size, cut = 0;
  };
  std::vector<Promise> promises;
  const auto text_until = [](std::uint64_t size) {
    std::string text;
    for (std::uint64_t block = 0; text.size() < size; ++block)
      text += std::string(kBlock, static_cast<char>('A' + block % 50));
    text.resize(size);
    return text;
  };
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    bench::put_file(fs, "f", text_until(11 * kBlock));
    const auto file = fs.open("f", {});
    ASSERT_TRUE(file);
    std::uint64_t size = 11 * kBlock;
    const auto grow = [&](std::uint64_t blocks, bool keep) {
      const std::string text = text_until(size + blocks * kBlock);
      EXPECT_TRUE(fs.pwrite(*file, size, bench::bytes_of(text.substr(size))));
      size = text.size();
      if (!keep) return;
      EXPECT_TRUE(fs.fsync(*file));
      promises.push_back({m.log.log.size(), size});
    };
    for (int i = 0; i < 40; ++i) grow(1 + i % 3, i % 2 == 0);
    grow(9, true);
    // The next write merges the cache that was fsynced. A later operation writes the inode.
    grow(20, false);
    bench::put_file(fs, "beside", "b");
    EXPECT_TRUE(fs.sync());
    for (int i = 0; i < 30; ++i) grow(3, i % 4 == 0);
    promises.push_back({m.log.log.size(), size, 1});
    size -= 10 * kBlock + 100;
    EXPECT_TRUE(fs.truncate(*file, size));
    bench::put_file(fs, "other", std::string(12 * kBlock, 'o'));
    EXPECT_TRUE(fs.fsync(*file));
    promises.push_back({m.log.log.size(), size});
    grow(5, true);
    EXPECT_TRUE(fs.close(*file));
    EXPECT_EQ(bench::get_file(fs, "f"), text_until(size));
  });
  m.unmount();
  bench::expect_clean(*m.store);

  std::size_t done = 0, next = 0;
  std::uint64_t promised = 0;
  Fsck fsck;
  for (const os::LoggedStore::Write& write : m.log.log) {
    for (; next < promises.size() && promises[next].writes <= done; ++next)
      promised = promises[next].cut != 0 ? 0 : promises[next].size;
    for (const bool torn : {true, false}) {
      const std::size_t half = write.bytes.size() / kSectorBytes / 2 * kSectorBytes;
      ASSERT_TRUE(
          (*before)->write(write.lba, torn ? std::span(write.bytes).first(half) : write.bytes));
      ASSERT_TRUE((*before)->read(0, bytes));
      const auto image = media::MemoryStore::create(m.store->sectors());
      ASSERT_TRUE((*image)->write(0, bytes));
      const auto found = fsck.run(**image, {.repair = true});
      ASSERT_TRUE(found && !found->unrepaired);
      for (const Finding& finding : found->findings)
        ASSERT_TRUE(permitted(m.setup, finding.kind))
            << "after " << done << " writes: " << finding.text;
      for (const model::SectorStore* store : {before->get(), image->get()}) {
        if (promised == 0) continue;
        const auto reader = ImageReader::open(*store);
        ASSERT_TRUE(reader);
        std::string text(promised, '?');
        const auto number = reader->lookup("f");
        ASSERT_TRUE(number && reader->read(*number, 0, std::as_writable_bytes(std::span(text))));
        ASSERT_TRUE(text == text_until(promised))
            << "after " << done << " writes of " << m.log.log.size();
      }
    }
    ++done;
  }
  EXPECT_EQ(next, promises.size());
}

INSTANTIATE_TEST_SUITE_P(All, BmapCuts, testing::Values("netra", "netra-bmap", "netra-fast"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::ranges::replace(text, '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace headcrash::ufs
