// Tests Netra: the fast check after every write, the number of bytes that it reads, the flusher,
// and the permitted combinations of features.

#include "fs-adapters/ufs/netra/netra.h"

#include <fmt/format.h>

#include "fs-adapters/substrate/tree/testing/turnover.h"
#include "fs-adapters/ufs/core/tree_store.h"
#include "fs-adapters/ufs/core/volume.h"
#include "fs-adapters/ufs/netra/busy_marks.h"
#include "fs-adapters/ufs/netra/fast_check_trial.h"
#include "fs-adapters/ufs/testing/journal.h"
#include "fs-adapters/ufs/testing/mounted.h"
#include "fs-adapters/ufs/testing/netra.h"

namespace headcrash::ufs {
namespace {

using bench::busy_of;
using bench::CountedReads;
using bench::Mounted;

constexpr Features kAll{.fast_check = true, .bmap_cache = true, .lazy_inodes = true};

void change_all_kinds(Vfs& fs) {
  for (const char* folder : {"p", "q", "q/below"}) EXPECT_TRUE(fs.mkdir(folder, 0755));
  for (std::size_t i = 0; i < 8; ++i)
    bench::put_file(fs, fmt::format("p/f{}", i), std::string(500 + 3000 * i, 'a'));
  EXPECT_TRUE(fs.unlink("p/f2"));
  EXPECT_TRUE(fs.link("p/f1", "q/linked"));
  EXPECT_TRUE(fs.rename("p/f3", "q/moved", RenameMode::replace));
  EXPECT_TRUE(fs.rename("p/f4", "p/f5", RenameMode::replace));
  EXPECT_TRUE(fs.rename("q/below", "p/below", RenameMode::replace));
  EXPECT_TRUE(fs.mkdir("q/empty", 0755));
  EXPECT_TRUE(fs.rename("p/below", "q/empty", RenameMode::replace));
  EXPECT_TRUE(fs.rename("q/empty", "q/other", RenameMode::replace));
  EXPECT_TRUE(fs.symlink("p/f1", "q/symbolic"));
  bench::put_file(fs, "big", std::string(90'000, 'B'));
  EXPECT_TRUE(fs.sync());
  EXPECT_TRUE(fs.unlink("big"));
  EXPECT_TRUE(fs.rmdir("q/other"));
}

/// Uses a bmap cache with blocks of 4 KiB: appends after the cached range, truncates the file
/// inside this range, and fills a hole before it.
void grow_behind_the_direct_blocks(Vfs& fs) {
  constexpr std::uint64_t kBlock = 4096;
  bench::put_file(fs, "log", std::string(13 * kBlock, 'L'));
  const auto file = fs.open("log", {});
  ASSERT_TRUE(file);
  const auto write = [&](std::uint64_t block, std::uint64_t blocks) {
    const std::string bytes(blocks * kBlock, static_cast<char>('a' + block % 20));
    EXPECT_TRUE(fs.pwrite(*file, block * kBlock, bench::bytes_of(bytes)));
  };
  for (std::uint64_t block = 13; block < 32; ++block) {
    write(block, 1);
    if (block % 3 == 0) {
      EXPECT_TRUE(fs.fsync(*file));
    }
  }
  EXPECT_TRUE(fs.truncate(*file, 28 * kBlock + 77));
  bench::put_file(fs, "other", std::string(6 * kBlock, 'O'));
  write(29, 5);
  EXPECT_TRUE(fs.fallocate(*file, FallocateMode::punch_hole, 31 * kBlock, 2 * kBlock));
  bench::put_file(fs, "third", std::string(3 * kBlock, '3'));
  write(40, 1);
  write(32, 1);
  EXPECT_TRUE(fs.fsync(*file));
  EXPECT_TRUE(fs.truncate(*file, 5 * kBlock));
  write(20, 1);
  EXPECT_TRUE(fs.fsync(*file));
  write(14, 1);
  EXPECT_TRUE(fs.close(*file));
  bench::put_file(fs, "forth", std::string(9 * kBlock, '4'));
}

class NetraSetups : public testing::TestWithParam<const char*> {};

TEST_P(NetraSetups, FastAndFullChecksAgreeAfterEveryWrite) {
  const bench::Setup setup = bench::setup_named(GetParam());
  Mounted m(setup);
  const auto before = media::MemoryStore::create(m.store->sectors());
  std::vector<std::byte> bytes(m.store->sectors() * kSectorBytes);
  ASSERT_TRUE(before && m.store->read(0, bytes) && (*before)->write(0, bytes));
  m.log.keep = true;
  m.mount();
  m.as_user([&] {
    change_all_kinds(*m.file_system);
    grow_behind_the_direct_blocks(*m.file_system);
  });
  m.unmount();
  bench::expect_clean(*m.store);
  FastCheckTrial trial;
  ASSERT_NO_FATAL_FAILURE(bench::compare_checks_after_each(m.log.log, **before, trial));
  const auto counts = trial.counts();
  EXPECT_GT(counts[0].value, 200U) << counts[0].name;
  EXPECT_EQ(counts[1].value, 0U) << counts[1].name;
  EXPECT_GT(counts[2].value, 200U) << counts[2].name;
}

INSTANTIATE_TEST_SUITE_P(All, NetraSetups,
                         testing::Values("netra", "netra-flush", "netra-foreign-block", "netra-map",
                                         "netra-map-flush", "netra-fast", "netra-check"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::ranges::replace(text, '-', '_');
                           return text;
                         });

TEST(Netra, AnExchangeRequiresAFullCheckUntilItIsOnTheDisk) {
  Mounted m(bench::setup_named("netra"));
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    bench::put_file(fs, "a", "a");
    bench::put_file(fs, "b", "b");
    EXPECT_FALSE(m.file_system->volume().super.full_check);
    EXPECT_TRUE(fs.rename("a", "b", RenameMode::exchange));
    EXPECT_TRUE(m.file_system->volume().super.full_check);
    Fsck fsck;
    const auto image = media::MemoryStore::create(m.store->sectors());
    std::vector<std::byte> bytes(m.store->sectors() * kSectorBytes);
    ASSERT_TRUE(image && m.store->read(0, bytes) && (*image)->write(0, bytes));
    const auto fast = fsck.run(**image, {.repair = true, .fast = true});
    ASSERT_TRUE(fast);
    EXPECT_TRUE(fast->unrepaired && !fast->fast);
    EXPECT_TRUE(fs.sync());
    EXPECT_FALSE(m.file_system->volume().super.full_check);
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

TEST(Netra, AFastCheckReadsHeadersAndBusyItems) {
  Mounted m(bench::without_flusher("netra"),
            {.device_bytes = 64 << 20, .mkfs = {.bytes_per_inode = 4096, .group_bytes = 4 << 20}});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    for (int i = 0; i < 200; ++i)
      bench::put_file(fs, fmt::format("f{}", i), std::string(30'000, 'x'));
    EXPECT_TRUE(fs.sync());
    bench::put_file(fs, "last", "x");
  });
  m.file_system->abandon();
  CountedReads fast_reads(*m.store);
  FastCheckTrial trial;
  EXPECT_EQ(trial.difference(*m.store), "");
  Fsck fsck;
  const auto fast = fsck.run(fast_reads, {.repair = true, .fast = true});
  ASSERT_TRUE(fast);
  EXPECT_TRUE(fast->fast);
  // The check reads 16 headers of 8 KiB, the block of the same size after each header, the
  // superblock, and some inodes.
  EXPECT_LT(fast_reads.bytes, 16 * 2 * 8192 + 40'000U);
  bench::expect_clean(*m.store);
}

TEST(Netra, TheFlusherCleansGroups) {
  Mounted m(bench::setup_named("netra-flush"));
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    for (int i = 0; i < 10; ++i)
      bench::put_file(fs, fmt::format("f{}", i), std::string(30'000, 'x'));
    EXPECT_TRUE(busy_of(m).any_busy());
    m.executor.sleep_until(m.executor.now() + 5 * model::kSecondNs);
    EXPECT_FALSE(busy_of(m).any_busy());
    EXPECT_GT(busy_of(m).counters().cleaned, 0U);
    // This open file without a name would be removed by a check, so its group stays busy.
    const auto open = fs.open("f1", {});
    ASSERT_TRUE(open);
    EXPECT_TRUE(fs.unlink("f1"));
    m.executor.sleep_until(m.executor.now() + 5 * model::kSecondNs);
    EXPECT_TRUE(busy_of(m).any_busy());
    EXPECT_TRUE(fs.close(*open));
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

/// After a failed write, the header on the disk may still have the current generation. The marks in
/// that header must then not be cleared before another generation has been written.
TEST(Netra, MarksStayUntilTheirGroupIsCleaned) {
  Mounted m(bench::setup_named("netra"));
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const Geometry& geometry = m.file_system->volume().geometry;
    ASSERT_EQ(geometry.groups(), 1U);
    const std::uint64_t header = geometry.lba_of(geometry.header(0));
    EXPECT_TRUE(fs.mkdir("d", 0755));
    EXPECT_TRUE(m.file_system->volume().write_if_dirty(Volume::place(geometry.header(0))));
    m.machine.faulty_disk.add({.sectors = {header, header + 1}});
    EXPECT_FALSE(busy_of(m).clean(0));
    EXPECT_EQ(m.machine.faulty_disk.failed(), 1U);
    const auto image = bench::copy_of(*m.store);
    m.log.keep = true;
    EXPECT_TRUE(fs.mkdir("e", 0755));
    EXPECT_TRUE(fs.sync());
    FastCheckTrial trial;
    for (const os::LoggedStore::Write& write : m.log.log) {
      const auto torn = bench::copy_of(*image);
      if (const auto rest = std::span(write.bytes).subspan(kSectorBytes); !rest.empty()) {
        EXPECT_TRUE(torn->write(write.lba + 1, rest));
      }
      EXPECT_EQ(trial.difference(*torn), "");
      EXPECT_TRUE(image->write(write.lba, write.bytes));
    }
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

struct MarkedAtOnce {
  std::uint64_t header_writes = 0, refused = 0;
};

/// Eight users mark inodes in one group at the same time. Each call must return only when the write
/// of its mark has completed or failed. If `fails` is not 0, header write number `fails` fails.
MarkedAtOnce mark_at_once(bool together, std::uint64_t fails = 0) {
  constexpr InodeNumber kFirst = 64;
  bench::Setup setup = bench::without_flusher("netra");
  setup.mount.options.netra.marks_together = together;
  Mounted m(setup);
  m.mount();
  m.as_user([&] { EXPECT_TRUE(m.file_system->mkdir("d", 0755)); });
  const Geometry& geometry = m.file_system->volume().geometry;
  const std::uint64_t lba = geometry.lba_of(geometry.header(0));
  if (fails > 0) m.machine.faulty_disk.add({.sectors = {lba, lba + 1}, .nth = fails});
  const std::uint64_t before = busy_of(m).counters().header_writes;
  MarkedAtOnce made;
  std::vector<os::Account> accounts(8);
  for (InodeNumber user = 0; user < accounts.size(); ++user)
    m.executor.spawn(os::Executor::Kind::user, accounts[user], [&, user] {
      const InodeNumber inode = kFirst + 2 * user;
      busy_of(m).operation_begins();
      const auto marked = busy_of(m).mark(0, inode, false);
      std::vector<std::byte> header(geometry.block_bytes());
      EXPECT_TRUE(m.store->read(lba, header));
      EXPECT_EQ(BusyMarks(geometry, header, 0).inode_busy(geometry.inode_index_in_group(inode)),
                marked.has_value())
          << user;
      made.refused += marked ? 0 : 1;
      busy_of(m).operation_ends();
    });
  m.executor.run();
  made.header_writes = busy_of(m).counters().header_writes - before;
  m.unmount();
  return made;
}

TEST(Netra, MarksOfAGroupAreWrittenTogether) {
  EXPECT_EQ(mark_at_once(true).header_writes,
            2U);  // one write for the first user, and one for all others
  EXPECT_EQ(mark_at_once(false).header_writes, 8U);
}

TEST(Netra, AFailedWriteOfMarksFailsOnlyOneUser) {
  const MarkedAtOnce made = mark_at_once(true, 2);
  // The second write fails for one user. The third write contains the marks of the users that are
  // still waiting.
  EXPECT_EQ(made.header_writes, 3U);
  EXPECT_EQ(made.refused, 1U);
}

TEST(Netra, ARebuiltHeaderKeepsItsInodes) {
  Mounted m(bench::setup_named("netra"));
  m.mount();
  m.as_user([&] { bench::put_file(*m.file_system, "f", "text"); });
  m.unmount();
  std::vector<std::byte> bytes(kSuperblockBytes);
  ASSERT_TRUE(m.store->read(kSuperblockByte / kSectorBytes, bytes));
  const Geometry geometry(*decode_superblock(bytes, m.store->sectors() * kSectorBytes));
  EXPECT_TRUE(m.store->write(geometry.lba_of(geometry.header(0)),
                             std::vector<std::byte>(geometry.block_bytes())));
  Fsck fsck;
  ASSERT_TRUE(fsck.run(*m.store, {.repair = true}));
  bench::expect_clean(*m.store);
  m.cache.discard_all();
  m.mount();
  m.as_user([&] { EXPECT_EQ(bench::get_file(*m.file_system, "f"), "text"); });
  m.unmount();
}

TEST(Netra, FsckRewritesATornSuperblock) {
  for (const bool fast : {false, true}) {
    Mounted m(bench::setup_named("netra"));
    std::vector<std::byte> bytes(kSuperblockBytes);
    ASSERT_TRUE(m.store->read(kSuperblockByte / kSectorBytes, bytes));
    m.mount();
    m.as_user([&] { bench::put_file(*m.file_system, "f", "text"); });
    m.unmount();
    const auto rest = std::span(bytes).subspan(kSectorBytes);
    ASSERT_TRUE(m.store->write(kSuperblockByte / kSectorBytes + 1, rest));
    const auto totals_differ = [&] {
      EXPECT_TRUE(m.store->read(kSuperblockByte / kSectorBytes, bytes));
      return decode_superblock(bytes, m.store->sectors() * kSectorBytes)->totals_differ;
    };
    EXPECT_TRUE(totals_differ());
    Fsck fsck;
    ASSERT_TRUE(fsck.run(*m.store, {.repair = true, .fast = fast}));
    EXPECT_FALSE(totals_differ());
    bench::expect_clean(*m.store);
  }
}

/// Cuts the last write of an unmount after each sector of the write.
TEST(Netra, UnmountMarksCleanOnlyWithCorrectTotals) {
  Mounted m(bench::setup_named("netra"));
  std::vector<std::byte> bytes(kSuperblockBytes);
  ASSERT_TRUE(m.store->read(kSuperblockByte / kSectorBytes, bytes));
  m.log.keep = true;
  m.mount();
  m.as_user([&] { bench::put_file(*m.file_system, "f", "text"); });
  m.unmount();
  for (const os::LoggedStore::Write& write : m.log.log) {
    if (write.lba != kSuperblockByte / kSectorBytes) continue;
    for (std::size_t count = kSectorBytes; count <= write.bytes.size(); count += kSectorBytes) {
      std::copy_n(write.bytes.begin(), count, bytes.begin());
      const auto superblock = decode_superblock(bytes, m.store->sectors() * kSectorBytes);
      ASSERT_TRUE(superblock);
      EXPECT_FALSE(superblock->clean && superblock->totals_differ) << count;
    }
  }
}

TEST(Netra, FullListsOfForeignInodesRequireTheFullCheck) {
  const Geometry geometry = [] {
    const auto store = media::MemoryStore::create(16 << 11);
    return Geometry(*mkfs(**store, {.block_bytes = 4096, .features = kAll}));
  }();
  std::vector<std::byte> header(geometry.block_bytes());
  ASSERT_TRUE(CylinderGroup::format(geometry, header, 0));
  BusyMarks marks(geometry, header, 0);
  InodeNumber inode = 2;
  while (marks.add_foreign_inode(inode)) inode += 2;
  EXPECT_GE(marks.foreign_inodes().size(), 32U);
  EXPECT_TRUE(marks.add_foreign_inode(2)) << "already listed";
  marks.clear(0);
  EXPECT_TRUE(marks.foreign_inodes().empty());
}

/// The inodes of these files are in many groups, but their blocks are allocated in one group. The
/// header of that group has no room to list all the inodes, so the others are listed in the block
/// after the header. A fast check must also find the inodes in that block, even if the inodes' own
/// groups are quiet. The group becomes quiet and then busy again.
TEST(Netra, AFastCheckUsesTheForeignInodeBlockLikeTheHeader) {
  Mounted m(bench::without_flusher("netra-foreign-block"),
            {.device_bytes = 24 << 20, .mkfs = {.bytes_per_inode = 8192, .group_bytes = 1 << 20}});
  m.mount();
  const auto grow = [&](int first) {
    Vfs& fs = *m.file_system;
    for (int i = first; i < first + 100; i += 5) {
      const auto file = fs.open(fmt::format("f{}", i), {});
      ASSERT_TRUE(file);
      EXPECT_TRUE(fs.pwrite(*file, 60'000, bench::bytes_of(std::string(8192, 'g'))));
      EXPECT_TRUE(fs.fsync(*file));
      EXPECT_TRUE(fs.close(*file));
    }
  };
  m.as_user([&] {
    for (int i = 0; i < 100; ++i)
      bench::put_file(*m.file_system, fmt::format("f{}", i), std::string(60'000, 'x'));
    EXPECT_TRUE(m.file_system->sync());
  });
  const auto before = bench::copy_of(*m.store);
  m.log.keep = true;
  m.as_user([&] {
    grow(0);
    // Now only the hot group lists the inodes of these files as busy; their own groups are quiet.
    const std::uint32_t hot = m.file_system->volume().allocator.hot_group();
    for (std::uint32_t group = 0; group < hot; ++group) EXPECT_TRUE(busy_of(m).clean(group));
    EXPECT_TRUE(busy_of(m).busy(hot) && !busy_of(m).busy(hot - 1));
    bench::put_file(*m.file_system, "between", std::string(20'000, 'b'));
    const auto cleaned = busy_of(m).clean(hot);
    EXPECT_TRUE(cleaned && *cleaned);
    grow(1);
  });
  EXPECT_EQ(busy_of(m).counters().full_checks, 0U);
  m.file_system->abandon();
  FastCheckTrial trial;
  ASSERT_NO_FATAL_FAILURE(bench::compare_checks_after_each(m.log.log, *before, trial));
}

TEST(Netra, TheForeignInodeBlockStartsEmptyAndCanFillUp) {
  Mounted m(bench::without_flusher("netra-foreign-block"),
            {.device_bytes = 64 << 20, .mkfs = {.bytes_per_inode = 2048, .group_bytes = 4 << 20}});
  m.mount();
  const Geometry& geometry = m.file_system->volume().geometry;
  const InodeNumber first = geometry.inodes_per_group() + 2;
  const auto mark = [&](InodeNumber from, std::uint32_t count) {
    m.as_user([&] {
      busy_of(m).operation_begins();
      for (std::uint32_t i = 0; i < count; ++i)
        EXPECT_TRUE(busy_of(m).mark(0, from + 2 * i, false));
      busy_of(m).operation_ends();
    });
  };
  const auto listed = [&] {
    std::vector<std::byte> block(geometry.block_bytes());
    EXPECT_TRUE(m.store->read(geometry.lba_of(geometry.foreign_block(0)), block));
    return ForeignBlock(block).inodes();
  };
  mark(first, 5);
  EXPECT_EQ(listed(), (std::vector<InodeNumber>{first + 2, first + 4, first + 6, first + 8}));
  m.as_user([&] { EXPECT_TRUE(busy_of(m).begin_generation()); });
  mark(first + 20, 2);
  EXPECT_EQ(listed(), (std::vector<InodeNumber>{first + 22}));
  EXPECT_EQ(busy_of(m).counters().full_checks, 0U);
  mark(first + 30, geometry.block_bytes() / 4);
  EXPECT_EQ(busy_of(m).counters().full_checks, 1U);
  m.file_system->abandon();
}

TEST(Netra, MarksKeepTheFormerTypeOfAnInode) {
  const auto store = media::MemoryStore::create(16 << 11);
  const Geometry geometry(*mkfs(**store, {.features = kAll}));
  std::vector<std::byte> header(geometry.block_bytes());
  ASSERT_TRUE(CylinderGroup::format(geometry, header, 0));
  BusyMarks marks(geometry, header, 0);
  marks.mark_inode(6, true);
  marks.mark_inode(6, false);
  marks.mark_inode(8, false);
  EXPECT_TRUE(marks.inode_busy(6) && marks.inode_was_directory(6));
  EXPECT_TRUE(marks.inode_busy(8) && !marks.inode_was_directory(8));
  EXPECT_FALSE(marks.inode_busy(10) || marks.inode_busy(4));
}

/// Shows why busy groups must be checked before the mount and not later. unlink() lowers the link
/// count before it removes the name. After a cut in between, only the inode's tag shows that the
/// name still exists. Without a check, unlink() of the other name frees the inode, and the first
/// name dangles.
TEST(Netra, MountingBeforeTheCheckCanRemoveAFileWithAName) {
  Mounted m(bench::setup_named("netra"));
  m.mount();
  m.as_user([&] {
    bench::put_file(*m.file_system, "a", "text");
    EXPECT_TRUE(m.file_system->link("a", "b"));
    EXPECT_TRUE(m.file_system->sync());
  });
  const auto image = bench::copy_of(*m.store);
  m.log.keep = true;
  m.as_user([&] { EXPECT_TRUE(m.file_system->unlink("a")); });
  Fsck fsck;
  const auto lowered = [&] {
    const auto report = fsck.check(*image);
    return report && report->has(FindingKind::links_lowered);
  };
  for (const os::LoggedStore::Write& write : m.log.log)
    if (!lowered()) {
      ASSERT_TRUE(image->write(write.lba, write.bytes));
    }
  ASSERT_TRUE(lowered());
  m.file_system->abandon();
  for (const bool checked : {true, false}) {
    Mounted after(bench::setup_named("netra"));
    std::vector<std::byte> bytes(image->sectors() * kSectorBytes);
    ASSERT_TRUE(image->read(0, bytes) && after.store->write(0, bytes));
    if (checked) {
      ASSERT_TRUE(fsck.run(*after.store, {.repair = true, .fast = true}));
    }
    after.setup.mount.allow_unclean = !checked;
    after.mount();
    after.as_user([&] { EXPECT_TRUE(after.file_system->unlink("b")); });
    after.unmount();
    const auto report = fsck.check(*after.store);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->has(FindingKind::dangling_entry), !checked);
  }
}

TEST(Netra, RejectsUnknownFeatures) {
  Mounted m(bench::setup_named("netra"));
  std::vector<std::byte> bytes(kSuperblockBytes);
  ASSERT_TRUE(m.store->read(kSuperblockByte / kSectorBytes, bytes));
  const std::uint64_t device_bytes = m.store->sectors() * kSectorBytes;
  ASSERT_TRUE(decode_superblock(bytes, device_bytes));
  constexpr std::size_t kFeaturesByte = 216;
  bytes[kFeaturesByte] |= std::byte{0x80};
  const auto unknown = decode_superblock(bytes, device_bytes);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().problem.find("unknown"), std::string::npos);
  m.setup.mount.scheme = SchemeKind::conventional;
  m.as_user([&] {
    const auto mounted = FileSystem::mount(m.system, m.setup.mount);
    ASSERT_FALSE(mounted);
    EXPECT_NE(mounted.error().message().find("scheme=netra"), std::string::npos);
  });
}

/// The fast check needs the marks, and the bmap cache needs the extensions. Without them, the
/// scheme would only do what Conventional does.
TEST(Netra, RejectsAFormatWithoutItsFeatures) {
  const auto error_of = [](const char* scheme, const Features& features) -> std::string {
    bench::Setup setup = bench::setup_named(scheme);
    setup.features = features;
    Mounted m(setup);
    std::string message;
    m.as_user([&] {
      const auto mounted = FileSystem::mount(m.system, m.setup.mount);
      if (mounted)
        (*mounted)->abandon();
      else
        message = mounted.error().message();
    });
    EXPECT_TRUE(m.log.log.empty()) << scheme << ": " << message;
    return message;
  };
  const auto expect_lacks = [&](const char* scheme, const Features& features,
                                const std::string& lacks, const std::string& mkfs) {
    const std::string message = error_of(scheme, features);
    EXPECT_NE(message.find("scheme requires: " + lacks), std::string::npos)
        << scheme << ": " << message;
    EXPECT_NE(message.find("`mkfs.headcrash-ufs " + mkfs + "`"), std::string::npos)
        << scheme << ": " << message;
  };
  expect_lacks("netra", {}, "fast-check, bmap-cache, lazy-inodes",
               "--fast-check 1 --bmap-cache 1 --lazy-inodes 1");
  expect_lacks("netra-fast", {.bmap_cache = true, .lazy_inodes = true}, "fast-check",
               "--fast-check 1");
  expect_lacks("netra", {.fast_check = true, .lazy_inodes = true}, "bmap-cache", "--bmap-cache 1");
  expect_lacks("netra-bmap", {}, "bmap-cache", "--bmap-cache 1");
  expect_lacks("netra-check", {}, "fast-check", "--fast-check 1");
  expect_lacks("netra-map", kAll, "busy-map", "--busy-map 1");
  expect_lacks("netra-foreign-block", kAll, "foreign-block", "--foreign-block 1");
}

TEST(Netra, AllocatesInAHotGroupThatMoves) {
  Mounted m(bench::without_flusher("netra"),
            {.device_bytes = 16 << 20, .mkfs = {.bytes_per_inode = 8192, .group_bytes = 4 << 20}});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    Allocator& allocator = m.file_system->volume().allocator;
    EXPECT_EQ(allocator.hot_group(), 0U);
    bench::put_file(fs, "a", std::string(3 << 20, 'a'));
    EXPECT_TRUE(fs.unlink("a"));
    bench::put_file(fs, "b", std::string(3 << 20, 'b'));
    EXPECT_EQ(allocator.hot_group(), 1U) << "freed space is behind it";
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(fs.mkdir(fmt::format("d{}", i), 0755));
    EXPECT_EQ(allocator.hot_group(), 1U) << "directories are not spread";
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

/// Creates and removes files of all sizes on a disk that is 90 % full. Nearly all free space must
/// stay in whole blocks. The free space in partly used blocks must be less than the fraction at
/// which FFS switches to space optimisation (the reserve less 2 %).
TEST(Netra, ANearlyFullDiskAcceptsAsMuchDataAsItReportsFree) {
  Mounted m(bench::without_flusher("netra"), {.device_bytes = 64 << 20,
                                              .mkfs = {.block_bytes = 8192,
                                                       .fragment_bytes = 1024,
                                                       .bytes_per_inode = 4096,
                                                       .group_bytes = 16 << 20},
                                              .cache_bytes = 4 << 20});
  m.mount();
  m.as_user([&] {
    EXPECT_EQ(tree::bench::Turnover(*m.file_system, {.seed = 3}).run(), "");
    const Superblock& super = m.file_system->volume().super;
    EXPECT_LT(super.total.free_fragments * 100ULL, super.data_fragments * 9ULL);
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

}  // namespace
}  // namespace headcrash::ufs
