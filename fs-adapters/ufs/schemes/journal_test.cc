// Tests the journal of a mounted file system: when commits occur, which writes are permitted, and
// how the space in the ring is managed.

#include "fs-adapters/ufs/schemes/journal.h"

#include <cerrno>
#include <optional>
#include <random>
#include <set>

#include "fs-adapters/ufs/schemes/journal_replay.h"
#include "fs-adapters/ufs/testing/journal.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

using bench::copy_of;
using bench::counters;
using bench::Mounted;
using bench::replayed;
using bench::Setup;
using Commit = JournalOptions::Commit;

Setup journalled(const JournalOptions& options = {}) {
  return bench::journal_setup(options);
}

void wait(Mounted& m, double seconds) {
  m.executor.sleep_until(m.executor.now() + static_cast<os::TimeNs>(seconds * model::kSecondNs));
}

TEST(JournalCommits, AreGroupedOrPerOperation) {
  for (const Commit commit : {Commit::grouped, Commit::synchronous}) {
    Mounted m(journalled({.commit = commit}));
    m.mount();
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      for (int i = 0; i < 10; ++i) bench::put_file(fs, "f" + std::to_string(i), "text");
      EXPECT_EQ(counters(m).commits, commit == Commit::grouped ? 0U : 10U);
      EXPECT_TRUE(fs.rename("f1", "g1", RenameMode::replace));
      EXPECT_TRUE(fs.unlink("f2"));
      EXPECT_EQ(counters(m).commits, commit == Commit::grouped ? 0U : 12U);
      auto image = copy_of(*m.store);
      EXPECT_EQ(replayed(image).lookup("g1").has_value(), commit == Commit::synchronous);
      wait(m, 7);
      image = copy_of(*m.store);
      const ImageReader later = replayed(image);
      EXPECT_TRUE(later.lookup("g1"));
      EXPECT_FALSE(later.lookup("f2"));
    });
    m.unmount();
    bench::expect_clean(*m.store);
  }
}

