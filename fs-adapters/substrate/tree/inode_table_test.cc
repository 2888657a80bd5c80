// Tests the table of in-core inodes (inode_table.h).
#include "fs-adapters/substrate/tree/inode_table.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headcrash::tree {
namespace {

struct OwnInode : TableInode {
  OwnInode(os::Executor& executor, InodeNumber its_number)
      : TableInode(executor, its_number, own) {}
  Attributes own;
};

/// A table whose inodes take a second to load. Inode 13 cannot be read.
struct TableWorld {
  model::Simulation simulation;
  os::VirtualClock clock{simulation};
  os::Executor executor{clock};
  os::Account account{.name = "ann"};
  std::vector<InodeNumber> loaded;
  InodeTable table{
      executor, [this](InodeNumber number) { return std::make_unique<OwnInode>(executor, number); },
      [this](TableInode& inode) -> VfsResult<void> {
        loaded.push_back(inode.number);
        executor.sleep_until(executor.now() + model::kSecondNs);
        if (inode.number == 13) return refuse(EIO);
        return {};
      }};

  void spawn(const std::function<void()>& body) {
    executor.spawn(os::Executor::Kind::user, account, body);
  }
  /// Releases a reference, as a store's put() does.
  void put(TableInode& inode) {
    if (--inode.references == 0) table.make_idle(inode);
  }
};

TEST(InodeTable, UsersWaitWhileAnInodeIsLoaded) {
  TableWorld w;
  std::vector<TableInode*> got;
  for (int user = 0; user < 3; ++user)
    w.spawn([&] {
      const auto inode = w.table.get(5);
      EXPECT_EQ(w.executor.now(), model::kSecondNs);
      got.push_back(inode.value_or(nullptr));
    });
  w.executor.run();
  EXPECT_EQ(w.loaded, std::vector<InodeNumber>{5});
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(got[0], got[2]);
  EXPECT_EQ(got[0]->references, 3U);
}

TEST(InodeTable, AnInodeThatCannotBeLoadedIsDropped) {
  TableWorld w;
  int failed = 0;
  for (int user = 0; user < 2; ++user)
    w.spawn([&] {
      const auto inode = w.table.get(13);
      if (!inode && inode.error().value == EIO) ++failed;
    });
  w.executor.run();
  EXPECT_EQ(failed, 2);
  EXPECT_EQ(w.loaded.size(), 2U);
  EXPECT_EQ(w.table.size(), 0U);
}

TEST(InodeTable, DropsTheLeastRecentlyUsedIdleInodes) {
  TableWorld w;
  for (InodeNumber number = 20; number < 24; ++number) w.put(w.table.add(number));
  TableInode& oldest = *w.table.find(20);
  w.table.refer(oldest);
  w.table.forget_idle(1);
  EXPECT_TRUE(w.table.contains(20));  // it has a user
  EXPECT_FALSE(w.table.contains(22));
  EXPECT_TRUE(w.table.contains(23));
  w.put(oldest);
  w.table.forget_idle(1);
  EXPECT_FALSE(w.table.contains(23));  // inode 20 was used later
  w.table.erase(20);
  w.table.forget_idle(0);
  EXPECT_EQ(w.table.size(), 0U);
}

TEST(InodeTable, TheNumberOfIdleInodesIsLimited) {
  TableWorld w;
  for (InodeNumber number = 1; number <= 1100; ++number) w.put(w.table.add(number));
  EXPECT_EQ(w.table.size(), 1000U);
  EXPECT_FALSE(w.table.contains(100));
  EXPECT_TRUE(w.table.contains(101));
}

}  // namespace
}  // namespace headcrash::tree
