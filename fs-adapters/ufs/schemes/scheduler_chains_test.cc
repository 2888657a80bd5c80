// Tests, rule by rule, which earlier requests a request names (scheduler_chains.h).
#include "fs-adapters/ufs/schemes/scheduler_chains.h"

#include "fs-adapters/ufs/format/image_reader.h"
#include "fs-adapters/ufs/testing/mounted.h"

namespace headcrash::ufs {
namespace {

using bench::Mounted;

class Chains final : public os::DiskTracer {
 public:
  struct Request {
    os::RequestId id = 0;
    std::uint64_t lba = 0;
    std::vector<os::RequestId> after;
    bool barrier = false;
  };
  void issued(os::RequestId id, const os::BlockRequest& request,
              const os::Ordering& ordering) override {
    if (request.op != model::Op::write) return;
    requests_.push_back(
        {id, request.lba, {ordering.after.begin(), ordering.after.end()}, ordering.barrier});
  }
  void completed(const os::DiskTrace& request) override {
    if (request.status == model::Status::ok) arrived.push_back(request.lba);
  }
  /// Returns write number `number` (counted from 0) of those that begin at `lba`.
  Request nth(std::uint64_t lba, std::size_t number) const {
    for (const Request& one : requests_)
      if (one.lba == lba && number-- == 0) return one;
    ADD_FAILURE() << "no such write of sector " << lba;
    return {};
  }
  Request last(std::uint64_t lba) const {
    for (auto one = requests_.rbegin(); one != requests_.rend(); ++one)
      if (one->lba == lba) return *one;
    ADD_FAILURE() << "no write of sector " << lba;
    return {};
  }
  void clear() { requests_.clear(); }

  std::vector<std::uint64_t> arrived;

 private:
  std::vector<Request> requests_;
};

bool follows(const Chains::Request& later, const Chains::Request& earlier) {
  return std::ranges::find(later.after, earlier.id) != later.after.end();
}

struct ChainsWorld {
  explicit ChainsWorld(std::string_view scheme = "chains-cb")
      : ChainsWorld(bench::setup_named(scheme)) {}
  explicit ChainsWorld(const bench::Setup& setup)
      : m(setup, {.mkfs = {.block_bytes = 4096,
                           .fragment_bytes = 1024,
                           .bytes_per_inode = 4096,
                           .group_bytes = 1 << 20,
                           .reserve_percent = 0},
                  .cache_bytes = 32 << 20,
                  .syncer = {.policy = os::SyncerOptions::Policy::none}}) {
    m.mount();
    m.queue.trace(&chains);
  }
  ~ChainsWorld() { m.queue.trace(nullptr); }
  FileSystem& fs() { return *m.file_system; }
  Volume& volume() { return fs().volume(); }
  InodeNumber number_of(const std::string& path) {
    return static_cast<InodeNumber>(fs().stat(path)->inode);
  }
  std::uint64_t inode_lba(InodeNumber number) {
    return volume().lba(static_cast<FragmentAddress>(volume().inodes.block_key(number).block));
  }
  std::uint64_t block_lba(InodeNumber number, std::int64_t block = 0) {
    return m.cache.cached(Volume::block_of(number, block)).lba();
  }
  void write(InodeNumber number, std::int64_t block = 0) {
    m.cache.write_behind(Volume::block_of(number, block));
  }

