#include "fs-adapters/ufs/fsck/fsck.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "fs-adapters/substrate/tree/exchange_name.h"
#include "fs-adapters/ufs/testing/tree.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

using enum FindingKind;

std::string describe(const FsckReport& report) {
  std::string lines;
  for (const Finding& finding : report.findings)
    lines += fmt::format("{}: {}\n", name_of(finding.kind), finding.text);
  return lines;
}

std::set<FindingKind> kinds(const FsckReport& report) {
  std::set<FindingKind> set;
  for (const Finding& finding : report.findings) set.insert(finding.kind);
  return set;
}

/// Returns the kinds of findings, except for wrong counts, which are a consequence of wrong maps.
std::set<FindingKind> but_totals(const FsckReport& report) {
  auto set = kinds(report);
  set.erase(totals);
  return set;
}

std::vector<std::string> paths(const model::SectorStore& store) {
  std::vector<std::string> found;
  const auto reader = ImageReader::open(store);
  EXPECT_TRUE(reader) << reader.error().message();
  const auto walked = reader->walk([&](const ImageReader::Found& f) { found.push_back(f.path); });
  EXPECT_TRUE(walked) << walked.error().message();
  std::sort(found.begin(), found.end());
  return found;
}

TEST(Fsck, FindsNothingInConsistentFileSystems) {
  Fsck fsck;
  for (const std::uint32_t block : {4096U, 8192U})
    for (std::uint32_t fragment = block / 8; fragment <= block; fragment *= 2) {
      const TestTree tree(
          {.block_bytes = block, .fragment_bytes = fragment, .bytes_per_inode = 4096});
      const auto report = fsck.check(*tree.store);
      ASSERT_TRUE(report) << report.error().message();
      EXPECT_TRUE(report->nothing_found()) << block << " " << fragment << "\n" << describe(*report);
      EXPECT_TRUE(report->was_clean);
      EXPECT_EQ(report->directories, 4U);
      EXPECT_EQ(report->files, 46U);
    }
}

using Damage = std::function<void(ImageWriter&, TestTree&)>;

/// Expects that a check finds the damage without writing anything, that a repair removes it, and
/// that there are no other findings. All names except `gone` must remain.
void expect_repaired(const Damage& damage, const std::set<FindingKind>& expected,
                     const std::vector<std::string>& gone = {}) {
  TestTree tree;
  const auto before_paths = paths(*tree.store);
  ImageWriter writer(*tree.store);
  damage(writer, tree);
  const auto before = tree.bytes();
  Fsck fsck;
  const auto checked = fsck.check(*tree.store);
  ASSERT_TRUE(checked) << checked.error().message();
  for (const FindingKind kind : expected)
    EXPECT_TRUE(checked->has(kind)) << name_of(kind) << "\n" << describe(*checked);
  EXPECT_EQ(but_totals(*checked), expected) << describe(*checked);
  EXPECT_TRUE(tree.bytes() == before) << "a check writes nothing";
  const auto repaired = fsck.run(*tree.store, {.repair = true});
  ASSERT_TRUE(repaired) << repaired.error().message();
  EXPECT_FALSE(repaired->unrepaired) << describe(*repaired);
  const auto after = fsck.check(*tree.store);
  ASSERT_TRUE(after) << after.error().message();
  EXPECT_TRUE(after->nothing_found()) << describe(*after) << "after\n" << describe(*repaired);
  EXPECT_TRUE(after->was_clean);
  const auto left = paths(*tree.store);
  for (const std::string& path : before_paths) {
    const bool expected_gone = std::any_of(
        gone.begin(), gone.end(), [&](const std::string& g) { return path.starts_with(g); });
    EXPECT_TRUE(expected_gone || std::binary_search(left.begin(), left.end(), path)) << path;
  }
}

void edit(ImageWriter& w, InodeNumber number, const std::function<void(Inode&)>& change) {
  Inode inode = w.load(number);
  change(inode);
  w.save(number, inode);
}
void edit_block(ImageWriter& w, FragmentAddress at,
                const std::function<void(std::span<std::byte>)>& change) {
  auto bytes = w.read(at, 1024);
  change(bytes);
  w.write(at, bytes);
}
std::uint32_t offset_of(std::span<std::byte> block, std::string_view name) {
  return tree::find_entry(block, name)->offset;
}

