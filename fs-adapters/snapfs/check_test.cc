// Tests each of the checker's findings with one edit to a sound image. The check must find the edit
// and its consequences, but nothing else.
#include <algorithm>
#include <set>

#include "fs-adapters/snapfs/testing/mounted.h"
#include "fs-adapters/substrate/tree/directory_block.h"
#include "plugin/base/little_endian.h"

namespace headcrash::snapfs {
namespace {

using bench::Disk;
using bench::Machine;
using namespace little_endian;

/// An image that contains d, d/below, d/large (20 blocks, the last one full), small, and link (a
/// second name of small).
class SnapfsCheck : public testing::Test {
 protected:
  SnapfsCheck() : disk_({.device_bytes = 512 << 10, .mkfs = {.block_bytes = 512, .id = 3}}) {
    Machine m(*disk_.store);
    m.mount();
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      EXPECT_TRUE(fs.mkdir("d", 0755));
      EXPECT_TRUE(fs.mkdir("d/below", 0755));
      bench::put_file(fs, "d/large", std::string(std::size_t{20} * 512, 'l'));
      bench::put_file(fs, "small", std::string(700, 's'));
      EXPECT_TRUE(fs.link("small", "link"));
    });
    m.unmount();
    bench::expect_clean(*disk_.store);
  }

  ImageReader reader() const { return *ImageReader::open(*disk_.store); }
  Inode inode(const char* path) const { return *reader().lookup(path); }
  void edit_sector(std::uint64_t byte, const std::function<void(std::span<std::byte>)>& edit) {
    std::vector<std::byte> sector(kSectorBytes);
    EXPECT_TRUE(disk_.store->read(byte / kSectorBytes, sector));
    edit(sector);
    EXPECT_TRUE(disk_.store->write(byte / kSectorBytes, sector));
  }
  /// In this test, a block has the size of a sector.
  void edit_block(BlockAddress address, const std::function<void(std::span<std::byte>)>& edit) {
    edit_sector(std::uint64_t{address} * 512, edit);
  }
  std::span<std::byte> record_of(std::span<std::byte> block, InodeNumber number) const {
    return block.subspan(
        std::size_t{number % reader().superblock().records_per_block()} * kInodeBytes, kInodeBytes);
  }
  void edit_inode(InodeNumber number, const std::function<void(Inode&)>& edit) {
    Inode changed = *reader().inode(number);
    edit(changed);
    edit_block(reader().record_block(number),
               [&](auto block) { encode(changed, record_of(block, number)); });
  }
  void edit_superblock(const std::function<void(Superblock&)>& edit) {
    Superblock s = reader().superblock();
    edit(s);
    EXPECT_TRUE(disk_.store->write(slot_lba(s.generation), encode(s)));
  }
  void flip_bit(BlockAddress map, std::uint32_t bit) {
    edit_block(map, [&](auto block) { block[bit / 8] ^= std::byte{1} << (bit % 8); });
  }
  void edit_entry(const char* directory, std::string_view name,
                  const std::function<void(std::span<std::byte>)>& edit) {
    edit_block(inode(directory).pointers[0], [&](std::span<std::byte> block) {
      tree::DirectoryCursor cursor(block);
      while (const auto entry = cursor.next())
        if (entry->name == name) return edit(block.subspan(entry->offset, entry->length));
      FAIL() << "no entry " << name;
    });
  }
  void lead_to(const char* directory, std::string_view name, InodeNumber number,
               std::optional<std::uint8_t> type = {}) {
    edit_entry(directory, name, [&](auto entry) {
      store32(entry, tree::kEntryInodeOffset, number);
      if (type) entry[tree::kEntryTypeOffset] = std::byte{*type};
    });
  }
  void expect(FindingKind kind, std::string_view text, const std::set<FindingKind>& follow = {}) {
    const auto report = check(*disk_.store);
    ASSERT_TRUE(report) << report.error().message();
    bool found = false;
    for (const Finding& one : report->findings) {
      found = found || (one.kind == kind && one.text.find(text) != std::string::npos);
      EXPECT_TRUE(one.kind == kind || follow.contains(one.kind)) << report->text();
    }
    EXPECT_TRUE(found) << report->text();
  }

  Disk disk_;
};

