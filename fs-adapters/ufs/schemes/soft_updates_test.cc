// Tests soft updates (soft_updates.h), rule by rule. Each test writes single blocks and checks
// their contents on the disk. The state of dependencies after a failed write is tested, too. There
// are no background writes.
#include "fs-adapters/ufs/schemes/soft_updates.h"

#include "fs-adapters/ufs/format/image_reader.h"
#include "fs-adapters/ufs/testing/journal.h"
#include "fs-adapters/ufs/testing/mounted.h"

namespace headcrash::ufs {
namespace {

using bench::Mounted;

class SoftUpdatesRules : public testing::TestWithParam<const char*> {
 protected:
  SoftUpdatesRules()
      : m_(bench::setup_named(GetParam()),
           {.mkfs = {.block_bytes = 4096, .fragment_bytes = 1024, .bytes_per_inode = 4096},
            .syncer = {.policy = os::SyncerOptions::Policy::none}}) {
    m_.mount();
  }
  FileSystem& fs() { return *m_.file_system; }
  Volume& volume() { return fs().volume(); }
  const SoftUpdatesCounters& counters() {
    return dynamic_cast<const SoftUpdates&>(*volume().scheme).counters();
  }

  // Writes one block, as the syncer does.
  void write(const os::BufferKey& key) {
    m_.cache.write_behind(key);
    m_.queue.drain();
  }
  void write_inodes_of(InodeNumber number) {
    EXPECT_TRUE(volume().inodes.write_all_delayed());
    write(volume().inodes.block_key(number));
  }
  void write_root() { write(Volume::block_of(kRootInode, 0)); }
  InodeNumber number_of(const std::string& path) {
    return static_cast<InodeNumber>(fs().stat(path)->inode);
  }

  // Returns a reader of the disk in its current state.
  ImageReader disk() {
    auto reader = ImageReader::open(*m_.store);
    EXPECT_TRUE(reader);
    return *reader;
  }
  bool shows(const std::string& path) { return disk().lookup(path).has_value(); }
  Inode inode_on_disk(InodeNumber number) { return *disk().inode(number); }
  bool marked_used(FragmentAddress at) {
    Fsck fsck;
    auto image = bench::copy_of(*m_.store);
    const auto seen = fsck.check(*image);
    return seen && std::ranges::none_of(seen->findings, [&](const Finding& one) {
             return one.kind == FindingKind::block_marked_free && one.block == at;
           });
  }
  /// Applies the logged writes to an earlier image, and checks the state after each write.
  void expect_permitted_after_each_write(media::MemoryStore& image) {
    for (const auto& one : m_.log.log) {
      ASSERT_TRUE(image.write(one.lba, one.bytes));
      Fsck fsck;
      const auto seen = fsck.check(image);
      ASSERT_TRUE(seen);
      for (const Finding& finding : seen->findings)
        EXPECT_TRUE(permitted(m_.setup, finding.kind))
            << name_of(finding.kind) << ": " << finding.text;
    }
  }
  /// Expects no finding of this kind, even if it is permitted, because such a finding would show
  /// that a change was undone wrongly. Ignores permitted findings of other kinds.
  void expect_no(FindingKind kind) {
    Fsck fsck;
    const auto seen = fsck.check(*m_.store);
    ASSERT_TRUE(seen);
    for (const Finding& finding : seen->findings) {
      EXPECT_NE(finding.kind, kind) << finding.text;
      EXPECT_TRUE(permitted(m_.setup, finding.kind))
          << name_of(finding.kind) << ": " << finding.text;
    }
  }
  void fail_next_write_of(std::uint64_t lba, os::DiskFault::Leaves leaves) {
    m_.machine.faulty_disk.add({.sectors = {lba, lba + 1}, .leaves = leaves});
  }
  std::uint64_t lba_of_inodes(InodeNumber number) {
    return volume().lba(static_cast<FragmentAddress>(volume().inodes.block_key(number).block));
  }
  std::uint64_t lba_of_root() { return volume().lba(inode_on_disk(kRootInode).direct[0]); }
  void end() {
    EXPECT_TRUE(fs().unmount());
    m_.file_system.reset();
    bench::expect_clean(*m_.store);
  }