TEST(Fsck, RepairsWrongLinkCounts) {
  expect_repaired([](auto& w, auto& t) { edit(w, t.small, [](Inode& i) { i.links = 3; }); },
                  {links_too_high});
  expect_repaired([](auto& w, auto& t) { edit(w, t.twice, [](Inode& i) { i.links = 1; }); },
                  {links_too_low});
  expect_repaired([](auto& w, auto& t) { edit(w, t.docs, [](Inode& i) { i.links = 7; }); },
                  {links_too_high});
}

TEST(Fsck, RatesLeaksAsResidueAndUsedSpaceMarkedFreeAsDamage) {
  EXPECT_EQ(severity_of(leaked_blocks), Severity::residue);
  EXPECT_EQ(severity_of(block_marked_free), Severity::damage);
  const auto in_map = [](auto change) {
    return [change](ImageWriter& w, TestTree& t) {
      w.in_group(0, [&](CylinderGroup& g) {
        change(g, w, t);
        return true;
      });
    };
  };
  expect_repaired(in_map([](auto& g, auto&, auto&) { g.use(*g.find_block(0), 3); }),
                  {leaked_blocks});
  expect_repaired(in_map([](auto& g, auto& w, auto& t) { g.free(w.load(t.large).direct[0], 8); }),
                  {block_marked_free});
  expect_repaired(in_map([](auto& g, auto&, auto&) { g.use_inode(*g.find_inode(0), false); }),
                  {leaked_inode});
  expect_repaired(in_map([](auto& g, auto&, auto& t) { g.free_inode(t.small, false); }),
                  {inode_marked_free});
  expect_repaired(in_map([](auto& g, auto&, auto&) { g.set_totals({}); }), {group_totals});
}

TEST(Fsck, MovesFilesWithoutNamesToLostFound) {
  const auto unname = [](const char* name, auto directory) {
    return [=](ImageWriter& w, TestTree& t) {
      edit_block(w, w.load(t.*directory).direct[0],
                 [&](auto bytes) { tree::remove_entry(bytes, offset_of(bytes, name)); });
    };
  };
  expect_repaired(unname("small", &TestTree::docs), {unreferenced_file}, {"docs/small"});
  expect_repaired(unname("deep", &TestTree::docs), {unreferenced_directory, links_too_high},
                  {"docs/deep"});
  TestTree tree;
  ImageWriter writer(*tree.store);
  unname("deep", &TestTree::docs)(writer, tree);
  ASSERT_TRUE(Fsck().run(*tree.store, {.repair = true}));
  const auto reader = ImageReader::open(*tree.store);
  EXPECT_EQ(*reader->lookup(fmt::format("lost+found/#{:07}/large", tree.deep)), tree.large);
}

TEST(Fsck, FreesFilesThatWereOpenButUnlinked) {
  TestTree tree;
  ImageWriter writer(*tree.store);
  edit_block(writer, writer.load(tree.docs).direct[0],
             [](auto b) { tree::remove_entry(b, offset_of(b, "small")); });
  edit(writer, tree.small, [](Inode& i) { i.links = 0; });
  ASSERT_TRUE(Fsck().run(*tree.store, {.repair = true}));
  EXPECT_FALSE(writer.load(tree.small).allocated());
  EXPECT_TRUE(ImageReader::open(*tree.store)->list(kLostFoundInode)->empty());
  EXPECT_TRUE(Fsck().check(*tree.store)->nothing_found());
}

TEST(Fsck, RemovesDanglingNames) {
  expect_repaired([](auto& w, auto& t) { w.enter(t.docs, "gone", 500, kTypeRegular); },
                  {dangling_entry});
  expect_repaired([](auto& w, auto& t) { w.enter(t.docs, "far", 0x7fffffff, kTypeRegular); },
                  {bad_entry});
  expect_repaired([](auto& w, auto& t) { w.enter(t.docs, "root", kRootInode, kTypeDirectory); },
                  {directory_second_name});
  expect_repaired([](auto& w, auto& t) { w.enter(kRootInode, "deep too", t.deep, kTypeDirectory); },
                  {directory_second_name});
  expect_repaired(
      [](auto& w, auto& t) {
        edit_block(w, w.load(t.docs).direct[0],
                   [](auto b) { b[offset_of(b, "small") + 6] = std::byte{4}; });
      },
      {bad_entry});
}

