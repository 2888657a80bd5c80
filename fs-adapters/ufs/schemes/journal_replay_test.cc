// Tests replays of an unclean file system: whether they can be cut at any point, how they handle
// damaged journals, and whether a repair and a mount have the same result.

#include "fs-adapters/ufs/schemes/journal_replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "fs-adapters/ufs/format/image_reader.h"
#include "fs-adapters/ufs/schemes/journal_area.h"
#include "fs-adapters/ufs/testing/mounted.h"
#include "fs-adapters/ufs/testing/stores.h"

namespace headcrash::ufs {
namespace {

using bench::Mounted;
using bench::Setup;

const Setup kJournalled = bench::journal_setup();

std::vector<std::byte> bytes_of_store(const model::SectorStore& store) {
  std::vector<std::byte> all(store.sectors() * kSectorBytes);
  EXPECT_TRUE(store.read(0, all));
  return all;
}

/// Returns a disk on which names and files were created before the power failed. Some files had
/// been removed but were still open; one of these had indirect blocks.
std::vector<std::byte> left_behind() {
  Mounted m(kJournalled, {.device_bytes = 4 << 20});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    EXPECT_TRUE(fs.mkdir("d", 0755));
    for (int i = 0; i < 20; ++i)
      bench::put_file(fs, "d/f" + std::to_string(i), std::string(i * 700, 'f'));
    for (const char* name : {"open1", "open2"}) {
      const auto file = fs.open(name, {.create = true});
      ASSERT_TRUE(file);
      EXPECT_TRUE(fs.pwrite(*file, 0, bench::bytes_of(std::string(120'000, 'o'))));
      EXPECT_TRUE(fs.unlink(name));
    }
    for (int i = 0; i < 20; i += 3) EXPECT_TRUE(fs.unlink("d/f" + std::to_string(i)));
    const auto last = fs.open("last", {.create = true});
    ASSERT_TRUE(last);
    EXPECT_TRUE(fs.fsync(*last));
    bench::put_file(fs, "never", "committed");
  });
  return bytes_of_store(*m.store);
}

std::unique_ptr<media::MemoryStore> store_of(const std::vector<std::byte>& bytes) {
  auto store = *media::MemoryStore::create(bytes.size() / kSectorBytes);
  EXPECT_TRUE(store->write(0, bytes));
  return store;
}

/// Compares everything except the journal area.
void expect_same(const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                 const Superblock& super, const std::string& what) {
  const std::size_t from = super.journal.at, end = from + super.journal.fragments;
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0, at = 0; at < a.size(); ++i, at += super.fragment_bytes)
    if (i < from || i >= end) {
      ASSERT_EQ(
          std::memcmp(&a[at], &b[at], std::min<std::size_t>(super.fragment_bytes, a.size() - at)),
          0)
          << what << ": fragment " << i;
    }
}

TEST(JournalReplay, LeavesNothingToRepair) {
  const auto left = left_behind();
  const auto store = store_of(left);
  Fsck fsck;
  const auto seen = fsck.check(*store);
  ASSERT_TRUE(seen) << seen.error().message();
  EXPECT_TRUE(seen->nothing_found()) << bench::findings_of(*seen);
  EXPECT_FALSE(seen->was_clean);
  EXPECT_GT(seen->replayed, 0U);
  expect_same(left, bytes_of_store(*store), ImageReader::open(*store)->superblock(),
              "a check writes nothing");
  const auto repaired = fsck.run(*store, {.repair = true});
  ASSERT_TRUE(repaired) << repaired.error().message();
  EXPECT_TRUE(repaired->nothing_found()) << bench::findings_of(*repaired);
  bench::expect_clean(*store);
  const auto reader = ImageReader::open(*store);
  EXPECT_TRUE(reader->lookup("last"));
  EXPECT_TRUE(reader->lookup("d/f1"));
  EXPECT_FALSE(reader->lookup("d/f3"));
  EXPECT_FALSE(reader->lookup("never"));
}

/// Cuts the power after each sector that fsck writes, first in the replay and then in the repair.
TEST(JournalReplay, CanBeRestartedAfterACutAtAnyWrite) {
  const auto left = left_behind();
  const auto store = store_of(left);
  Fsck fsck;
  ASSERT_TRUE(fsck.run(*store, {.repair = true}));
  const auto expected = bytes_of_store(*store);
  const Superblock super = ImageReader::open(*store)->superblock();
  std::uint64_t cuts = 0;
  for (bool finished = false; !finished && cuts < 4000; ++cuts) {
    ASSERT_TRUE(store->write(0, left));
    CutStore interrupted(*store, cuts);
    finished = fsck.run(interrupted, {.repair = true}).has_value();
    const auto seen = fsck.check(*store);
    ASSERT_TRUE(seen && seen->nothing_found())
        << "cut after " << cuts
        << " sectors: " << (seen ? bench::findings_of(*seen) : seen.error().message());
    ASSERT_TRUE(fsck.run(*store, {.repair = true})) << "cut after " << cuts << " sectors";
    expect_same(bytes_of_store(*store), expected, super,
                "cut after " + std::to_string(cuts) + " sectors");
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(cuts, 60U);
}

TEST(JournalReplay, AMountsReplayCanBeRestartedAfterACutAtAnyWrite) {
  const auto left = left_behind();
  const auto store = store_of(left);
  const auto superblock = [&] { return ImageReader::open(*store)->superblock(); };
  // The journal is replayed only if the file system is not marked clean.
  const auto replay = [&](model::SectorStore& through) {
    Superblock super = superblock();
    return super.clean || replay_journal(through, super, ReplayFor::mount).has_value();
  };
  ASSERT_TRUE(replay(*store));
  const auto expected = bytes_of_store(*store);
  std::uint64_t cuts = 0;
  for (bool finished = false; !finished && cuts < 4000; ++cuts) {
    ASSERT_TRUE(store->write(0, left));
    CutStore interrupted(*store, cuts);
    finished = replay(interrupted);
    ASSERT_TRUE(replay(*store)) << "cut after " << cuts << " sectors";
    expect_same(bytes_of_store(*store), expected, superblock(),
                "cut after " + std::to_string(cuts) + " sectors");
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(cuts, 60U);
}

TEST(JournalReplay, IsTheSameByMountAndByFsck) {
  const auto left = left_behind();
  const auto store = store_of(left);
  ASSERT_TRUE(Fsck().run(*store, {.repair = true}));
  Mounted m(kJournalled, {.device_bytes = 4 << 20});
  ASSERT_TRUE(m.store->write(0, left));
  m.mount();
  m.as_user([&] {
    EXPECT_TRUE(m.file_system->stat("last"));
    EXPECT_EQ(bench::get_file(*m.file_system, "d/f5"), std::string(3500, 'f'));
  });
  m.unmount();
  bench::expect_clean(*m.store);
  const auto ours = ImageReader::open(*m.store), theirs = ImageReader::open(*store);
  EXPECT_EQ(ours->superblock().total, theirs->superblock().total);
}

TEST(JournalReplay, OtherSchemesReplayTheJournalAtMount) {
  Mounted m(bench::setup_named("soft-updates"), {.device_bytes = 4 << 20});
  ASSERT_TRUE(m.store->write(0, left_behind()));
  m.mount();
  m.as_user([&] { bench::put_file(*m.file_system, "more", "text"); });
  m.unmount();
  bench::expect_clean(*m.store);
}

/// Cuts the power during a mount under a scheme without a journal. The earlier contents of the
/// journal must not be replayed.
TEST(JournalReplay, AnUnusedJournalIsNotReplayed) {
  Mounted m(bench::setup_named("no-order"), {.device_bytes = 4 << 20});
  ASSERT_TRUE(m.store->write(0, left_behind()));
  m.mount();
  m.as_user([&] { EXPECT_TRUE(m.file_system->unlink("last") && m.file_system->sync()); });
  const auto store = store_of(bytes_of_store(*m.store));
  const auto seen = Fsck().check(*store);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->replayed, 0U);
  ASSERT_TRUE(Fsck().run(*store, {.repair = true}));
  EXPECT_FALSE(ImageReader::open(*store)->lookup("last"));
}

/// Writes transactions by hand to an empty file system. After a replay, reads the blocks to which
/// the images belong.
struct ByHand {
  ByHand() {
    super = *mkfs(*store, {.block_bytes = 4096, .fragment_bytes = 1024, .journal_bytes = 0});
    super.clean = false;
    home = super.journal.at + super.journal.fragments + 8;
  }
  void log(JournalTransaction transaction) {
    transaction.epoch = 1, transaction.sequence = ++logged;
    const auto bytes = encode_transaction(transaction, 1024);
    EXPECT_TRUE(write_to_ring(*store, JournalRing(super), head, bytes));
    head += static_cast<std::uint32_t>(bytes.size() / 1024);
  }
  static JournalImage image(FragmentAddress at, std::uint32_t fragments, char letter) {
    return {.home = at,
            .bytes = std::vector<std::byte>(std::size_t{fragments} * 1024,
                                            static_cast<std::byte>(letter))};
  }
  std::string replayed(std::uint32_t fragments) {
    EXPECT_TRUE(write_journal_superblock(*store, super,
                                         {.in_use = true, .fragments = super.journal.fragments}));
    EXPECT_TRUE(store->write(
        home * 2, std::vector<std::byte>(std::size_t{fragments} * 1024, std::byte{'.'})));
    EXPECT_TRUE(replay_journal(*store, super, ReplayFor::repair));
    std::string letters;
    for (std::uint32_t i = 0; i < fragments; ++i) {
      std::vector<std::byte> bytes(1024);
      EXPECT_TRUE(store->read((home + i) * 2, bytes));
      letters += static_cast<char>(bytes[500]);
    }
    return letters;
  }
  std::unique_ptr<media::MemoryStore> store = *media::MemoryStore::create(8192);
  Superblock super;
  FragmentAddress home = 0;
  std::uint32_t head = 0;
  std::uint64_t logged = 0;
};

TEST(JournalReplay, DoesNotOverwriteRevokedFragments) {
  ByHand disk;
  disk.log({.images = {ByHand::image(disk.home, 4, 'a')}});
  disk.log({.images = {ByHand::image(disk.home + 4, 1, 'b')},
            .revoked = {{.at = disk.home + 1, .fragments = 2}}});
  EXPECT_EQ(disk.replayed(6), "a..ab.");
}

TEST(JournalReplay, ReplaysImagesLoggedAfterARevoke) {
  ByHand disk;
  disk.log({.images = {ByHand::image(disk.home, 4, 'a')}});
  disk.log({.revoked = {{.at = disk.home, .fragments = 4}}});
  disk.log({.images = {ByHand::image(disk.home + 1, 1, 'c')}});
  EXPECT_EQ(disk.replayed(4), ".c..");
}

TEST(JournalReplay, RestoresTheNewestImageOfABlock) {
  ByHand disk;
  disk.log({.images = {ByHand::image(disk.home, 4, 'a')}});
  disk.log({.images = {ByHand::image(disk.home, 2, 'b')}});
  EXPECT_EQ(disk.replayed(4), "bbaa");
}

/// If committed contents of the journal are damaged, a mount must fail with an error. A repair must
/// skip the damaged contents.
TEST(JournalReplay, DamagedContentsAreReportedAndSkipped) {
  auto left = left_behind();
  const Superblock super = ImageReader::open(*store_of(left))->superblock();
  const auto contents = read_journal(*store_of(left), super);
  ASSERT_TRUE(contents);
  ASSERT_FALSE(contents->starts.empty());
  const std::size_t start = (std::size_t{super.journal.at} + 1 + contents->starts.back()) * 1024;
  left[start + 3 * 1024 + 77] ^= std::byte{1};
  Mounted m(kJournalled, {.device_bytes = 4 << 20});
  ASSERT_TRUE(m.store->write(0, left));
  m.as_user([&] {
    const auto mounted = FileSystem::mount(m.system, {.scheme = SchemeKind::journal});
    ASSERT_FALSE(mounted);
    EXPECT_NE(mounted.error().message().find("transaction"), std::string::npos)
        << mounted.error().message();
    EXPECT_NE(mounted.error().hint.find("fsck"), std::string::npos);
  });
  const auto store = store_of(left);
  const auto repaired = Fsck().run(*store, {.repair = true});
  ASSERT_TRUE(repaired) << repaired.error().message();
  EXPECT_TRUE(repaired->has(FindingKind::bad_journal));
  EXPECT_FALSE(repaired->unrepaired);
  bench::expect_clean(*store);
}

TEST(JournalReplay, ADamagedJournalIsRecreated) {
  auto left = left_behind();
  const Superblock super = ImageReader::open(*store_of(left))->superblock();
  left[std::size_t{super.journal.at} * 1024 + 20] ^= std::byte{4};
  Mounted m(kJournalled, {.device_bytes = 4 << 20});
  ASSERT_TRUE(m.store->write(0, left));
  m.as_user([&] {
    const auto mounted = FileSystem::mount(m.system, {.scheme = SchemeKind::journal});
    ASSERT_FALSE(mounted);
    EXPECT_NE(mounted.error().message().find("checksum"), std::string::npos)
        << mounted.error().message();
  });
  const auto repaired = Fsck().run(*m.store, {.repair = true});
  ASSERT_TRUE(repaired) << repaired.error().message();
  EXPECT_TRUE(repaired->has(FindingKind::bad_journal));
  bench::expect_clean(*m.store);
  m.cache.drop_clean();
  m.mount();
  m.as_user([&] { bench::put_file(*m.file_system, "new", "life"); });
  m.unmount();
  bench::expect_clean(*m.store);
}

TEST(JournalReplay, MountRequiresFsckIfThereIsNoJournal) {
  Mounted m(kJournalled);
  Superblock super = ImageReader::open(*m.store)->superblock();
  super.clean = false;
  ASSERT_TRUE(write_superblock(*m.store, super, kSuperblockByte));
  m.as_user([&] {
    const auto mounted =
        FileSystem::mount(m.system, {.scheme = SchemeKind::journal, .allow_unclean = true});
    ASSERT_FALSE(mounted);
    EXPECT_NE(mounted.error().hint.find("fsck"), std::string::npos);
  });
}

TEST(JournalReplay, SearchesForOrphansIfTheListIsIncomplete) {
  auto left = left_behind();
  const auto store = store_of(left);
  const Superblock super = ImageReader::open(*store)->superblock();
  const auto contents = read_journal(*store, super);
  ASSERT_TRUE(contents);
  JournalTransaction last{.epoch = contents->super.epoch,
                          .sequence = contents->transactions.back().sequence + 1,
                          .too_many_orphans = true};
  ASSERT_EQ(contents->transactions.back().orphans.size(), 2U);
  ASSERT_TRUE(
      write_to_ring(*store, JournalRing(super), contents->head, encode_transaction(last, 1024)));
  const auto repaired = Fsck().run(*store, {.repair = true});
  ASSERT_TRUE(repaired);
  EXPECT_TRUE(repaired->nothing_found()) << bench::findings_of(*repaired);
}

}  // namespace
}  // namespace headcrash::ufs
