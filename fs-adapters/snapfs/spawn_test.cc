// Tests that operations continue while a generation is spawned and written (III-B). Also tests the
// cost of copy-on-write.
#include "fs-adapters/snapfs/testing/mounted.h"

namespace headcrash::snapfs {
namespace {

using bench::Disk;

/// Time for each request: a seek and a revolution.
constexpr os::TimeNs kRequest = 20 * model::kMillisecondNs;
constexpr os::TimeNs kInTheMiddle = kRequest / 2;  // a time in the middle of the first request

struct SlowMachine : tree::bench::MountedMachine<FileSystem, MountOptions> {
  explicit SlowMachine(model::SectorStore& store, std::uint64_t cache_bytes = 2 << 20)
      : MountedMachine(store, {.latency_ns = kRequest,
                               .system = {.cache = {.bytes = cache_bytes, .block_copy = true}}}) {}
};

/// Runs a user that changes a mode while a commit is writing many blocks.
struct Beside {
  explicit Beside(Spawn spawn) {
    Disk disk;
    SlowMachine m(*disk.store);
    m.mount({.spawn = spawn});
    m.as_user([&] {
      EXPECT_TRUE(m.file_system->mkdir("d", 0755));
      for (int i = 0; i < 200; ++i)
        bench::put_file(*m.file_system, "f" + std::to_string(i), "text");
    });
    const os::TimeNs begun_at = m.executor().now();
    m.executor().spawn(os::Executor::Kind::user, m.account, [&] {
      EXPECT_TRUE(m.file_system->sync());
      commit_ns = m.executor().now() - begun_at;
    });
    m.executor().spawn(os::Executor::Kind::user, other, [&] {
      m.executor().sleep_until(begun_at + kInTheMiddle);
      EXPECT_TRUE(m.file_system->snapshots().commit_under_way());
      EXPECT_TRUE(m.file_system->chmod("d", 0700));
      others_ns = m.executor().now() - begun_at - kInTheMiddle;
      ended_during_commit = m.file_system->snapshots().commit_under_way();
    });
    m.executor().run();
    m.unmount();
    bench::expect_clean(*disk.store);
  }
  os::Account other{.name = "other"};
  os::TimeNs commit_ns = 0, others_ns = 0;
  bool ended_during_commit = false;
};

TEST(SnapfsSpawn, OperationsDoNotWaitForAGenerationBeingWritten) {
  for (const Spawn spawn : {Spawn::concurrent, Spawn::barrier}) {
    const Beside seen(spawn);
    EXPECT_GT(seen.commit_ns, 3 * kRequest);
    EXPECT_TRUE(seen.ended_during_commit);
    EXPECT_LT(seen.others_ns, kRequest);
  }
}

TEST(SnapfsSpawn, ABarrierUntilTheCommitDelaysOtherOperations) {
  const Beside seen(Spawn::barrier_until_committed);
  EXPECT_FALSE(seen.ended_during_commit);
  EXPECT_GE(seen.others_ns, seen.commit_ns - kRequest);
}

TEST(SnapfsSpawn, ABarrierWaitsForRunningOperations) {
  for (const Spawn spawn : {Spawn::concurrent, Spawn::barrier}) {
    Disk disk;
    SlowMachine m(*disk.store, 64 << 10);
    m.mount({.dirty_blocks_max = 4, .spawn = spawn});
    std::vector<os::Account> accounts(6);
    for (std::size_t user = 0; user < accounts.size(); ++user)
      m.executor().spawn(os::Executor::Kind::user, accounts[user], [&, user] {
        for (int i = 0; i < 30; ++i)
          bench::put_file(*m.file_system, "f" + std::to_string(user) + "-" + std::to_string(i),
                          std::string(9'000, 'x'));
      });
    m.executor().run();
    const Counters& counters = m.file_system->snapshots().counters();
    EXPECT_GT(counters.commits, 10U);
    EXPECT_EQ(counters.most_concurrent > 0, spawn == Spawn::concurrent);
    m.unmount();
    bench::expect_clean(*disk.store);
  }
}

/// A newer generation frees blocks of a generation that is being written. These blocks must still
/// be written and counted.
TEST(SnapfsSpawn, BlocksFreedWhileBeingWrittenAreStillWrittenAndCounted) {
  Disk disk;
  SlowMachine m(*disk.store);
  m.mount({});
  m.as_user([&] { bench::put_file(*m.file_system, "f", std::string(50'000, 'x')); });
  os::Account other{.name = "other"};
  m.executor().spawn(os::Executor::Kind::user, m.account,
                     [&] { EXPECT_TRUE(m.file_system->sync()); });
  m.executor().spawn(os::Executor::Kind::user, other, [&] {
    m.executor().sleep_until(m.executor().now() + kInTheMiddle);
    EXPECT_TRUE(m.file_system->snapshots().commit_under_way());
    EXPECT_TRUE(m.file_system->unlink("f"));
    EXPECT_GT(m.file_system->snapshots().blocks_held_back(), 40U);
  });
  m.executor().run();
  EXPECT_GT(m.file_system->snapshots().counters().freed_in_flight, 20U);
  m.as_user([&] { EXPECT_TRUE(m.file_system->sync()); });
  EXPECT_EQ(m.file_system->snapshots().blocks_held_back(), 0U);
  m.unmount();
  bench::expect_clean(*disk.store);
}

TEST(SnapfsSpawn, CopiesCostProcessorTime) {
  constexpr os::TimeNs kPerKib = model::kMillisecondNs;
  for (const bool copies : {true, false}) {
    Disk disk;
    os::MemoryMachineOptions options{.latency_ns = model::kMillisecondNs};
    options.system.cache = {.bytes = 2 << 20};
    options.system.costs.copy_per_kib = kPerKib;
    tree::bench::MountedMachine<FileSystem, MountOptions> m(*disk.store, options);
    m.mount({.copy_on_write = copies});
    m.as_user([&] {
      bench::put_file(*m.file_system, "f", "text");
      EXPECT_TRUE(m.file_system->sync());
    });
    const os::TimeNs before = m.machine.system.cpu.busy_ns();
    const std::uint64_t copied = m.file_system->snapshots().counters().blocks_copied;
    m.as_user([&] {
      EXPECT_TRUE(m.file_system->chmod("f", 0600));
      EXPECT_TRUE(m.file_system->sync());
    });
    const auto blocks =
        static_cast<os::TimeNs>(m.file_system->snapshots().counters().blocks_copied - copied);
    EXPECT_EQ(blocks > 0, copies);
    EXPECT_EQ(m.machine.system.cpu.busy_ns() - before, blocks * kPerKib);  // each block is 1 KiB
    m.unmount();
  }
}

}  // namespace
}  // namespace headcrash::snapfs