  Mounted m_;
};
INSTANTIATE_TEST_SUITE_P(Ufs, SoftUpdatesRules,
                         testing::Values("soft-updates", "soft-updates-init",
                                         "soft-updates-init-cb"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::ranges::replace(text, '-', '_');
                           return text;
                         });

TEST_P(SoftUpdatesRules, R3AnEntryWaitsForItsInode) {
  m_.as_user([&] {
    bench::put_file(fs(), "a", "text");
    write_root();
    EXPECT_FALSE(shows("a"));
    EXPECT_EQ(counters().undone_entries, 1U);
    EXPECT_TRUE(m_.cache.unwritten(Volume::block_of(kRootInode, 0)))
        << "dirty again after a write with undone changes";
    write_inodes_of(number_of("a"));
    write_root();
    EXPECT_TRUE(shows("a"));
    end();
  });
}

TEST_P(SoftUpdatesRules, R3ANewDirectoryWaitsForItsBlockAndParentCount) {
  m_.as_user([&] {
    EXPECT_TRUE(fs().mkdir("d", 0755));
    const InodeNumber number = number_of("d");
    write_inodes_of(number);
    EXPECT_FALSE(inode_on_disk(number).allocated()) << "hidden without its first block";
    write(Volume::block_of(number, 0));
    write_root();
    EXPECT_FALSE(shows("d"));
    write_inodes_of(number);
    EXPECT_TRUE(inode_on_disk(number).is_directory());
    write_inodes_of(kRootInode);
    write_root();
    EXPECT_TRUE(shows("d"));
    expect_no(FindingKind::bad_sectors);
    end();
  });
}

/// This rule applies only to variants with allocation initialization (-init). In other variants,
/// new blocks of a file may still have their previous contents on the disk.
TEST_P(SoftUpdatesRules, R3PointerSizeAndSectorCountWaitForTheBlock) {
  if (!m_.setup.mount.options.allocation_initialization) return;
  m_.as_user([&] {
    bench::put_file(fs(), "a", std::string(1000, 'a'));  // one fragment
    EXPECT_TRUE(fs().sync());
    const InodeNumber number = number_of("a");
    const Inode before = inode_on_disk(number);
    const auto file = fs().open("a", {});
    for (const std::size_t bytes :
         {2500U, 9000U, 30000U}) {  // extends, then moves, then replaces the fragments
      EXPECT_TRUE(fs().append(*file, std::vector<std::byte>(bytes, std::byte{'b'})));
      write_inodes_of(number);
      const Inode undone = inode_on_disk(number);
      EXPECT_EQ(undone.size_bytes, before.size_bytes);
      EXPECT_EQ(undone.direct[0], before.direct[0]);
      EXPECT_EQ(undone.sectors, before.sectors) << "after " << bytes << " more";
      expect_no(FindingKind::bad_sectors);
    }
    EXPECT_GT(counters().undone_inodes, 0U);
    EXPECT_TRUE(fs().fsync(*file));
    EXPECT_EQ(inode_on_disk(number).size_bytes, 42500U);
    expect_no(FindingKind::bad_sectors);
    end();
  });
}

TEST_P(SoftUpdatesRules, R3AnIndirectBlockHidesPointersToUnwrittenBlocks) {
  if (!m_.setup.mount.options.allocation_initialization) return;
  m_.as_user([&] {
    bench::put_file(fs(), "a", std::string(13 * 4096, 'a'));
    EXPECT_TRUE(fs().sync());
    const InodeNumber number = number_of("a");
    const FragmentAddress indirect = inode_on_disk(number).indirect[0];
    const std::uint64_t undone = counters().undone_indirects;
    const auto file = fs().open("a", {});
    EXPECT_TRUE(fs().append(*file, std::vector<std::byte>(4096, std::byte{'b'})));
    write(Volume::place(indirect));
    EXPECT_EQ(counters().undone_indirects, undone + 1);
    Inode as_long_as_that = inode_on_disk(number);
    as_long_as_that.size_bytes = 14 * 4096;
    EXPECT_EQ((*disk().blocks(as_long_as_that, 14))[13], 0U);
    write(Volume::block_of(number, 13));
    write(Volume::place(indirect));
    EXPECT_NE((*disk().blocks(as_long_as_that, 14))[13], 0U);
    end();
  });
}

/// A new block of the file is on the disk, but some new blocks before it are not.
TEST_P(SoftUpdatesRules, R3NoValidPointersBeyondARolledBackSize) {
  if (!m_.setup.mount.options.allocation_initialization) return;
  m_.as_user([&] {
    bench::put_file(fs(), "a", std::string(1000, 'a'));
    EXPECT_TRUE(fs().sync());
    const InodeNumber number = number_of("a");
    const auto file = fs().open("a", {});
    EXPECT_TRUE(fs().append(*file, std::vector<std::byte>(19000, std::byte{'b'})));
    write(Volume::block_of(number, 3));
    write_inodes_of(number);
    const Inode undone = inode_on_disk(number);
    EXPECT_EQ(undone.size_bytes, 1000U);
    EXPECT_EQ(undone.direct[3], 0U);
    expect_no(FindingKind::bad_sectors);
    write(Volume::block_of(number, 0));
    write_inodes_of(number);
    EXPECT_EQ(inode_on_disk(number).size_bytes, 4096U) << "up to the next missing block";
    EXPECT_EQ(inode_on_disk(number).direct[3], 0U);
    EXPECT_TRUE(fs().fsync(*file));
    EXPECT_NE(inode_on_disk(number).direct[3], 0U);
    end();
  });
}

/// Checks the safe copy of an indirect block. The safe copy is written in place of the indirect
/// block until all blocks to which the indirect block points have been written.
TEST_P(SoftUpdatesRules, R2ARolledBackIndirectBlockHasNoClearedPointer) {
  if (!m_.setup.mount.options.allocation_initialization) return;
  m_.as_user([&] {
    constexpr std::uint64_t kBlock = 4096;
    bench::put_file(fs(), "a", std::string(14 * kBlock, 'a'));
    EXPECT_TRUE(fs().sync());
    const InodeNumber number = number_of("a");
    const FragmentAddress indirect = inode_on_disk(number).indirect[0];
    const auto file = fs().open("a", {});
    EXPECT_TRUE(fs().append(*file, std::vector<std::byte>(kBlock, std::byte{'b'})));
    EXPECT_TRUE(fs().fallocate(*file, FallocateMode::punch_hole, 12 * kBlock, kBlock));
    const std::uint64_t free = volume().allocator.free_fragments();
    const std::uint64_t undone = counters().undone_indirects;
    write(Volume::place(indirect));
    EXPECT_EQ(counters().undone_indirects, undone + 1);
    m_.syncer.do_work(os::Syncer::Extent::everything);
    EXPECT_EQ(volume().allocator.free_fragments(), free + 4) << "the hole's block is free";
    Inode as_long_as_now = inode_on_disk(number);
    as_long_as_now.size_bytes = 15 * kBlock;
    const auto pointers = disk().blocks(as_long_as_now, 15);
    ASSERT_TRUE(pointers && pointers->size() == 15);
    EXPECT_EQ((*pointers)[12], 0U);
    EXPECT_NE((*pointers)[13], 0U);
    EXPECT_EQ((*pointers)[14], 0U) << "not written yet";
    end();
  });
}

TEST_P(SoftUpdatesRules, R2AnInodeStaysUntilItsEntryIsRemoved) {
  m_.as_user([&] {
    bench::put_file(fs(), "a", "text");
    EXPECT_TRUE(fs().sync());
    const InodeNumber number = number_of("a");
    EXPECT_TRUE(fs().unlink("a"));
    write_inodes_of(number);
    m_.syncer.do_work(os::Syncer::Extent::everything);
    EXPECT_EQ(inode_on_disk(number).links, 1U);
    write_root();
    m_.syncer.do_work(os::Syncer::Extent::everything);
    write_inodes_of(number);
    EXPECT_FALSE(inode_on_disk(number).allocated());
    end();
  });
}

TEST_P(SoftUpdatesRules, R2BlocksStayAllocatedUntilTheirPointersAreReset) {
  m_.as_user([&] {
    bench::put_file(fs(), "a", std::string(4096, 'a'));
    EXPECT_TRUE(fs().sync());
    const std::uint64_t free = volume().allocator.free_fragments();
    const auto file = fs().open("a", {});
    EXPECT_TRUE(fs().truncate(*file, 0));
    m_.syncer.do_work(os::Syncer::Extent::everything);
    EXPECT_EQ(volume().allocator.free_fragments(), free);
    write_inodes_of(number_of("a"));
    m_.syncer.do_work(os::Syncer::Extent::everything);
    EXPECT_EQ(volume().allocator.free_fragments(), free + 4);
    end();
  });
}

TEST_P(SoftUpdatesRules, R2AMovedFragmentKeepsItsOldSpaceUntilThePointerIsWritten) {
  m_.as_user([&] {
    bench::put_file(fs(), "a", std::string(1000, 'a'));
    // "b" follows "a" on the disk, so "a" cannot grow in place.
    bench::put_file(fs(), "b", std::string(1000, 'b'));
    EXPECT_TRUE(fs().sync());
    const InodeNumber number = number_of("a");
    const FragmentAddress old = inode_on_disk(number).direct[0];
    const std::uint64_t free = volume().allocator.free_fragments();
    const auto file = fs().open("a", {});
    EXPECT_TRUE(fs().append(*file, std::vector<std::byte>(3000, std::byte{'c'})));
    write_inodes_of(number);
    EXPECT_EQ(inode_on_disk(number).direct[0], old) << "undone";
    m_.syncer.do_work(os::Syncer::Extent::everything);
    EXPECT_EQ(volume().allocator.free_fragments(), free - 4);
    write(Volume::block_of(number, 0));
    write_inodes_of(number);
    EXPECT_NE(inode_on_disk(number).direct[0], old);
    m_.syncer.do_work(os::Syncer::Extent::everything);
    EXPECT_EQ(volume().allocator.free_fragments(), free - 3);
    end();
  });
}

/// The file grows. Before the growth is on the disk, the file is truncated to less than its
/// original size.
TEST_P(SoftUpdatesRules, R2ATruncatedFileIsNotRolledBackToFreedBlocks) {
  if (!m_.setup.mount.options.allocation_initialization) return;  // without it, nothing is undone
  m_.as_user([&] {
    bench::put_file(fs(), "a", std::string(2500, 'a'));
    EXPECT_TRUE(fs().sync());
    const InodeNumber number = number_of("a");
    const auto file = fs().open("a", {});
    EXPECT_TRUE(fs().append(*file, std::vector<std::byte>(1000, std::byte{'b'})));
    EXPECT_TRUE(fs().truncate(*file, 1000));
    write_inodes_of(number);
    EXPECT_EQ(inode_on_disk(number).size_bytes, 1000U);
    // Releases two fragments, which other files may then use.
    m_.syncer.do_work(os::Syncer::Extent::everything);
    EXPECT_TRUE(fs().append(*file, std::vector<std::byte>(7000, std::byte{'c'})));
    write_inodes_of(number);
    EXPECT_LE(inode_on_disk(number).size_bytes, 1000U);
    EXPECT_TRUE(fs().close(*file));
    end();
  });
}

TEST_P(SoftUpdatesRules, R1TheNewNameIsWrittenBeforeTheOldNameIsRemoved) {
  m_.as_user([&] {
    EXPECT_TRUE(fs().mkdir("d", 0755));
    bench::put_file(fs(), "a", "text");
    EXPECT_TRUE(fs().sync());
    EXPECT_TRUE(fs().rename("a", "d/b", RenameMode::replace));
    EXPECT_TRUE(shows("d/b"));
    write_root();
    EXPECT_FALSE(shows("a"));
    end();
  });
}

/// The new name is in a new block of its directory. A rename waits until the file's data is on the
/// disk. In the meantime, another fiber writes the new block.
TEST_P(SoftUpdatesRules, R1ANameInAnUnreachableBlockDoesNotCountAsWritten) {
  os::Account account{.name = "bob"};
  m_.as_user([&] {
    // Returns a name that fills a chunk.
    const auto long_name = [](char of) { return "d/" + std::string(250, of); };
    EXPECT_TRUE(fs().mkdir("d", 0755));
    bench::put_file(fs(), long_name('1'), "");
    bench::put_file(fs(), long_name('2'), "");
    EXPECT_TRUE(fs().sync());
    bench::put_file(fs(), "a", "text");
    const InodeNumber a = number_of("a"), d = number_of("d");
    write_inodes_of(a);
    write_root();
    os::HeldBuffer data = m_.cache.cached(Volume::block_of(a, 0));
    ASSERT_TRUE(data.dirty());
    bool renamed = false;
    m_.executor.spawn(os::Executor::Kind::user, account, [&] {
      EXPECT_TRUE(fs().rename("a", long_name('n'), RenameMode::replace));
      renamed = true;
    });
    m_.executor.sleep_until(m_.executor.now() + model::kSecondNs);
    EXPECT_FALSE(renamed);
    write(volume().inodes.block_key(a));
    write(Volume::block_of(d, 0));
    m_.cache.release(std::move(data));
    while (!renamed) m_.executor.sleep_until(m_.executor.now() + model::kMillisecondNs);
    write_root();
    EXPECT_FALSE(shows("a"));
    EXPECT_TRUE(shows(long_name('n')));
    end();
  });
}

/// Releases blocks that were never written: blocks of a file, blocks of a directory, and blocks
/// below an indirect block. The indirect block is released in one case and kept in another.
TEST_P(SoftUpdatesRules, CancelledDependenciesAreFreedCompletely) {
  m_.as_user([&] {
    for (const char* path : {"b", "c"}) bench::put_file(fs(), path, std::string(14 * 4096, 'b'));
    EXPECT_TRUE(fs().sync());
    EXPECT_FALSE(volume().scheme->reclaim());
    bench::put_file(fs(), "a", std::string(20 * 4096, 'a'));
    const auto a = fs().open("a", {}), b = fs().open("b", {}), c = fs().open("c", {});
    for (const auto& file : {b, c}) EXPECT_TRUE(fs().append(*file, std::vector<std::byte>(4096)));
    EXPECT_TRUE(fs().mkdir("d", 0755));
    EXPECT_TRUE(fs().truncate(*a, 0) && fs().truncate(*b, 0) && fs().truncate(*c, 13 * 4096));
    EXPECT_TRUE(fs().rmdir("d"));
    EXPECT_TRUE(fs().sync());
    EXPECT_FALSE(volume().scheme->reclaim()) << "nothing is deferred";
    end();
  });
}

TEST_P(SoftUpdatesRules, AnUnwrittenEntryIsRemovedWithoutAWrite) {
  m_.as_user([&] {
    EXPECT_TRUE(fs().sync());
    bench::put_file(fs(), "a", "text");
    const InodeNumber number = number_of("a");
    EXPECT_TRUE(fs().unlink("a"));
    EXPECT_EQ(counters().cancelled_adds, 1U);
    write_inodes_of(number);
    write_root();
    EXPECT_FALSE(inode_on_disk(number).allocated());
    end();
  });
}

TEST_P(SoftUpdatesRules, PendingDependenciesAreBounded) {
  Mounted::Options options;
  options.syncer.policy = os::SyncerOptions::Policy::none;
  options.cache_bytes = 8 << 20;
  bench::Setup setup = bench::setup_named(GetParam());
  setup.mount.options.dependencies_max = 60;
  Mounted m(setup, options);
  m.mount();
  m.as_user([&] {
    const auto& scheme = dynamic_cast<const SoftUpdates&>(*m.file_system->volume().scheme);
    std::size_t most = 0;
    for (int i = 0; i < 300; ++i) {
      bench::put_file(*m.file_system, "f" + std::to_string(i), "");
      most = std::max(most, scheme.waiting());
    }
    for (int i = 0; i < 300; ++i) {
      EXPECT_TRUE(m.file_system->unlink("f" + std::to_string(i)));
      most = std::max(most, scheme.waiting());
    }
    EXPECT_LE(most, 64U);
    EXPECT_GT(most, 50U);
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

// --- after a failed write

TEST_P(SoftUpdatesRules, DependenciesSurviveAFailedWrite) {
  for (const auto leaves : {os::DiskFault::Leaves::nothing, os::DiskFault::Leaves::everything}) {
    m_.as_user([&] {
      const std::string name = leaves == os::DiskFault::Leaves::nothing ? "a" : "b";
      bench::put_file(fs(), name, "text");
      const InodeNumber number = number_of(name);
      fail_next_write_of(lba_of_inodes(number), leaves);
      write_inodes_of(number);
      m_.cache.drop_clean();  // blocks whose write has failed are not clean, so they stay
      write_root();
      EXPECT_FALSE(shows(name)) << "its inode may be missing";
      EXPECT_TRUE(fs().chmod(name, 0600));  // this leaves the contents of the block unchanged
      write_inodes_of(number);
      write_root();
      EXPECT_TRUE(shows(name));
      EXPECT_TRUE(fs().sync());
      expect_no(FindingKind::dangling_entry);
      m_.machine.faulty_disk.clear();
    });
  }
  m_.as_user([&] { end(); });
}

TEST_P(SoftUpdatesRules, AnEntryInAFailedWriteIsRemovedAsIfWritten) {
  m_.as_user([&] {
    bench::put_file(fs(), "a", "text");
    const InodeNumber number = number_of("a");
    write_inodes_of(number);
    fail_next_write_of(lba_of_root(), os::DiskFault::Leaves::everything);
    write_root();
    EXPECT_TRUE(shows("a")) << "on the disk, although the write failed";
    EXPECT_TRUE(fs().unlink("a"));
    m_.syncer.do_work(os::Syncer::Extent::everything);
    write_inodes_of(number);
    EXPECT_TRUE(inode_on_disk(number).allocated());
    expect_no(FindingKind::dangling_entry);
    write_root();
    EXPECT_FALSE(shows("a"));
    EXPECT_TRUE(fs().sync());
    EXPECT_FALSE(inode_on_disk(number).allocated());
    end();
  });
}

TEST_P(SoftUpdatesRules, ANameReplacedAfterAFailedWriteIsDroppedOnce) {
  m_.as_user([&] {
    bench::put_file(fs(), "a", "old.");
    bench::put_file(fs(), "b", "new.");
    write_inodes_of(number_of("a"));
    fail_next_write_of(lba_of_root(), os::DiskFault::Leaves::everything);
    write_root();
    EXPECT_TRUE(fs().rename("b", "a", RenameMode::replace));
    EXPECT_TRUE(fs().sync());
    EXPECT_EQ(bench::get_file(fs(), "a"), "new.");
    end();
  });
}

/// Checks every state of the disk that a power cut could leave.
TEST_P(SoftUpdatesRules, ADirectoryReplacedAfterAFailedWriteCountsUntilItsNameIsRemoved) {
  m_.as_user([&] {
    EXPECT_TRUE(fs().mkdir("a", 0755) && fs().mkdir("b", 0755));
    for (const char* name : {"a", "b"}) write(Volume::block_of(number_of(name), 0));
    write_inodes_of(number_of("a"));
    fail_next_write_of(lba_of_root(), os::DiskFault::Leaves::everything);
    write_root();
    EXPECT_TRUE(shows("a"));
    const auto image = bench::copy_of(*m_.store);
    m_.log.keep = true;
    EXPECT_TRUE(fs().rename("b", "a", RenameMode::replace));
    EXPECT_TRUE(fs().sync());
    m_.log.keep = false;
    expect_permitted_after_each_write(*image);
    end();
  });
}

/// While the rename is waiting, an fsync of another file in the directory writes the parent's
/// inode.
TEST_P(SoftUpdatesRules, AParentCountsADirectoryReplacedAfterAFailedWriteUntilItsNameIsRemoved) {
  os::Account account{.name = "bob"};
  m_.as_user([&] {
    EXPECT_TRUE(fs().mkdir("b", 0755) && fs().sync() && fs().mkdir("a", 0755));
    bench::put_file(fs(), "c", "text");
    bench::put_file(fs(), "b/f", "text");
    const auto file = fs().open("c", {});
    write(Volume::block_of(number_of("a"), 0));
    write_inodes_of(number_of("a"));
    fail_next_write_of(lba_of_root(), os::DiskFault::Leaves::everything);
    write_root();
    EXPECT_TRUE(shows("a") && shows("b"));
    os::HeldBuffer held = m_.cache.cached(Volume::block_of(number_of("b"), 0));
    ASSERT_TRUE(held.dirty());
    bool renamed = false;
    m_.executor.spawn(os::Executor::Kind::user, account, [&] {
      EXPECT_TRUE(fs().rename("b", "a", RenameMode::replace));
      renamed = true;
    });
    m_.executor.sleep_until(m_.executor.now() + model::kSecondNs);
    EXPECT_FALSE(renamed);
    const auto image = bench::copy_of(*m_.store);
    m_.log.keep = true;
    EXPECT_TRUE(fs().fsync(*file));
    m_.cache.release(std::move(held));
    while (!renamed) m_.executor.sleep_until(m_.executor.now() + model::kMillisecondNs);
    m_.log.keep = false;
    expect_permitted_after_each_write(*image);
    end();
  });
}

/// A failed write has left the entry of `a` on the disk. `a` is then removed in memory. The entry
/// of `b` takes the place of the entry of `a`, and is removed before it has been written.
TEST_P(SoftUpdatesRules, AnEntryThatReusesASlotOfAFailedWriteIsNotDeferredForever) {
  m_.as_user([&] {
    bench::put_file(fs(), "a", "text");
    write_inodes_of(number_of("a"));
    fail_next_write_of(lba_of_root(), os::DiskFault::Leaves::everything);
    write_root();
    EXPECT_TRUE(fs().unlink("a"));
    bench::put_file(fs(), "b", "text");
    EXPECT_TRUE(fs().unlink("b"));
    write_root();
    m_.syncer.do_work(os::Syncer::Extent::everything);
    EXPECT_TRUE(fs().sync());
    EXPECT_FALSE(m_.cache.any_dirty());
    end();
  });
}

TEST_P(SoftUpdatesRules, PointersAndFreedBlocksSurviveAFailedWrite) {
  m_.as_user([&] {
    bench::put_file(fs(), "a", std::string(20000, 'a'));
    EXPECT_TRUE(fs().sync());
    const InodeNumber number = number_of("a");
    const std::uint64_t free = volume().allocator.free_fragments();
    const auto file = fs().open("a", {});
    EXPECT_TRUE(fs().truncate(*file, 0));
    EXPECT_TRUE(fs().append(*file, std::vector<std::byte>(9000, std::byte{'b'})));
    fail_next_write_of(lba_of_inodes(number), os::DiskFault::Leaves::nothing);
    write_inodes_of(number);
    m_.syncer.do_work(os::Syncer::Extent::everything);
    EXPECT_EQ(volume().allocator.free_fragments(), free - 9)
        << "the disk still points to the old blocks";
    EXPECT_TRUE(fs().sync());
    EXPECT_EQ(volume().allocator.free_fragments(), free + 20 - 9);
    EXPECT_EQ(inode_on_disk(number).size_bytes, 9000U);
    end();
  });
}

}  // namespace
}  // namespace headcrash::ufs