TEST(Fsck, ADirectoryWithTwoNamesKeepsTheNameThatMatchesDotDot) {
  TestTree tree;
  ImageWriter writer(*tree.store);
  writer.enter(kRootInode, "moved", tree.deep, kTypeDirectory);
  edit_block(writer, writer.load(tree.deep).direct[0],
             [](auto b) { tree::set_entry_inode(b, 12, kRootInode); });
  edit(writer, kRootInode, [](Inode& i) { ++i.links; });
  const auto report = Fsck().run(*tree.store, {.repair = true});
  EXPECT_EQ(kinds(*report), (std::set{directory_second_name, links_too_high})) << describe(*report);
  const auto reader = ImageReader::open(*tree.store);
  EXPECT_TRUE(reader->lookup("moved/large"));
  EXPECT_FALSE(reader->lookup("docs/deep"));
  EXPECT_TRUE(Fsck().check(*tree.store)->nothing_found());
}

TEST(Fsck, RemovesTheThirdNameOfAnInterruptedExchange) {
  TestTree tree;
  ImageWriter writer(*tree.store);
  const InodeNumber low = writer.directory(tree.deep, "zed") + 1;
  // This temporary name precedes the real name in the directory.
  writer.enter(tree.deep, tree::exchange_name(low, 0), low, kTypeDirectory);
  ASSERT_EQ(writer.directory(tree.deep, "the-lower-directory"), low);
  writer.enter(tree.docs, tree::exchange_name(tree.deep, 3), tree.deep,
               kTypeDirectory);  // the directory's real name precedes this name
  writer.link(kRootInode, tree::exchange_name(tree.twice, 0), tree.twice);
  writer.link(kRootInode, tree::exchange_name(tree.large, 0),
              tree.twice);  // invalid: the name contains the inode number of `large`
  edit_block(writer, writer.load(tree.docs).direct[0],
             [](auto b) { tree::remove_entry(b, offset_of(b, "small")); });
  writer.enter(tree.docs, tree::exchange_name(tree.small, 0), tree.small,
               kTypeRegular);  // the inode has no other name
  const auto checked = Fsck().check(*tree.store);
  EXPECT_TRUE(checked->has(interrupted_exchange)) << describe(*checked);
  const auto report = Fsck().run(*tree.store, {.repair = true});
  EXPECT_EQ(but_totals(*report),
            (std::set{interrupted_exchange, directory_second_name, links_too_high}))
      << describe(*report);
  const auto left = paths(*tree.store);
  const auto is_there = [&](const std::string& path) {
    return std::ranges::count(left, path) == 1;
  };
  EXPECT_TRUE(is_there("docs/deep/the-lower-directory"));
  EXPECT_TRUE(is_there("docs/deep/again"));
  EXPECT_TRUE(is_there("twice"));
  EXPECT_TRUE(is_there(tree::exchange_name(tree.large, 0)));
  EXPECT_TRUE(is_there("docs/" + tree::exchange_name(tree.small, 0)));
  EXPECT_FALSE(is_there(tree::exchange_name(tree.twice, 0)));
  EXPECT_FALSE(is_there("docs/" + tree::exchange_name(tree.deep, 3)));
  EXPECT_FALSE(is_there("docs/deep/" + tree::exchange_name(low, 0)));
  EXPECT_TRUE(Fsck().check(*tree.store)->nothing_found()) << describe(*Fsck().check(*tree.store));
}

