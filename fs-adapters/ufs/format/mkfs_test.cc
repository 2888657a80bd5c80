#include "fs-adapters/ufs/format/mkfs.h"

#include <gtest/gtest.h>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/format/image_reader.h"
#include "fs-adapters/ufs/fsck/fsck.h"
#include "fs-adapters/ufs/schemes/journal_area.h"
#include "plugin/media/memory_store.h"

namespace headcrash::ufs {
namespace {

std::unique_ptr<media::MemoryStore> device(std::uint64_t bytes) {
  return std::move(*media::MemoryStore::create(bytes / kSectorBytes));
}

TEST(Mkfs, CreatesLostFoundInTheRoot) {
  const auto store = device(64 << 20);
  const auto made = mkfs(*store, {.time = 1000});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->groups * made->inodes_per_group, 8192U);
  const auto reader = ImageReader::open(*store);
  ASSERT_TRUE(reader) << reader.error().message();
  const auto names = reader->list(kRootInode);
  ASSERT_TRUE(names) << names.error().message();
  ASSERT_EQ(names->size(), 1U);
  EXPECT_EQ(names->front().name, "lost+found");
  EXPECT_EQ(reader->inode(kRootInode)->links, 3U);
  EXPECT_EQ(reader->inode(*reader->lookup("lost+found"))->size_bytes, 8192U);
  EXPECT_TRUE(reader->list(kLostFoundInode)->empty());
}

TEST(Mkfs, SupportsManySizes) {
  for (const std::uint32_t block : {4096U, 8192U})
    for (std::uint32_t fragment = block / 8; fragment <= block; fragment *= 2)
      for (const std::uint64_t bytes :
           {1ULL << 20U, (3ULL << 20U) + 512 * 7, 70ULL << 20U, 300ULL << 20U}) {
        const auto store = device(bytes);
        const auto made = mkfs(*store, {.block_bytes = block, .fragment_bytes = fragment});
        ASSERT_TRUE(made) << block << " " << fragment << " " << bytes << " "
                          << made.error().message();
        EXPECT_LE(std::uint64_t{made->size_fragments} * fragment, bytes);
        EXPECT_GT(std::uint64_t{made->size_fragments} * fragment, bytes * 6 / 10);
        EXPECT_TRUE(ImageReader::open(*store));
      }
}

TEST(Mkfs, RejectsAJournalThatDoesNotFitBeforeWriting) {
  const auto store = device(8 << 20);
  ASSERT_TRUE(mkfs(*store));
  for (const std::uint64_t bytes : {1ULL << 10U, 8ULL << 20U, 9ULL << 20U}) {
    const auto made = mkfs(*store, {.block_bytes = 4096, .journal_bytes = bytes});
    ASSERT_FALSE(made) << bytes;
    EXPECT_NE(made.error().message().find("journal-size: "), std::string::npos)
        << made.error().message();
    EXPECT_EQ(ImageReader::open(*store)->superblock().block_bytes, 8192U)
        << "it is the one that was there";
  }
  for (const std::uint32_t groups : {1U, 4U}) {
    const auto made = mkfs(*store, {.group_bytes = (8U << 20U) / groups, .journal_bytes = 0});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_GE(made->journal.fragments, journal_fragments_min(*made));
    EXPECT_TRUE(Fsck().check(*store)->nothing_found());
  }
}

TEST(Mkfs, WritesEqualReplicas) {
  const auto store = device(64 << 20);
  const auto made = mkfs(*store, {.group_bytes = 8 << 20});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->groups, 8U);
  const Geometry geometry(*made);
  for (std::uint32_t group = 0; group < made->groups; ++group) {
    std::vector<std::byte> bytes(kSuperblockBytes);
    ASSERT_TRUE(store->read(geometry.lba_of(geometry.replica(group)), bytes));
    const auto replica = decode_superblock(bytes, 64 << 20);
    ASSERT_TRUE(replica) << group;
    EXPECT_EQ(replica->total, made->total);
    bytes.resize(geometry.block_bytes());
    ASSERT_TRUE(store->read(geometry.lba_of(geometry.header(group)), bytes));
    EXPECT_EQ(CylinderGroup::problem_of(geometry, bytes, group), "");
  }
}

TEST(Mkfs, RejectsInvalidOptions) {
  const auto refused = [](std::uint64_t bytes, const MkfsOptions& options) {
    const auto store = device(bytes);
    const auto made = mkfs(*store, options);
    EXPECT_FALSE(made);
    return made ? std::string() : made.error().message();
  };
  for (const std::uint32_t bytes : {256U, 3072U, 16384U})
    EXPECT_NE(refused(64 << 20, {.block_bytes = bytes}).find("block-size"), std::string::npos)
        << bytes;
  EXPECT_NE(refused(64 << 20, {.fragment_bytes = 512}).find("fragment-size"), std::string::npos);
  EXPECT_NE(refused(64 << 20, {.group_bytes = 60 << 20}).find("group-size"), std::string::npos);
  EXPECT_NE(refused(64 << 20, {.bytes_per_inode = 0}).find("bytes-per-inode"), std::string::npos);
  EXPECT_NE(refused(64 << 20, {.group_bytes = 1}).find("no room for data"), std::string::npos);
  EXPECT_NE(refused(65536, {}).find("no room for data"), std::string::npos);
  EXPECT_NE(refused(512, {}), "");
  EXPECT_NE(refused(1 << 20, {.inodes_per_group = 32000}).find("inodes"), std::string::npos);
}

}  // namespace
}  // namespace headcrash::ufs