  Mounted m;
  Chains chains;
};

TEST(SchedulerChains, R3AnEntryFollowsItsInode) {
  ChainsWorld w;
  w.m.as_user([&] {
    bench::put_file(w.fs(), "a", "text");
    w.write(kRootInode);
    EXPECT_TRUE(follows(w.chains.last(w.block_lba(kRootInode)),
                        w.chains.last(w.inode_lba(w.number_of("a")))));
  });
}

TEST(SchedulerChains, R3ANewDirectoryFollowsItsBlockAndItsNameFollowsBothInodes) {
  ChainsWorld w;
  w.m.as_user([&] {
    EXPECT_TRUE(w.fs().mkdir("d", 0755));
    const InodeNumber d = w.number_of("d");
    w.write(kRootInode);
    EXPECT_TRUE(follows(w.chains.nth(w.inode_lba(d), 0), w.chains.last(w.block_lba(d))));
    EXPECT_NE(w.inode_lba(d), w.inode_lba(kRootInode)) << "directories spread over the groups";
    const auto entry = w.chains.last(w.block_lba(kRootInode));
    EXPECT_TRUE(follows(entry, w.chains.nth(w.inode_lba(d), 0)));
    EXPECT_TRUE(follows(entry, w.chains.last(w.inode_lba(kRootInode))));
  });
}

TEST(SchedulerChains, R3WithInitializationAPointerFollowsTheZeroes) {
  ChainsWorld w("chains-cb-init");
  w.m.as_user([&] {
    bench::put_file(w.fs(), "a", "");
    EXPECT_TRUE(w.fs().sync());
    const InodeNumber a = w.number_of("a");
    const auto file = w.fs().open("a", {});
    EXPECT_TRUE(w.fs().append(*file, std::vector<std::byte>(1000, std::byte{'a'})));
    EXPECT_TRUE(w.volume().inodes.write_all_delayed());
    w.m.cache.write_behind(w.volume().inodes.block_key(a));
    EXPECT_TRUE(follows(w.chains.last(w.inode_lba(a)), w.chains.nth(w.block_lba(a), 0)));
  });
}

TEST(SchedulerChains, R2AClearedInodeFollowsTheRemovalOfItsEntry) {
  ChainsWorld w;
  w.m.as_user([&] {
    bench::put_file(w.fs(), "a", "text");
    EXPECT_TRUE(w.fs().sync());
    const std::uint64_t inode = w.inode_lba(w.number_of("a"));
    EXPECT_TRUE(w.fs().unlink("a"));
    EXPECT_TRUE(follows(w.chains.last(inode), w.chains.last(w.block_lba(kRootInode))));
  });
}

TEST(SchedulerChains, R1OldNameRemovalFollowsTheNewNameAndLinkCountFollowsBoth) {
  ChainsWorld w;
  w.m.as_user([&] {
    EXPECT_TRUE(w.fs().mkdir("d", 0755));
    bench::put_file(w.fs(), "a", "text");
    EXPECT_TRUE(w.fs().sync());
    const InodeNumber a = w.number_of("a");
    w.chains.clear();
    EXPECT_TRUE(w.fs().rename("a", "d/b", RenameMode::replace));
    const auto added = w.chains.last(w.block_lba(w.number_of("d")));
    const auto removed = w.chains.last(w.block_lba(kRootInode));
    EXPECT_TRUE(follows(added, w.chains.nth(w.inode_lba(a), 0))) << "the count rises first";
    EXPECT_TRUE(follows(removed, added));
    EXPECT_TRUE(w.volume().inodes.write_all_delayed());
    w.m.cache.write_behind(w.volume().inodes.block_key(a));
    EXPECT_TRUE(follows(w.chains.last(w.inode_lba(a)), removed));
  });
}

TEST(SchedulerChains, R1ADirectoryRemovalFollowsNamesThatMovedOut) {
  ChainsWorld w;
  w.m.as_user([&] {
    EXPECT_TRUE(w.fs().mkdir("d", 0755));
    bench::put_file(w.fs(), "d/a", "text");
    EXPECT_TRUE(w.fs().sync());
    const std::uint64_t in_d = w.block_lba(w.number_of("d"));
    EXPECT_TRUE(w.fs().rename("d/a", "a", RenameMode::replace));
    EXPECT_TRUE(w.fs().rmdir("d"));
    EXPECT_TRUE(follows(w.chains.last(w.block_lba(kRootInode)), w.chains.last(in_d)));
  });
}

/// Until the old name is removed, a repair may choose either name, so the fsync must wait for the
/// removal. In this test, the two names are in different blocks. It does not suffice that the fsync
/// waits for its other writes (the "..", the parent's link count and the directory's inode),
/// because none of these is ordered after the writes of both names.
TEST(SchedulerChains, FsyncBelowAMovedDirectoryWaitsForTheOldName) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    bench::Setup setup = bench::setup_named("chains-cb");
    setup.queue.schedule = os::Schedule::shuffled;
    setup.queue.seed = seed;
    ChainsWorld w(setup);
    w.m.as_user([&] {
      const auto long_name = [](char of) {
        return "p/" + std::string(250, of);
      };  // so that the name fills a chunk
      EXPECT_TRUE(w.fs().mkdir("p", 0755) && w.fs().mkdir("p/d", 0755));
      bench::put_file(w.fs(), "f", "text");
      EXPECT_TRUE(w.fs().rename("f", "p/d/f", RenameMode::replace));
      for (char of = '1'; of <= '9'; ++of) bench::put_file(w.fs(), long_name(of), "");
      EXPECT_TRUE(w.fs().sync());
      EXPECT_TRUE(w.fs().rename("p/d", long_name('d'), RenameMode::replace));
      const auto file = w.fs().open(long_name('d') + "/f", {});
      ASSERT_TRUE(file);
      EXPECT_TRUE(w.fs().fsync(*file));
      const auto reader = ImageReader::open(*w.m.store);
      ASSERT_TRUE(reader);
      EXPECT_TRUE(reader->lookup(long_name('d') + "/f"));
      EXPECT_FALSE(reader->lookup("p/d")) << "seed " << seed;
    });
  }
}