TEST(Fsck, KeepsTheThirdNameIfAnotherNameIsInALostDirectory) {
  TestTree tree;
  ImageWriter writer(*tree.store);
  writer.enter(tree.deep, "old", tree.small, kTypeRegular);
  edit_block(writer, writer.load(tree.docs).direct[0], [](auto b) {
    tree::remove_entry(b, offset_of(b, "small"));
    tree::remove_entry(b, offset_of(b, "deep"));
  });
  const std::string third = tree::exchange_name(tree.small, 0);
  writer.link(kRootInode, third, tree.small);
  const auto report = Fsck().run(*tree.store, {.repair = true});
  EXPECT_TRUE(report->has(unreferenced_directory)) << describe(*report);
  EXPECT_FALSE(report->has(interrupted_exchange)) << describe(*report);
  EXPECT_EQ(std::ranges::count(paths(*tree.store), third), 1);
  EXPECT_TRUE(Fsck().check(*tree.store)->nothing_found()) << describe(*Fsck().check(*tree.store));
}

TEST(Fsck, BreaksCyclesOfDirectories) {
  TestTree tree;
  ImageWriter writer(*tree.store);
  const InodeNumber low = writer.directory(tree.deep, "low");
  edit_block(writer, writer.load(tree.docs).direct[0],
             [](auto b) { tree::remove_entry(b, offset_of(b, "deep")); });
  writer.enter(low, "up", tree.deep, kTypeDirectory);
  const auto report = Fsck().run(*tree.store, {.repair = true});
  EXPECT_TRUE(report->has(unreferenced_directory)) << describe(*report);
  EXPECT_FALSE(report->unrepaired);
  EXPECT_TRUE(Fsck().check(*tree.store)->nothing_found()) << describe(*Fsck().check(*tree.store));
  EXPECT_TRUE(
      ImageReader::open(*tree.store)->lookup(fmt::format("lost+found/#{:07}/low", tree.deep)));
}

TEST(Fsck, RepairsDotEntriesAndDirectoryChunks) {
  const auto in_deep = [](auto change) {
    return
        [change](ImageWriter& w, TestTree& t) { edit_block(w, w.load(t.deep).direct[0], change); };
  };
  expect_repaired(in_deep([](auto b) { tree::set_entry_inode(b, 0, 77); }), {bad_dot});
  expect_repaired(in_deep([](auto b) { tree::set_entry_inode(b, 12, 3); }), {dot_dot_elsewhere});
  expect_repaired(in_deep([](auto b) { b[8] = std::byte{'x'}; }), {bad_dot});
  // The only entry after the damage is the last one in the first chunk.
  expect_repaired(in_deep([](auto b) { store16(b, offset_of(b, "file-0") + 4, 7); }),
                  {bad_chunk, unreferenced_file}, {"docs/deep/file-"});
  expect_repaired([](auto& w, auto& t) { edit(w, t.deep, [](Inode& i) { i.size_bytes -= 12; }); },
                  {bad_size});
}

TEST(Fsck, RepairsInvalidInodes) {
  expect_repaired([](auto& w, auto& t) { edit(w, t.small, [](Inode& i) { i.mode = 0170000; }); },
                  {bad_mode, dangling_entry, leaked_inode, leaked_blocks}, {"docs/small"});
  expect_repaired([](auto& w, auto&) { edit(w, 400, [](Inode& i) { i.direct[2] = 5; }); },
                  {partly_allocated});
  expect_repaired(
      [](auto& w, auto& t) { edit(w, t.small, [](Inode& i) { i.size_bytes = ~0ULL; }); },
      {bad_size, dangling_entry, leaked_inode, leaked_blocks}, {"docs/small"});
  expect_repaired([](auto& w, auto& t) { edit(w, t.small, [](Inode& i) { i.sectors = 99; }); },
                  {bad_sectors});
  expect_repaired(
      [](auto& w, auto& t) { edit(w, t.small, [](Inode& i) { i.direct[5] = i.direct[0]; }); },
      {blocks_behind_end});
  expect_repaired([](auto& w, auto& t) { edit(w, t.large, [](Inode& i) { i.direct[5] = 1; }); },
                  {bad_pointer, bad_sectors, leaked_blocks});
  expect_repaired(
      [](auto& w, auto& t) { edit(w, t.large, [](Inode& i) { i.indirect[0] = 0xfffffff0U; }); },
      {bad_pointer, bad_sectors, leaked_blocks});
  expect_repaired([](auto& w, auto& t) { edit(w, t.deep, [](Inode& i) { i.direct[0] = 0; }); },
                  {directory_hole, bad_sectors, dangling_entry, leaked_blocks, leaked_inode,
                   unreferenced_file, links_too_high},
                  {"docs/deep"});
}

