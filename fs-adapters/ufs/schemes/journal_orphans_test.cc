// Tests how the journal of a mounted file system handles files that are open but have no name.
// Every transaction lists them, and every replay releases them.

#include "fs-adapters/ufs/schemes/journal_replay.h"
#include "fs-adapters/ufs/testing/journal.h"

namespace headcrash::ufs {
namespace {

using bench::Mounted;
using bench::MountedOptions;

TEST(JournalOrphans, ReplayReleasesOrphansAndTheRingStaysShort) {
  Mounted m(bench::journal_setup({.commit = JournalOptions::Commit::synchronous}),
            {.device_bytes = 4 << 20});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const std::uint64_t inodes = fs.space()->free_inodes;
    const auto file = fs.open("gone", {.create = true});
    ASSERT_TRUE(file);
    EXPECT_TRUE(fs.pwrite(*file, 0, bench::bytes_of(std::string(200'000, 'g'))));
    EXPECT_TRUE(fs.unlink("gone"));
    for (int i = 0; i < 300; ++i) {
      bench::put_file(fs, "other", "text");
      EXPECT_TRUE(fs.unlink("other"));
    }
    EXPECT_GT(bench::counters(m).tail_writes, 0U);
    std::string text(200'000, '?');
    EXPECT_TRUE(fs.pread(*file, 0, std::as_writable_bytes(std::span(text))));
    EXPECT_TRUE(text == std::string(200'000, 'g'));
    EXPECT_TRUE(fs.sync());
    auto image = bench::copy_of(*m.store);
    EXPECT_EQ(bench::replayed(image).superblock().total.free_inodes, inodes);
    EXPECT_TRUE(fs.close(*file));
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

constexpr int kInodesInABlock = 4096 / static_cast<int>(kInodeBytes);
constexpr int kBlocksOfInodes = 78;
constexpr std::uint64_t kRingBytes = 800 << 10;

/// Returns options for a file system with many inodes: a transaction that changes all of them and
/// contains the maximum amount of data fills more than half of the ring.
MountedOptions many_inodes() {
  return {.mkfs = {.block_bytes = 4096,
                   .fragment_bytes = 1024,
                   .bytes_per_inode = 1024,
                   .journal_bytes = kRingBytes},
          .syncer = {.policy = os::SyncerOptions::Policy::none}};
}

JournalOptions with_data() {
  return {.contents = JournalOptions::Contents::data, .interval_ns = 100'000 * model::kSecondNs};
}

std::string numbered(int file) {
  return "d" + std::to_string(file % 16) + "/f" + std::to_string(file);
}

/// Writes as much data as fits into a transaction, then changes one inode in each inode block.
void change_much(Vfs& fs, std::uint32_t mode) {
  const auto file = fs.open("data", {});
  ASSERT_TRUE(file);
  EXPECT_TRUE(fs.pwrite(
      *file, 0, bench::bytes_of(std::string(kRingBytes / 8 - 4096, static_cast<char>(mode)))));
  for (int i = 0; i < kBlocksOfInodes; ++i)
    EXPECT_TRUE(fs.chmod(numbered(i * kInodesInABlock), mode));
  EXPECT_TRUE(fs.fsync(*file));
  EXPECT_TRUE(fs.close(*file));
}

struct Room {
  std::uint64_t inodes = 0, bytes = 0;
  explicit Room(const SpaceStatus& space) : inodes(space.free_inodes), bytes(space.free_bytes) {}
  bool operator==(const Room&) const = default;
};

/// Simulates a power cut in the current state. The file "gone" must be released without a leak,
/// both when a check replays the journal and when a mount does.
void expect_released(const Mounted& cut, const Room& before) {
  auto image = bench::copy_of(*cut.store);
  EXPECT_FALSE(bench::replayed(image).lookup("gone"));
  for (const bool checked : {true, false}) {
    Mounted m(bench::journal_setup(with_data()), many_inodes());
    image = bench::copy_of(*cut.store);
    if (checked) {
      Fsck fsck;
      EXPECT_TRUE(fsck.run(*image, {.repair = true}));
    }
    bench::copy(*image, *m.store);
    m.mount();
    ASSERT_TRUE(m.file_system);
    m.as_user([&] {
      EXPECT_FALSE(m.file_system->stat("gone"));
      EXPECT_TRUE(Room(*m.file_system->space()) == before) << (checked ? "fsck" : "mount");
    });
    m.unmount();
    bench::expect_clean(*m.store);
  }
}

/// While a file without a name is open, the last transaction stays in the ring. If this transaction
/// takes more than half of the ring, a short transaction that only lists such files must replace
/// it. The replacement must work even while the file is truncated step by step.
TEST(JournalOrphans, AreRelistedIfTheirTransactionIsTooLongToKeep) {
  Mounted m(bench::journal_setup(with_data()), many_inodes());
  m.mount();
  FileSystem& fs = *m.file_system;
  std::optional<Room> before;
  FileHandle file = {};
  m.as_user([&] {
    for (int i = 0; i < 16; ++i) EXPECT_TRUE(fs.mkdir("d" + std::to_string(i), 0755));
    bench::put_file(fs, "data", std::string(kRingBytes / 8, 'd'));
    for (int i = 0; i < kBlocksOfInodes * kInodesInABlock; ++i)
      bench::put_file(fs, numbered(i), "");
    EXPECT_TRUE(fs.sync());
    before.emplace(*fs.space());
    bench::put_file(fs, "gone", std::string(200'000, 'g'));
    file = *fs.open("gone", {});
    EXPECT_TRUE(fs.unlink("gone"));
  });
  std::uint32_t mode = 0600;
  for (const std::size_t bytes : {150'000U, 60'000U, 3'000U}) {
    m.as_user([&] {
      EXPECT_TRUE(fs.truncate(file, bytes));
      EXPECT_TRUE(fs.fsync(file));
    });
    expect_released(m, *before);
    m.as_user([&] {
      EXPECT_TRUE(fs.sync());
      change_much(fs, ++mode);
    });
    const auto ring = read_journal(*m.store, fs.volume().super);
    ASSERT_TRUE(ring && ring->transactions.size() == 1U);
    EXPECT_TRUE(ring->transactions[0].images.empty()) << "the list alone";
    EXPECT_EQ(ring->transactions[0].orphans.size(), 1U);
    expect_released(m, *before);
    m.as_user([&] {
      std::string text(200'000, '?');
      EXPECT_EQ(fs.pread(file, 0, std::as_writable_bytes(std::span(text))), bytes);
    });
  }
  m.as_user([&] {
    EXPECT_TRUE(fs.close(file));
    EXPECT_TRUE(fs.sync());
    EXPECT_TRUE(Room(*fs.space()) == *before);
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

}  // namespace
}  // namespace headcrash::ufs