TEST_F(SnapfsCheck, ReportsATreeWithAnInvalidAddress) {
  edit_block(reader().superblock().record_map, [](auto block) { store32(block, 40, 70'000); });
  expect(FindingKind::tree, "invalid block address 70000");
}
TEST_F(SnapfsCheck, ReportsATreeThatExtendsBeyondItsLeaves) {
  edit_block(reader().superblock().record_map, [](auto block) { store32(block, 508, 50); });
  expect(FindingKind::tree, "beyond the end of the tree");
}
TEST_F(SnapfsCheck, ReportsABitBeyondTheEndOfAMap) {
  const Superblock s = reader().superblock();
  flip_bit(s.block_map, s.blocks);
  expect(FindingKind::tree, "a bit set beyond the end of the map");
}

TEST_F(SnapfsCheck, ReportsARecordWithABadChecksum) {
  const InodeNumber number = inode("small").number;
  edit_block(reader().record_block(number),
             [&](auto block) { record_of(block, number)[8] ^= std::byte{1}; });
  expect(FindingKind::inode, "bad checksum",
         {FindingKind::name, FindingKind::leaked_inode, FindingKind::leaked_block});
}
TEST_F(SnapfsCheck, ReportsARecordWithAnInvalidNumber) {
  edit_block(reader().record_block(1), [&](auto block) {
    Inode other = inode("small");
    other.number = 1;
    other.pointers = {};
    encode(other, record_of(block, 1));
  });
  expect(FindingKind::inode, "inode 1 does not exist");
}
TEST_F(SnapfsCheck, ReportsAMissingRootDirectory) {
  edit_inode(kRootInode, [&](Inode& root) { root.mode = inode("small").mode; });
  expect(FindingKind::inode, "there is no root directory", {FindingKind::unreachable});
}

TEST_F(SnapfsCheck, ReportsAnInvalidPointer) {
  edit_inode(inode("small").number, [](Inode& one) { one.pointers[0] = 70'000; });
  expect(FindingKind::pointer, "invalid block address 70000", {FindingKind::leaked_block});
}
TEST_F(SnapfsCheck, ReportsAnInvalidPointerInAnAddressBlock) {
  edit_block(inode("d/large").pointers[kDirectPointers],
             [](auto block) { store32(block, 8, 70'000); });
  expect(FindingKind::pointer, "invalid block address 70000", {FindingKind::leaked_block});
}
/// A block is invalid if its first byte is past the end of the device.
TEST_F(SnapfsCheck, LimitsBlocksToTheDeviceSize) {
  Inode large = inode("d/large");
  const BlockAddress itself = large.pointers[0];
  edit_block(itself, [&](auto block) {
    for (std::size_t at = 0; at < block.size(); at += 4) store32(block, at, itself);
  });
  large.pointers.back() = itself;
  std::uint64_t visited = 0;
  EXPECT_FALSE(reader().each_block(large, [&](const ImageReader::Block&) {
    ++visited;
    return true;
  }));
  EXPECT_LE(visited, reader().superblock().blocks) << "its address blocks refer to themselves";
}

TEST_F(SnapfsCheck, ReportsABlockBeyondTheEnd) {
  edit_inode(inode("d/large").number, [](Inode& one) { one.size_bytes -= 512; });
  expect(FindingKind::pointer, "block 19 is beyond the end of the file");
}
TEST_F(SnapfsCheck, ReportsAWrongBlockCount) {
  edit_inode(inode("d/large").number, [](Inode& one) { ++one.blocks; });
  expect(FindingKind::pointer, "uses 21 blocks, but its block count is 22");
}

TEST_F(SnapfsCheck, ReportsABlockOfTwoFiles) {
  const BlockAddress other = inode("d/large").pointers[3];
  edit_inode(inode("small").number, [&](Inode& one) { one.pointers[1] = other; });
  expect(FindingKind::doubly_used, "block " + std::to_string(other), {FindingKind::leaked_block});
}
TEST_F(SnapfsCheck, ReportsABlockOfBothAFileAndAMap) {
  const BlockAddress map = reader().superblock().inode_map;
  edit_inode(inode("small").number, [&](Inode& one) { one.pointers[1] = map; });
  expect(FindingKind::doubly_used, "block " + std::to_string(map), {FindingKind::leaked_block});
}
TEST_F(SnapfsCheck, ReportsAnAddressBlockThatIsAlsoAFileBlock) {
  const BlockAddress other = inode("small").pointers[0];
  edit_inode(inode("d/large").number, [&](Inode& one) { one.pointers[kDirectPointers] = other; });
  expect(FindingKind::doubly_used, "block " + std::to_string(other),
         {FindingKind::leaked_block, FindingKind::pointer});
}

TEST_F(SnapfsCheck, ReportsAUsedBlockMarkedFree) {
  flip_bit(reader().superblock().block_map, inode("small").pointers[1]);
  expect(FindingKind::marked_free, "is in use", {FindingKind::totals});
}
TEST_F(SnapfsCheck, ReportsAUsedInodeMarkedFree) {
  flip_bit(reader().superblock().inode_map, inode("small").number);
  expect(FindingKind::marked_free, "inode", {FindingKind::totals});
}
TEST_F(SnapfsCheck, ReportsALeakedBlock) {
  flip_bit(reader().superblock().block_map, reader().superblock().blocks - 5);
  expect(FindingKind::leaked_block, "block", {FindingKind::totals});
}
TEST_F(SnapfsCheck, ReportsALeakedInodeNumber) {
  flip_bit(reader().superblock().inode_map, reader().superblock().inodes - 5);
  expect(FindingKind::leaked_inode, "inode", {FindingKind::totals});
}

TEST_F(SnapfsCheck, ReportsADanglingName) {
  lead_to("", "link", reader().superblock().inodes - 5);
  expect(FindingKind::name, "which does not exist", {FindingKind::links});
}
TEST_F(SnapfsCheck, ReportsANameWithTheWrongType) {
  lead_to("", "link", inode("small").number, tree::entry_type(inode("d").mode));
  expect(FindingKind::name, "has the wrong type");
}
TEST_F(SnapfsCheck, ReportsADirectoryWithTwoNames) {
  lead_to("", "link", inode("d/below").number, tree::entry_type(inode("d").mode));
  expect(FindingKind::name, "is the second name of a directory", {FindingKind::links});
}
TEST_F(SnapfsCheck, ReportsADirectoryWithAWrongDotEntry) {
  lead_to("d", ".", inode("d/below").number);
  expect(FindingKind::name, "its \".\" or \"..\"");
}
TEST_F(SnapfsCheck, ReportsADirectoryWithAWrongParent) {
  lead_to("d/below", "..", kRootInode);
  expect(FindingKind::name, "its \".\" or \"..\"");
}
TEST_F(SnapfsCheck, ReportsAnInvalidDirectoryChunk) {
  edit_block(inode("d/below").pointers[0], [](auto block) { store16(block, 4, 7); });
  expect(FindingKind::name, "block at 0", {FindingKind::links});
}

TEST_F(SnapfsCheck, ReportsAWrongLinkCount) {
  edit_inode(inode("small").number, [](Inode& one) { one.links = 3; });
  expect(FindingKind::links, "has 2 links, but its link count is 3");
}
TEST_F(SnapfsCheck, ReportsAnUnreachableInodeWithALink) {
  edit_entry("d", "large", [](auto entry) { store32(entry, tree::kEntryInodeOffset, 0); });
  expect(FindingKind::unreachable, "its link count is 1");
}
/// An inode without a name is permitted if the superblock counts it as unlinked, because the file
/// may still be open. Here, the superblock does not count the inode.
TEST_F(SnapfsCheck, ReportsAnUnlinkedInodeThatTheSuperblockDoesNotCount) {
  edit_entry("d", "large", [](auto entry) { store32(entry, tree::kEntryInodeOffset, 0); });
  for (InodeNumber number = kRootInode; number < reader().superblock().inodes; ++number) {
    const auto one = *reader().record(number);
    if (one && one->size_bytes == 20 * 512)
      edit_inode(number, [](Inode& large) { large.links = 0; });
  }
  expect(FindingKind::totals, "1 inodes without a name, but the superblock claims 0");
  edit_superblock([](Superblock& s) { s.unlinked = 1; });
  EXPECT_TRUE(check(*disk_.store)->nothing_found());
}

TEST_F(SnapfsCheck, ReportsASuperblockWithWrongCounts) {
  edit_superblock([](Superblock& s) { ++s.free_blocks; });
  expect(FindingKind::totals, "free blocks");
  edit_superblock([](Superblock& s) {
    --s.free_blocks;
    ++s.free_inodes;
  });
  expect(FindingKind::totals, "free inodes");
}

TEST_F(SnapfsCheck, CountsFindingsBeyondTheLimit) {
  for (std::uint32_t i = 5; i < 10; ++i)
    flip_bit(reader().superblock().inode_map, reader().superblock().inodes - i);
  const auto report = check(*disk_.store, 2);
  EXPECT_EQ(report->findings.size(), 2U);
  EXPECT_EQ(report->more_findings, 4U) << "three inodes and the superblock's count";
  EXPECT_FALSE(check(*disk_.store, 0)->nothing_found());
}

}  // namespace
}  // namespace headcrash::snapfs
