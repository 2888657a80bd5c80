// Tests that a repair can be cut after any sector that it writes, and that a second repair then
// completes it.

#include <gtest/gtest.h>

#include <set>

#include "fs-adapters/ufs/fsck/fsck.h"
#include "fs-adapters/ufs/testing/stores.h"
#include "fs-adapters/ufs/testing/tree.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

/// Removes the name of "docs" and the first name of "twice", clears a pointer of "large", lets
/// another file claim the block of "small", removes lost+found, and clears a bit in a map.
void damage(TestTree& tree) {
  ImageWriter writer(*tree.store);
  const FragmentAddress root = writer.load(kRootInode).direct[0];
  auto bytes = writer.read(root, writer.geometry().fragment_bytes());
  for (const char* name : {"docs", "twice", "lost+found"})
    tree::remove_entry(bytes, tree::find_entry(bytes, name)->offset);
  writer.write(root, bytes);
  Inode large = writer.load(tree.large);
  large.direct[4] = 3;
  writer.save(tree.large, large);
  Inode second = writer.load(tree.long_link);
  second.direct[0] = writer.load(tree.small).direct[0];
  writer.save(tree.long_link, second);
  Inode links = writer.load(tree.twice);
  links.links = 9;
  writer.save(tree.twice, links);
  writer.in_group(0, [&](CylinderGroup& group) {
    group.free(large.direct[6] % writer.geometry().fragments_per_group(), 8);
    group.use(*group.find_block(0), 5);
    return true;
  });
}

std::set<InodeNumber> files(const model::SectorStore& store) {
  std::set<InodeNumber> found;
  const auto reader = ImageReader::open(store);
  EXPECT_TRUE(reader->walk([&](const ImageReader::Found& f) { found.insert(f.number); }));
  return found;
}

/// Returns true if the copies of the totals that FreeBSD uses equal the totals that ufs uses. The
/// latter are in the same sector as the clean flag.
bool totals_agree(const model::SectorStore& store) {
  constexpr std::size_t kOurs = 192, kOthers = 1008;
  std::vector<std::byte> bytes(kSuperblockBytes);
  EXPECT_TRUE(store.read(kSuperblockByte / kSectorBytes, bytes));
  for (std::size_t i = 0; i < 4; ++i)
    if (load32(bytes, kOurs + 4 * i) != load64(bytes, kOthers + 8 * i)) return false;
  return true;
}

TEST(FsckRestart, ARepairCanBeRestartedAfterACutAtAnyWrite) {
  const MkfsOptions small{.bytes_per_inode = 16384, .time = 1};
  const auto image = [&] { return TestTree(small, 1 << 20); };
  TestTree damaged = image();
  damage(damaged);
  ImageWriter(*damaged.store).as_after_a_cut();
  const auto start = damaged.bytes();
  ASSERT_TRUE(Fsck().run(*damaged.store, {.repair = true}));
  const auto expected = files(*damaged.store);
  EXPECT_TRUE(expected.contains(damaged.large));
  std::uint64_t cuts = 0;
  Fsck fsck;
  for (bool finished = false; !finished && cuts < 1000; ++cuts) {
    ASSERT_TRUE(damaged.store->write(0, start));
    CutStore cut(*damaged.store, cuts);
    finished = fsck.run(cut, {.repair = true}).has_value();
    const auto left = fsck.check(*damaged.store);
    ASSERT_TRUE(left) << "cut after " << cuts << ": " << left.error().message();
    ASSERT_TRUE(!left->was_clean || (left->nothing_found() && totals_agree(*damaged.store)))
        << "marked clean after a cut after " << cuts;
    const auto repaired = fsck.run(*damaged.store, {.repair = true});
    ASSERT_TRUE(repaired) << "cut after " << cuts << ": " << repaired.error().message();
    ASSERT_FALSE(repaired->unrepaired) << "cut after " << cuts;
    const auto after = fsck.check(*damaged.store);
    ASSERT_TRUE(after && after->nothing_found())
        << "cut after " << cuts << ": " << after->findings.front().text;
    ASSERT_EQ(files(*damaged.store), expected) << "cut after " << cuts;
  }
  EXPECT_GT(cuts, 30U);
}

/// The superblock is damaged, but its first sector still says "clean".
TEST(FsckRestart, ARestoredSuperblockIsMarkedCleanLast) {
  TestTree damaged({.bytes_per_inode = 16384, .time = 1}, 1 << 20);
  damage(damaged);
  std::vector<std::byte> bytes(kSuperblockBytes);
  ASSERT_TRUE(damaged.store->read(kSuperblockByte / kSectorBytes, bytes));
  constexpr std::size_t kMagicOffset = 1372;
  store32(bytes, kMagicOffset, 0);
  ASSERT_TRUE(damaged.store->write(kSuperblockByte / kSectorBytes, bytes));
  ASSERT_EQ(load8(bytes, kSuperblockCleanOffset), 1);
  const auto start = damaged.bytes();
  Fsck fsck;
  std::uint64_t cuts = 0;
  for (bool finished = false; !finished && cuts < 1000; ++cuts) {
    ASSERT_TRUE(damaged.store->write(0, start));
    CutStore cut(*damaged.store, cuts);
    finished = fsck.run(cut, {.repair = true}).has_value();
    const auto left = fsck.check(*damaged.store);
    ASSERT_TRUE(left) << left.error().message();
    ASSERT_TRUE(!left->was_clean || left->nothing_found())
        << "marked clean after a cut after " << cuts;
  }
  EXPECT_GT(cuts, 30U);
}

TEST(FsckRestart, DiscardsNoFilesIfLostFoundCannotBeUsed) {
  TestTree tree({.bytes_per_inode = 16384, .time = 1}, 1 << 20);
  damage(tree);
  ImageWriter(*tree.store).enter(kRootInode, "lost+found", tree.twice, kTypeRegular);
  const auto report = Fsck().run(*tree.store, {.repair = true});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->unrepaired);
  EXPECT_TRUE(report->has(FindingKind::no_room));
  const auto again = Fsck().check(*tree.store);
  for (const Finding& f : again->findings)
    EXPECT_EQ(severity_of(f.kind), Severity::residue) << name_of(f.kind) << " " << f.text;
  EXPECT_TRUE(again->has(FindingKind::unreferenced_directory));
  EXPECT_FALSE(again->was_clean);
}

/// The last write of the superblock was torn: its first sector says "clean", but the totals in a
/// later sector, which FreeBSD uses, are outdated.
TEST(FsckRestart, DoesNotConsiderATornSuperblockClean) {
  TestTree tree({.bytes_per_inode = 16384, .time = 1}, 1 << 20);
  Fsck fsck;
  ASSERT_TRUE(fsck.check(*tree.store)->was_clean);
  std::vector<std::byte> bytes(kSuperblockBytes);
  ASSERT_TRUE(tree.store->read(kSuperblockByte / kSectorBytes, bytes));
  constexpr std::size_t kOthers = 1008;
  store64(bytes, kOthers, load64(bytes, kOthers) + 1);
  ASSERT_TRUE(tree.store->write(kSuperblockByte / kSectorBytes, bytes));
  const auto report = fsck.check(*tree.store);
  EXPECT_FALSE(report->was_clean);
  EXPECT_TRUE(report->nothing_found());
  ASSERT_TRUE(fsck.run(*tree.store, {.repair = true}));
  EXPECT_TRUE(totals_agree(*tree.store));
  EXPECT_TRUE(fsck.check(*tree.store)->was_clean);
}

}  // namespace
}  // namespace headcrash::ufs