TEST(Fsck, TruncatesADirectoryAtAHole) {
  // A repair truncates the directory at the hole. By then, the check has claimed the blocks after
  // the hole for the directory, so the truncation leaves them without an owner.
  const auto with_a_hole = [](auto& w, auto& t) {
    for (int i = 0; i < 100; ++i) w.link(t.docs, fmt::format("{:0200}", i), t.small);
    EXPECT_NE(w.load(t.docs).direct[2], 0U);
    edit(w, t.docs, [](Inode& i) { i.direct[1] = 0; });
    w.finish();
  };
  expect_repaired(with_a_hole, {directory_hole, bad_sectors, leaked_blocks, links_too_high});
}

TEST(Fsck, ABlockOfTwoFilesStaysWithTheLastChangedFile) {
  TestTree tree;
  ImageWriter writer(*tree.store);
  edit(writer, tree.large, [](Inode& i) { i.changed.seconds = 100; });
  const FragmentAddress shared = writer.load(tree.large).direct[0];
  edit(writer, tree.twice, [&](Inode& i) { i.direct[0] = shared; });
  const auto checked = Fsck().check(*tree.store);
  EXPECT_EQ(but_totals(*checked), (std::set{duplicate_block, leaked_blocks})) << describe(*checked);
  ASSERT_TRUE(Fsck().run(*tree.store, {.repair = true}));
  EXPECT_EQ(writer.load(tree.large).direct[0], shared);
  EXPECT_EQ(writer.load(tree.twice).direct[0], 0U);
  EXPECT_TRUE(Fsck().check(*tree.store)->nothing_found());
}

TEST(Fsck, ApparentPointersInAnotherFilesDataAreNotCleared) {
  TestTree tree;
  ImageWriter writer(*tree.store);
  ASSERT_LT(tree.small, tree.large) << "small is visited first";
  edit(writer, tree.large, [](Inode& i) { i.changed.seconds = 100; });
  const FragmentAddress shared = writer.load(tree.large).direct[1];
  const auto before = writer.read(shared, writer.geometry().block_bytes());
  edit(writer, tree.small, [&](Inode& i) {
    i.size_bytes = 14UL * writer.geometry().block_bytes();
    i.indirect[0] = shared;
  });
  ASSERT_TRUE(Fsck().run(*tree.store, {.repair = true}));
  EXPECT_EQ(writer.load(tree.small).indirect[0], 0U);
  EXPECT_TRUE(writer.read(shared, before.size()) == before)
      << "text without a word that is an address";
  EXPECT_TRUE(Fsck().check(*tree.store)->nothing_found());
}

TEST(Fsck, ReadsASharedIndirectBlockOnce) {
  TestTree tree;
  ImageWriter writer(*tree.store);
  // Every pointer in an indirect block refers to the block itself. With three levels of
  // indirection, there are 2048^3 paths.
  const FragmentAddress at = writer.load(tree.large).direct[1];
  std::vector<std::byte> bytes(writer.geometry().block_bytes());
  for (std::size_t i = 0; i < bytes.size(); i += 4) store32(bytes, i, at);
  writer.write(at, bytes);
  edit(writer, tree.twice,
       [&](Inode& i) { i.indirect = {at, at, at}, i.size_bytes = 1ULL << 44U; });
  const auto report = Fsck().run(*tree.store, {.repair = true});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->has(duplicate_block));
  EXPECT_TRUE(Fsck().check(*tree.store)->nothing_found()) << describe(*Fsck().check(*tree.store));
}