TEST(SchedulerChains, R2WritesToReusedSpaceFollowTheOldOwner) {
  ChainsWorld w;
  w.m.as_user([&] {
    bench::put_file(w.fs(), "a", std::string(4096, 'a'));
    for (int i = 0; w.volume().allocator.available_fragments() >= 8; ++i)
      bench::put_file(w.fs(), "f" + std::to_string(i), std::string(4096, 'f'));
    EXPECT_TRUE(w.fs().sync());
    const InodeNumber a = w.number_of("a");
    const std::uint64_t place = w.block_lba(a);
    EXPECT_TRUE(w.fs().unlink("a"));
    const auto cleared = w.chains.last(w.inode_lba(a));
    EXPECT_FALSE(cleared.barrier);
    w.chains.clear();
    bench::put_file(w.fs(), "b", std::string(4096, 'b'));
    EXPECT_EQ(w.number_of("b"), a);
    EXPECT_TRUE(follows(w.chains.nth(w.inode_lba(a), 0), cleared)) << "the inode";
    InodeNumber owner = w.number_of("b");
    if (w.block_lba(owner) != place) {  // the file has been given a different block
      bench::put_file(w.fs(), "c", std::string(4096, 'c'));
      owner = w.number_of("c");
    }
    ASSERT_EQ(w.block_lba(owner), place);
    w.write(owner);
    EXPECT_TRUE(follows(w.chains.last(place), cleared)) << "the block";
    EXPECT_TRUE(w.volume().inodes.write_all_delayed());
    w.m.cache.write_behind(w.volume().inodes.block_key(owner));
    EXPECT_TRUE(follows(w.chains.last(w.inode_lba(owner)), cleared)) << "the pointer";
  });
}

TEST(SchedulerChains, R2TheWriteOfAClearedInodeIsABarrier) {
  ChainsWorld w("chains-barrier-cb");
  w.m.as_user([&] {
    bench::put_file(w.fs(), "a", std::string(4096, 'a'));
    EXPECT_TRUE(w.fs().sync());
    const std::uint64_t inode = w.inode_lba(w.number_of("a"));
    EXPECT_TRUE(w.fs().unlink("a"));
    EXPECT_TRUE(w.chains.last(inode).barrier);
  });
}

/// The driver forgets every completed request, even a failed one. It therefore cannot hold back
/// requests that depend on a failed request, and no more requests may be issued after a failure.
TEST(SchedulerChains, NothingDependentIsWrittenAfterAFailedWrite) {
  for (const bool issued_before : {false, true}) {
    ChainsWorld w;
    w.m.as_user([&] {
      bench::put_file(w.fs(), "a", "text");
      EXPECT_TRUE(w.fs().sync());
      const InodeNumber a = w.number_of("a");
      const std::uint64_t root = w.block_lba(kRootInode);
      w.m.machine.faulty_disk.add({.sectors = {w.inode_lba(a), w.inode_lba(a) + 8}});
      bench::put_file(w.fs(), "b", "text");
      w.chains.arrived.clear();
      if (issued_before) w.write(kRootInode);
      w.m.queue.drain();
      EXPECT_TRUE(w.volume().stopped());
      for (int visit = 0; visit < 3; ++visit) w.m.cache.sweep(0, 1);
      (void)w.fs().unlink("a");
      w.m.queue.drain();
      EXPECT_EQ(std::ranges::count(w.chains.arrived, root), 0) << "a name without its inode";
      const auto reader = ImageReader::open(*w.m.store);
      EXPECT_TRUE(reader->lookup("a"));
      EXPECT_FALSE(reader->lookup("b"));
    });
  }
}

/// The new pointer depends on the data of a moved fragment. The write of this data has failed, so
/// the pointer must not be written.
TEST(SchedulerChains, AFailedWriteOfMovedDataHoldsBackThePointer) {
  ChainsWorld w("chains");
  w.m.as_user([&] {
    bench::put_file(w.fs(), "a", std::string(1000, 'a'));
    bench::put_file(w.fs(), "b", std::string(1000, 'b'));
    EXPECT_TRUE(w.fs().sync());
    const InodeNumber a = w.number_of("a");
    const std::uint64_t old = w.block_lba(a);
    const Geometry& geometry = w.volume().geometry;
    w.m.machine.faulty_disk.add({.sectors = {geometry.lba_of(geometry.data_start(0))}});
    const auto file = w.fs().open("a", {});
    (void)w.fs().append(*file, std::vector<std::byte>(3000, std::byte{'c'}));
    w.m.queue.drain();
    EXPECT_TRUE(w.volume().stopped());
    (void)w.fs().sync();
    const auto reader = ImageReader::open(*w.m.store);
    EXPECT_EQ(geometry.lba_of(reader->inode(a)->direct[0]), old);
  });
}

}  // namespace
}  // namespace headcrash::ufs
