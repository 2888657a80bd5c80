#include "fs-adapters/ufs/format/image_reader.h"

#include <gtest/gtest.h>

#include <map>

#include "fs-adapters/ufs/format/mkfs_settings.h"
#include "fs-adapters/ufs/lab_disks.h"
#include "fs-adapters/ufs/testing/tree.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
namespace {

std::string content(const ImageReader& reader, InodeNumber number, std::uint64_t offset,
                    std::size_t size) {
  std::string text(size, '?');
  const auto count = reader.read(number, offset, std::as_writable_bytes(std::span(text)));
  EXPECT_TRUE(count) << count.error().message();
  text.resize(count ? *count : 0);
  return text;
}

TEST(ImageReader, ReadsWrittenFiles) {
  for (const std::uint32_t block : {4096U, 8192U}) {
    const TestTree tree(
        {.block_bytes = block, .fragment_bytes = block / 8, .bytes_per_inode = 4096});
    const auto reader = ImageReader::open(*tree.store);
    ASSERT_TRUE(reader) << reader.error().message();
    EXPECT_EQ(*reader->lookup("docs/deep/large"), tree.large);
    EXPECT_EQ(*reader->lookup("/docs/deep/again"), tree.twice);
    EXPECT_FALSE(reader->lookup("docs/none"));
    EXPECT_EQ(content(*reader, tree.large, 0, 1 << 20), TestTree::large_content());
    EXPECT_EQ(content(*reader, tree.large, 99'000, 3000),
              TestTree::large_content().substr(99'000, 3000));
    EXPECT_EQ(*reader->readlink(tree.short_link), "docs/small");
    EXPECT_EQ(*reader->readlink(tree.long_link), std::string(200, 'l'));
    const std::uint64_t far = reader->geometry().blocks_within(2) * block;
    EXPECT_EQ(content(*reader, tree.holes, far - 2, 9), std::string(2, '\0') + "far out");
    EXPECT_EQ(reader->inode(tree.twice)->links, 2U);
  }
}

TEST(ImageReader, WalksEachNameOnce) {
  const TestTree tree;
  std::map<std::string, InodeNumber> found;
  const auto reader = ImageReader::open(*tree.store);
  ASSERT_TRUE(reader->walk([&](const ImageReader::Found& f) { found[f.path] = f.number; }));
  EXPECT_EQ(found.size(), 8U + 2 + 40);
  EXPECT_EQ(found.at("docs/deep/file-39"), *reader->lookup("docs/deep/file-39"));
}

TEST(ImageReader, LimitsBlocksToTheDeviceSize) {
  const auto disk = lab_disk("deep", {});
  const auto options = mkfs_options_of(disk->mkfs);
  ASSERT_TRUE(options) << options.error().message();
  const auto store = *media::MemoryStore::create(disk->bytes / kSectorBytes);
  ASSERT_TRUE(mkfs(*store, *options));
  ImageWriter writer(*store);
  Inode inode = writer.load(writer.file(kRootInode, "file", std::string(300, 'f')));
  const auto reader = ImageReader::open(*store);
  ASSERT_TRUE(reader);
  std::vector<std::byte> block(reader->geometry().block_bytes());
  for (std::size_t at = 0; at < block.size(); at += 4)
    little_endian::store32(block, at, inode.direct[0]);
  ASSERT_TRUE(store->write(reader->geometry().lba_of(inode.direct[0]), block));
  inode.indirect[2] = inode.direct[0];
  inode.size_bytes = std::uint64_t{1} << 28;
  EXPECT_FALSE(reader->blocks(inode, 1 << 18)) << "its blocks lead to themselves";
}

TEST(ImageReader, ErrorsNameTheDamagedInode) {
  const auto problem = [](auto change) {
    const TestTree tree;
    ImageWriter writer(*tree.store);
    change(writer, tree);
    const auto reader = ImageReader::open(*tree.store);
    std::string text(200'000, '?');
    const auto read = reader->read(tree.large, 0, std::as_writable_bytes(std::span(text)));
    if (!read) return read.error().message();
    const auto walked = reader->walk([](const ImageReader::Found&) {});
    return walked ? std::string() : walked.error().message();
  };
  EXPECT_EQ(problem([](ImageWriter&, const TestTree&) {}), "");
  EXPECT_EQ(
      problem([](ImageWriter& w, const TestTree& t) {
        Inode inode = w.load(t.large);
        inode.direct[3] = 0x7fffffff;
        w.save(t.large, inode);
      }),
      fmt::format("inode {}: block 3 is at fragment 2147483647, outside of the data area; run fsck",
                  TestTree().large));
  EXPECT_NE(problem([](ImageWriter& w, const TestTree& t) {
              Inode inode = w.load(t.deep);
              inode.size_bytes = 1ULL << 50U;
              w.save(t.deep, inode);
            }),
            "");
  EXPECT_NE(problem([](ImageWriter& w, const TestTree& t) {
              w.enter(t.deep, "ring", t.docs, kTypeDirectory);
            }),
            "");
  EXPECT_NE(problem([](ImageWriter& w, const TestTree& t) {
              w.enter(t.deep, "gone", 1000, kTypeRegular);
            }),
            "");
}

}  // namespace
}  // namespace headcrash::ufs
