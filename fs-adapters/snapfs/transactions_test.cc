// Tests transactions: after a power cut, either all or none of a transaction's operations are
// visible.
#include "fs-adapters/snapfs/testing/mounted.h"

namespace headcrash::snapfs {
namespace {

using bench::Disk;
using bench::Fsync;
using bench::Machine;
using bench::put_file;

int failure_of(const VfsResult<void>& result) {
  return result ? 0 : result.error().value;
}

TEST(SnapfsTransactions, RejectCallsThatWouldDeadlock) {
  Disk disk;
  {
    Machine m(*disk.store);
    m.mount();
    m.as_user([&] {
      FileSystem& fs = *m.file_system;
      EXPECT_EQ(failure_of(fs.commit_transaction()), EINVAL);
      EXPECT_TRUE(fs.begin_transaction());
      EXPECT_EQ(failure_of(fs.begin_transaction()), EBUSY);
      put_file(fs, "a", "text");
      EXPECT_EQ(failure_of(fs.sync()), EBUSY);
      EXPECT_EQ(failure_of(fs.make_snapshot("one")), EBUSY);
      const auto file = fs.open("a", {});
      EXPECT_EQ(failure_of(fs.fsync(*file)), EBUSY);
      EXPECT_TRUE(fs.close(*file));
      EXPECT_TRUE(fs.commit_transaction());
      put_file(fs, "a", "more", Fsync::yes);
      EXPECT_TRUE(fs.begin_transaction());
      put_file(fs, "b", "text");
    });
    m.unmount();  // the unmount ends the second transaction
  }
  bench::expect_clean(*disk.store);
  EXPECT_TRUE(ImageReader::open(*disk.store)->lookup("b"));
  Machine m(*disk.store);
  m.mount({.copy_on_write = false});
  m.as_user([&] { EXPECT_EQ(failure_of(m.file_system->begin_transaction()), ENOTSUP); });
}

/// While one user is in a transaction, other users sync and begin further transactions.
class SnapfsTransactionCuts : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Cut, SnapfsTransactionCuts, testing::Values(0U, 16U << 10));

TEST_P(SnapfsTransactionCuts, TransactionsAreAtomicAtEveryCut) {
  Disk disk(
      {.device_bytes = 1 << 20, .mkfs = {.block_bytes = 512, .log_bytes = GetParam(), .id = 9}});
  bench::WriteReplay replay(disk);
  constexpr int kRounds = 12;
  int synced = 0, done = 0;
  {
    Machine m(disk.log, 128 << 10);
    m.mount({.dirty_blocks_max = 8});
    FileSystem& fs = *m.file_system;
    m.as_user([&] { put_file(fs, "shared", "text", Fsync::yes); });
    std::vector<std::unique_ptr<os::Account>> accounts;
    const auto pause = [&](int ms) {
      m.executor().sleep_until(m.executor().now() + ms * model::kMillisecondNs);
    };
    const auto spawn = [&](std::function<void()> user) {
      accounts.push_back(std::make_unique<os::Account>());
      m.executor().spawn(os::Executor::Kind::user, *accounts.back(), std::move(user));
    };
    for (const std::string who : {"one", "two"})
      spawn([&, who] {
        for (int i = 0; i < kRounds; ++i) {
          const auto name = [&](const char* part) { return who + part + std::to_string(i); };
          EXPECT_TRUE(fs.begin_transaction());
          put_file(fs, name("a"), std::string(1'500, 'a'));
          pause(7);
          put_file(fs, "shared", who);
          EXPECT_TRUE(fs.mkdir(name("b"), 0755));
          pause(9);
          if (i > 0) {
            EXPECT_TRUE(fs.rename(who + "a" + std::to_string(i - 1), name("b") + "/moved",
                                  RenameMode::replace));
          }
          EXPECT_TRUE(fs.commit_transaction());
          pause(who == "one" ? 1 : 0);
        }
        done += kRounds;
      });
    spawn([&] {
      while (done < 2 * kRounds) {
        put_file(fs, "shared", "by fsync", Fsync::yes);
        ++synced;
        pause(11);
      }
    });
    m.executor().run();
    EXPECT_GT(synced, kRounds / 2) << "a sync does not wait forever";
    m.unmount();
  }
  int states_with_some = 0;
  replay.each([&](const model::SectorStore& image, std::size_t i) {
    bench::expect_clean(image, "after write " + std::to_string(i) + ": ");
    const auto reader = ImageReader::open(image);
    ASSERT_TRUE(reader);
    for (const std::string who : {"one", "two"})
      for (int round = 0; round < kRounds; ++round) {
        const auto there = [&](const std::string& path) {
          return reader->lookup(path).has_value();
        };
        const bool b = there(who + "b" + std::to_string(round));
        const bool next = there(who + "b" + std::to_string(round + 1));
        // The file has the name that this round gave it, unless the next transaction has already
        // renamed it.
        EXPECT_EQ(there(who + "a" + std::to_string(round)), b && !next)
            << who << round << " after write " << i;
        if (round > 0) {
          EXPECT_EQ(there(who + "b" + std::to_string(round) + "/moved"), b) << who << round;
        }
        states_with_some += b ? 1 : 0;
      }
  });
  EXPECT_GT(states_with_some, 100);
}

}  // namespace
}  // namespace headcrash::snapfs