TEST(JournalCommits, PrecedeAllWritesInPlace) {
  Mounted m(journalled({.interval_ns = 1000 * model::kSecondNs}), {.cache_bytes = 128 << 10});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    for (int i = 0; i < 8; ++i)
      bench::put_file(fs, "f" + std::to_string(i), std::string(9000, 'x'));
    wait(m, 100);  // time for sweeps, and for writes that occur because the cache is too small
    EXPECT_EQ(counters(m).commits, 0U);
    const auto raw = ImageReader::open(*m.store);
    ASSERT_TRUE(raw);
    EXPECT_FALSE(raw->lookup("f0"));
    const auto file = fs.open("f7", {});
    EXPECT_TRUE(file && fs.fsync(*file));
    EXPECT_EQ(counters(m).commits, 1U);
    EXPECT_FALSE(ImageReader::open(*m.store)->lookup("f0")) << "in the journal only";
    wait(m, 100);
    EXPECT_TRUE(ImageReader::open(*m.store)->lookup("f0")) << "the sweep has written it in place";
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

/// Runs one of several users. Some of them commit while others are in the middle of an operation.
void run_concurrent_user(Vfs& fs, std::uint32_t seed, int steps) {
  std::mt19937 random(seed);
  const auto path = [&] {
    std::string name = "n" + std::to_string(random() % 5);
    if (random() % 2 == 0) name += "/m" + std::to_string(random() % 4);
    return name;
  };
  for (int i = 0; i < steps; ++i) {
    switch (random() % 8) {
      case 0:
      case 1:
        if (const auto file = fs.open(path(), {.create = true})) {
          (void)fs.append(*file, bench::bytes_of(std::string(random() % 9'000, 'q')));
          if (random() % 3 == 0) (void)fs.fsync(*file);
          if (random() % 4 == 0) (void)fs.truncate(*file, random() % 9'000);
          (void)fs.close(*file);
        }
        break;
      case 2:
        (void)fs.mkdir(path(), 0755);
        break;
      case 3:
        (void)fs.unlink(path());
        break;
      case 4:
        (void)fs.rmdir(path());
        break;
      case 5:
      case 6:
        (void)fs.rename(path(), path(),
                        random() % 3 == 0 ? RenameMode::exchange : RenameMode::replace);
        break;
      default:
        (void)fs.link(path(), path());
        break;
    }
  }
}

TEST(JournalCommits, ContainOnlyWholeOperationsOfAllUsers) {
  for (const Commit commit : {Commit::grouped, Commit::synchronous}) {
    auto setup = journalled({.commit = commit});
    setup.block_copy = commit == Commit::synchronous;  // so that the test runs with and without -CB
    Mounted m(setup, {.device_bytes = 2 << 20, .cache_bytes = 64 << 10});
    m.mount();
    std::vector<std::unique_ptr<os::Account>> accounts;
    int living = 0;
    for (std::uint32_t user = 0; user < 4; ++user) {
      accounts.push_back(std::make_unique<os::Account>());
      ++living;
      m.executor.spawn(os::Executor::Kind::user, *accounts.back(), [&, user] {
        run_concurrent_user(*m.file_system, 70 + user, 300);
        --living;
      });
    }
    int states = 0;
    Fsck fsck;
    m.as_user([&] {
      for (; living > 0 && !HasFailure(); ++states) {
        m.executor.sleep_until(m.executor.now() + model::kMillisecondNs);
        const auto seen = fsck.check(*m.store);
        EXPECT_TRUE(seen && seen->nothing_found())
            << "state " << states << ": "
            << (seen ? bench::findings_of(*seen) : seen.error().message());
      }
    });
    EXPECT_GT(states, 50);
    m.unmount();
    bench::expect_clean(*m.store);
  }
}

TEST(JournalCommits, FollowWritesOfDataInNewBlocks) {
  for (const auto contents : {JournalOptions::Contents::metadata, JournalOptions::Contents::data}) {
    Mounted m(journalled({.contents = contents}),
              {.syncer = {.policy = os::SyncerOptions::Policy::none}});
    m.mount();
    m.as_user([&] {
      bench::put_file(*m.file_system, "file", std::string(50'000, 'd'));
      const auto other = m.file_system->open("other", {.create = true});
      EXPECT_TRUE(other && m.file_system->fsync(*other));
      auto image = copy_of(*m.store);
      const ImageReader reader = replayed(image);
      const auto inode = reader.lookup("file");
      ASSERT_TRUE(inode);
      std::string text(50'000, '?');
      EXPECT_TRUE(reader.read(*inode, 0, std::as_writable_bytes(std::span(text))));
      EXPECT_TRUE(text == std::string(50'000, 'd'));
    });
    m.unmount();
    bench::expect_clean(*m.store);
  }
}

/// A block of a directory is freed and becomes a block of a file. Without the revoke, a replay
/// would restore the directory's contents.
TEST(JournalRevokes, PreventReplayOfOldMetadata) {
  Mounted m(journalled({.interval_ns = 1000 * model::kSecondNs}),
            {.device_bytes = 2 << 20, .syncer = {.policy = os::SyncerOptions::Policy::none}});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const auto commit = [&](const char* name) {
      const auto file = fs.open(name, {.create = true});
      EXPECT_TRUE(file && fs.fsync(*file) && fs.close(*file));
    };
    for (int i = 0; i < 12; ++i) EXPECT_TRUE(fs.mkdir("d" + std::to_string(i), 0755));
    commit("one");
    for (int i = 0; i < 12; ++i) EXPECT_TRUE(fs.rmdir("d" + std::to_string(i)));
    commit("two");
    EXPECT_GT(counters(m).revoked, 0U);
    // Uses all free space, up to the last block.
    std::string kept;
    for (int i = 0; fs.space()->free_bytes > 40'000; ++i) {
      kept = std::string(30'000, static_cast<char>('a' + i % 26));
      bench::put_file(fs, "big" + std::to_string(i), kept);
    }
    for (int i = 0; i < 12; ++i)
      bench::put_file(fs, "small" + std::to_string(i), std::string(1000, 's'));
    commit("three");
    EXPECT_EQ(counters(m).tail_writes, 0U) << "the directories' images are still in the ring";
    auto image = copy_of(*m.store);
    const ImageReader reader = replayed(image);
    EXPECT_TRUE(reader.walk([&](const ImageReader::Found& found) {
      if (!found.inode.is_regular() || found.inode.size_bytes == 0) return;
      std::string text(found.inode.size_bytes, '?');
      EXPECT_TRUE(reader.read(found.number, 0, std::as_writable_bytes(std::span(text))));
      EXPECT_TRUE(text == std::string(text.size(), text[0]) && text[0] >= 'a') << found.path;
    }));
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

TEST(JournalFrees, AreReusedOnlyAfterTheirCommit) {
  Mounted m(journalled({.interval_ns = 1000 * model::kSecondNs}));
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    bench::put_file(fs, "old", std::string(40'000, 'o'));
    EXPECT_TRUE(fs.sync());
    const auto blocks = [&](const model::SectorStore& store, const char* name) {
      const auto reader = ImageReader::open(store);
      std::set<FragmentAddress> found;
      const auto inode = reader->inode(*reader->lookup(name));
      for (const FragmentAddress at : inode->direct) found.insert(at);
      return found;
    };
    const auto before = blocks(*m.store, "old");
    EXPECT_TRUE(fs.unlink("old"));
    // The unlink is not committed yet, so a replay could restore the old file. The new file must
    // therefore not get the old file's blocks.
    const auto file = fs.open("new", {.create = true});
    ASSERT_TRUE(file);
    EXPECT_TRUE(fs.pwrite(*file, 0, bench::bytes_of(std::string(40'000, 'n'))));
    EXPECT_TRUE(fs.fsync(*file));
    auto image = copy_of(*m.store);
    (void)replayed(image);
    for (const FragmentAddress at : blocks(*image, "new"))
      EXPECT_FALSE(at != 0 && before.contains(at)) << at;
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

TEST(JournalFrees, AreAwaitedIfThereIsNoOtherFreeSpace) {
  Mounted m(journalled({.interval_ns = 1000 * model::kSecondNs}), {.device_bytes = 2 << 20});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const std::string big(900'000, 'b');
    for (int i = 0; i < 5; ++i) {
      bench::put_file(fs, "big", big);
      EXPECT_EQ(bench::get_file(fs, "big").size(), big.size());
      EXPECT_TRUE(fs.unlink("big"));
    }
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

/// Writes far more transactions than fit in the ring. The power fails during one of the last ones.
TEST(JournalRing, WrapsAroundManyTimes) {
  for (const Commit commit : {Commit::synchronous, Commit::grouped}) {
    Mounted m(journalled({.commit = commit}), {.device_bytes = 4 << 20});
    m.mount();
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      const std::uint64_t ring = m.file_system->volume().super.journal.fragments - 1;
      for (int i = 0; counters(m).log_fragments < 6 * ring && i < 5000; ++i) {
        const std::string name = "f" + std::to_string(i % 50);
        if (fs.stat(name)) {
          EXPECT_TRUE(fs.unlink(name));
        }
        bench::put_file(fs, name, std::string(static_cast<std::size_t>(i % 7) * 900, 'x'));
        if (i % 20 == 0) {
          const auto file = fs.open(name, {});
          EXPECT_TRUE(file && fs.fsync(*file) && fs.close(*file));
        }
        if (i % 97 == 0) {
          auto image = copy_of(*m.store);
          (void)replayed(image);
        }
        ASSERT_FALSE(testing::Test::HasFailure()) << i;
      }
      EXPECT_GE(counters(m).log_fragments, 6 * ring);
      EXPECT_GT(counters(m).tail_writes, 3U);
    });
    m.unmount();
    bench::expect_clean(*m.store);
  }
}

/// The sweep can never write a block that keeps changing, so the block's image is written in place
/// instead.
TEST(JournalRing, IsNotBlockedByAConstantlyChangingBlock) {
  Mounted m(journalled({.commit = Commit::synchronous}),
            {.device_bytes = 4 << 20, .syncer = {.policy = os::SyncerOptions::Policy::none}});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    for (int i = 0; i < 400; ++i) {
      bench::put_file(fs, "hot", "x");
      EXPECT_TRUE(fs.chmod("hot", 0600U + static_cast<std::uint32_t>(i % 2)));
      EXPECT_TRUE(fs.unlink("hot"));
      if (i % 10 == 0) {
        EXPECT_TRUE(fs.mkdir("d" + std::to_string(i), 0755));
      }
    }
    EXPECT_GT(counters(m).tail_writes, 2U);
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

TEST(JournalRoom, ALongFileIsTruncatedInOneTransaction) {
  const MkfsOptions mkfs{.block_bytes = 4096,
                         .fragment_bytes = 1024,
                         .bytes_per_inode = 65536,
                         .group_bytes = 4 << 20};
  Mounted m(journalled(), {.device_bytes = 48 << 20, .mkfs = mkfs, .cache_bytes = 2 << 20});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const auto file = fs.open("long", {.create = true});
    ASSERT_TRUE(file);
    const std::string part(1 << 20, 'l');
    for (std::uint64_t i = 0; i < 30; ++i)
      EXPECT_TRUE(fs.pwrite(*file, i << 20, bench::bytes_of(part)));
    EXPECT_TRUE(fs.sync());
    const std::uint64_t before = counters(m).commits;
    EXPECT_TRUE(fs.truncate(*file, 5'000'000));
    EXPECT_TRUE(fs.fsync(*file));
    EXPECT_EQ(counters(m).commits, before + 1);
    auto image = copy_of(*m.store);
    const ImageReader reader = replayed(image);
    EXPECT_EQ(reader.inode(*reader.lookup("long"))->size_bytes, 5'000'000U);
    EXPECT_TRUE(fs.close(*file));
    EXPECT_TRUE(fs.unlink("long"));
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

/// Tests a write that needs more new indirect blocks than fit in a transaction.
TEST(JournalRoom, RejectsAndUndoesAWriteThatDoesNotFit) {
  const MkfsOptions mkfs{.block_bytes = 4096,
                         .fragment_bytes = 512,
                         .bytes_per_inode = 262144,
                         .journal_bytes = (4 * (16 + 18) + 1) * 4096};
  Mounted m(journalled(), {.device_bytes = 256 << 20, .mkfs = mkfs, .cache_bytes = 2 << 20});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const std::uint64_t free = fs.space()->free_bytes;
    const auto file = fs.open("long", {.create = true});
    ASSERT_TRUE(file);
    EXPECT_EQ(fs.fallocate(*file, FallocateMode::allocate, 0, 100 << 20).error().value, EFBIG);
    EXPECT_EQ(fs.stat("long")->size_bytes, 0U);
    EXPECT_TRUE(fs.fallocate(*file, FallocateMode::allocate, 0, 40 << 20));
    EXPECT_TRUE(fs.truncate(*file, 0));
    EXPECT_TRUE(fs.sync());
    EXPECT_EQ(fs.space()->free_bytes, free);
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

/// Returns a letter for a request to the driver: w for a write to the ring, c for a commit record,
/// f for a flush, d for a write of data, and a blank for all others.
char letter_of(const Superblock& super, const os::BlockRequest& request) {
  if (request.op == model::Op::flush) return 'f';
  if (request.op != model::Op::write) return ' ';
  const auto at = static_cast<FragmentAddress>(request.lba * kSectorBytes / super.fragment_bytes);
  const bool ring = at > super.journal.at && at < super.journal.at + super.journal.fragments;
  return !ring ? 'd' : load32(request.data, 0) == 0x434a4348 ? 'c' : 'w';
}

class Letters final : public os::DiskTracer {
 public:
  explicit Letters(const Superblock& super) : super_(super) {}
  void issued(os::RequestId, const os::BlockRequest& request, const os::Ordering&) override {
    if (const char letter = letter_of(super_, request); letter != ' ') letters += letter;
  }
  void completed(const os::DiskTrace&) override {}
  std::string letters;

 private:
  const Superblock& super_;
};

TEST(JournalFlushes, PrecedeAndFollowACommitRecord) {
  for (const bool flushes : {false, true}) {
    Mounted m(journalled({.flushes = flushes}));
    m.mount();
    Letters letters(m.file_system->volume().super);
    m.as_user([&] {
      const auto file = m.file_system->open("f", {.create = true});
      ASSERT_TRUE(file);
      EXPECT_TRUE(m.file_system->pwrite(*file, 0, bench::bytes_of("text")));
      m.queue.trace(&letters);
      EXPECT_TRUE(m.file_system->fsync(*file));
      m.queue.trace(nullptr);
    });
    EXPECT_EQ(letters.letters, flushes ? "dfwfcf" : "dwc");
    m.unmount();
  }
}

/// Finds data writes of the first transaction that were still in flight when its commit record was
/// issued.
class DataBehindTheRecord final : public os::DiskTracer {
 public:
  explicit DataBehindTheRecord(const Superblock& super) : super_(super) {}
  void issued(os::RequestId id, const os::BlockRequest& request, const os::Ordering&) override {
    const char letter = letter_of(super_, request);
    transaction_ = transaction_ || letter == 'w';
    if (letter == 'd' && !transaction_) ordered_.insert(id);
    if (letter == 'c' && !at_record) at_record = ordered_.size();
  }
  void completed(const os::DiskTrace& request) override { ordered_.erase(request.id); }
  std::optional<std::size_t> at_record;

 private:
  const Superblock& super_;
  std::set<os::RequestId> ordered_;
  bool transaction_ = false;
};

/// While a commit waits for the data of some blocks, the next transaction frees these blocks and
/// writes new ones under the same keys. The cache knows only the newest write of each block, so the
/// commit must itself remember the writes for which it waits.
TEST(JournalCommits, WaitForDataOfConcurrentlyFreedBlocks) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    auto setup = journalled({.interval_ns = 1000 * model::kSecondNs});
    setup.queue = {.schedule = os::Schedule::shuffled, .seed = seed, .concatenated_sectors = 8};
    Mounted m(setup, {.syncer = {.policy = os::SyncerOptions::Policy::none}});
    m.mount();
    DataBehindTheRecord data(m.file_system->volume().super);
    os::Account others;
    bool written = false;
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      bench::put_file(fs, "file", std::string(100'000, 'o'));
      const auto file = fs.open("file", {});
      const auto other = fs.open("other", {.create = true});
      ASSERT_TRUE(file && other);
      m.queue.trace(&data);
      m.executor.spawn(os::Executor::Kind::user, others, [&] {
        while (counters(m).ordered_writes == 0) m.executor.sleep_until(m.executor.now() + 1'000);
        EXPECT_TRUE(fs.truncate(*file, 0));
        EXPECT_TRUE(fs.pwrite(*file, 0, bench::bytes_of(std::string(100'000, 'n'))));
        EXPECT_FALSE(data.at_record);
        EXPECT_TRUE(fs.fsync(*file));
        written = true;
      });
      EXPECT_TRUE(fs.fsync(*other));
      EXPECT_EQ(data.at_record, 0U) << "seed " << seed;
      while (!written) m.executor.sleep_until(m.executor.now() + model::kMillisecondNs);
      m.queue.trace(nullptr);
    });
    m.unmount();
    bench::expect_clean(*m.store);
  }
}

TEST(JournalErrors, StopAllFurtherWrites) {
  Mounted m(journalled());
  m.mount();
  m.as_user([&] {
    bench::put_file(*m.file_system, "f", "text");
    EXPECT_TRUE(m.file_system->sync());
    m.machine.disk.power_cut();
    const auto file = m.file_system->open("g", {.create = true});
    ASSERT_TRUE(file);
    EXPECT_EQ(m.file_system->fsync(*file).error().value, EIO);
    m.machine.disk.power_on();
    EXPECT_EQ(m.file_system->mkdir("d", 0755).error().value, EIO);
    EXPECT_EQ(m.file_system->sync().error().value, EIO);
    EXPECT_EQ(bench::get_file(*m.file_system, "f"), "text");
  });
  auto image = copy_of(*m.store);
  EXPECT_TRUE(replayed(image).lookup("f"));
}

TEST(JournalRing, RejectsARingTooShortForItsGroups) {
  auto store = *media::MemoryStore::create(8192);
  const auto made = mkfs(*store, {.journal_bytes = 100'000});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find("journal-size"), std::string::npos);
  EXPECT_NE(made.error().hint.find("use "), std::string::npos) << made.error().message();
  EXPECT_FALSE(mkfs(*store, {.journal_bytes = 1 << 30}));
}

}  // namespace
}  // namespace headcrash::ufs