TEST(Fsck, RebuildsTheSuperblockFromReplicasAndRebuildsGroups) {
  expect_repaired([](auto& w, auto&) { w.write(8, std::vector<std::byte>(8192, std::byte{0x55})); },
                  {bad_superblock});
  expect_repaired(
      [](auto& w, auto&) {
        w.write(w.geometry().header(1), std::vector<std::byte>(8192, std::byte{0x55}));
      },
      {bad_group});
  TestTree tree;
  const auto none = Fsck().check(*std::move(*media::MemoryStore::create(8192)));
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("no UFS1 superblock"), std::string::npos);
}

TEST(Fsck, FindsReplicasOfAVolumeWithSmallBlocks) {
  const auto store = std::move(*media::MemoryStore::create(600));
  const auto made = mkfs(*store, {.block_bytes = 512,
                                  .fragment_bytes = 512,
                                  .inodes_per_group = 32,
                                  .group_bytes = 150 * 512,
                                  .reserve_percent = 0});
  ASSERT_TRUE(made) << made.error().message();
  const Geometry geometry(*made);
  ASSERT_NE(geometry.byte_of(geometry.replica(1)) % 4096, 0U);
  const std::vector<std::byte> noise(kSuperblockBytes, std::byte{0x55});
  ASSERT_TRUE(store->write(kSuperblockByte / kSectorBytes, noise));
  ASSERT_TRUE(store->write(geometry.lba_of(geometry.replica(0)), noise));
  const auto report = Fsck().run(*store, {.repair = true});
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(report->has(bad_superblock)) << describe(*report);
}

TEST(Fsck, RecreatesRootAndLostFound) {
  expect_repaired([](auto& w, auto&) { edit(w, kRootInode, [](Inode& i) { i = {}; }); },
                  {bad_root, leaked_inode, leaked_blocks}, {""});
  TestTree tree;
  ImageWriter writer(*tree.store);
  edit_block(writer, writer.load(kRootInode).direct[0], [](auto b) {
    tree::remove_entry(b, offset_of(b, "lost+found"));
    tree::remove_entry(b, offset_of(b, "twice"));
    tree::remove_entry(b, offset_of(b, "long"));
  });
  const auto report = Fsck().run(*tree.store, {.repair = true});
  EXPECT_FALSE(report->unrepaired) << describe(*report);
  EXPECT_TRUE(Fsck().check(*tree.store)->nothing_found()) << describe(*Fsck().check(*tree.store));
  EXPECT_TRUE(
      ImageReader::open(*tree.store)->lookup(fmt::format("lost+found/#{:07}", tree.long_link)));
}

/// Inodes that are not initialised have arbitrary contents. When lost+found gets the first inode of
/// such a block, the block must be zeroed first.
TEST(Fsck, CreatesLostFoundWhenAllInitialisedInodesAreUsed) {
  const auto store = std::move(*media::MemoryStore::create((2 << 20) / kSectorBytes));
  ASSERT_TRUE(mkfs(
      *store, {.block_bytes = 4096, .bytes_per_inode = 4096, .features = {.lazy_inodes = true}}));
  ImageWriter writer(*store);
  const InodeNumber unused = writer.geometry().inodes_per_block();
  const InodeNumber lost = *ImageReader::open(*store)->lookup("lost+found");
  InodeNumber last = lost;
  while (last + 1 < unused) last = writer.file(lost, fmt::format("{}", last + 1), "kept");
  writer.write(writer.geometry().place_of(unused).block,
               std::vector<std::byte>(4096, std::byte{0x77}));
  edit_block(writer, writer.load(kRootInode).direct[0],
             [](auto b) { tree::remove_entry(b, offset_of(b, "lost+found")); });
  const auto report = Fsck().run(*store, {.repair = true});
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_FALSE(report->unrepaired) << describe(*report);
  EXPECT_FALSE(report->has(bad_mode)) << describe(*report);
  EXPECT_TRUE(Fsck().check(*store)->nothing_found()) << describe(*Fsck().check(*store));
  const auto reader = ImageReader::open(*store);
  EXPECT_EQ(*reader->lookup("lost+found"), unused);
  EXPECT_EQ(*reader->lookup(fmt::format("lost+found/#{:07}/{}", lost, last)), last);
}

}  // namespace
}  // namespace headcrash::ufs
