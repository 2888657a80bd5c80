// Tests the tree over the smallest store (testing/store.h): random operations compared with a
// reference, the events for a log of directory operations, ENOSPC, and paths that begin with an
// inode.

#include "fs-adapters/substrate/tree/file_system.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fs-adapters/substrate/tree/testing/history.h"
#include "fs-adapters/substrate/tree/testing/store.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::tree {
namespace {

using bench::TestFileSystem;
using bench::TestMachine;
using Lines = std::vector<std::string>;

void expect_sound(TestMachine& m) {
  m.as_user([&] { EXPECT_EQ(m.file_system.inodes().problems(), Lines()); });
}

TEST(Tree, ConcurrentUsersSeeAndKeepTheirOwnChanges) {
  // HEADCRASH_SEEDS=N in the environment adds N seeds to the four that are always tested.
  const auto seeds = static_cast<std::uint32_t>(4 + number_from_environment("HEADCRASH_SEEDS", 0));
  for (std::uint32_t seed = 11; seed < 11 + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TestMachine m(5'000, seed % 2 == 0 ? 4U << 20 : 192U << 10, bench::schedule_of(seed));
    std::vector<std::unique_ptr<bench::User>> users;
    std::vector<std::unique_ptr<os::Account>> accounts;
    m.as_user([&] { ASSERT_TRUE(m.file_system.mkdir("shared", 0755)); });
    for (std::uint32_t i = 0; i < 3; ++i) {
      users.push_back(
          std::make_unique<bench::User>(m.file_system, "u" + std::to_string(i), seed * 100 + i));
      accounts.push_back(std::make_unique<os::Account>());
      m.machine.system.executor.spawn(os::Executor::Kind::user, *accounts.back(),
                                      [&, i] { users[i]->live(200); });
      accounts.push_back(std::make_unique<os::Account>());
      m.machine.system.executor.spawn(os::Executor::Kind::user, *accounts.back(), [&, i] {
        bench::quarrel(m.file_system, seed * 200 + i, 200);
      });
    }
    m.machine.system.executor.run();
    if (testing::Test::HasFailure()) return;
    expect_sound(m);
    m.as_user([&] { EXPECT_TRUE(m.file_system.sync() && m.file_system.drop_caches()); });
    for (const auto& user : users) m.as_user([&] { user->compare(); });
    m.as_user([&] { EXPECT_TRUE(m.file_system.sync()); });
  }
}

/// Runs two users under each schedule that deviates from FIFO order at most twice, and calls
/// `judge` after each run.
void enumerate(const std::function<void(TestFileSystem&)>& before,
               const std::function<void(TestFileSystem&)>& one,
               const std::function<void(TestFileSystem&)>& other,
               const std::function<void(TestFileSystem&)>& judge) {
  os::ScheduleEnumerator schedule(2);
  std::size_t schedules = 0;
  do {
    SCOPED_TRACE("schedule " + schedule.name());
    TestMachine m(100, 4 << 20, {}, &schedule);
    m.as_user([&] { before(m.file_system); });
    os::Account second;
    auto& executor = m.machine.system.executor;
    executor.spawn(os::Executor::Kind::user, m.account, [&] { one(m.file_system); });
    executor.spawn(os::Executor::Kind::user, second, [&] { other(m.file_system); });
    executor.run();
    m.as_user([&] { judge(m.file_system); });
    expect_sound(m);
    ++schedules;
  } while (schedule.next() && !testing::Test::HasFailure());
  EXPECT_GT(schedules, 10U);
}

TEST(Tree, OpenWithCreateSucceedsWhileAnotherUserRemovesTheName) {
  enumerate([](auto& fs) { bench::put_file(fs, "a", "text"); },
            [](auto& fs) { bench::put_file(fs, "a", "new"); },
            [](auto& fs) { EXPECT_TRUE(fs.unlink("a")); },
            [](auto& fs) {
              const auto text = bench::get_file(fs, "a");
              EXPECT_TRUE(text == "new" || text.starts_with("(error")) << text;
            });
}

TEST(Tree, OpenWithCreateFailsForADanglingLink) {
  TestMachine m(100);
  m.as_user([&] {
    EXPECT_TRUE(m.file_system.symlink("nothing", "a"));
    EXPECT_EQ(m.file_system.open("a", {.create = true}).error().value, ENOENT);
  });
}

/// Returns the events recorded while `body` runs.
Lines logged(TestMachine& m, const std::function<void(TestFileSystem&)>& body) {
  m.file_system.inodes().log.clear();
  m.as_user([&] { body(m.file_system); });
  return m.file_system.inodes().log;
}

TEST(Tree, ChargesForNameChangesAndStartedPrograms) {
  TestMachine m(100);
  const auto charged = [&m](os::Cost cost,
                            const std::function<VfsResult<void>(TestFileSystem&)>& body) {
    const os::Charged before = m.account.charged;
    m.as_user([&] { EXPECT_TRUE(body(m.file_system)); });
    const auto at = static_cast<std::size_t>(cost);
    return m.account.charged[at] - before[at];
  };
  using os::Cost;
  EXPECT_EQ(charged(Cost::name_changed, [](auto& fs) { return fs.mkdir("d", 0755); }), 1);
  EXPECT_EQ(charged(Cost::name_changed,
                    [](auto& fs) -> VfsResult<void> {
                      const auto file = fs.open("d/f", {.create = true});
                      if (!file) return forward_errno(file);
                      return fs.close(*file);
                    }),
            1);
  EXPECT_EQ(charged(Cost::name_changed, [](auto& fs) { return fs.link("d/f", "g"); }), 1);
  EXPECT_EQ(charged(Cost::name_changed,
                    [](auto& fs) { return fs.rename("g", "h", RenameMode::replace); }),
            2)
      << "one entry added, one removed";
  EXPECT_EQ(charged(Cost::name_changed, [](auto& fs) { return fs.unlink("h"); }), 1);
  EXPECT_EQ(charged(Cost::name_changed, [](auto& fs) { return fs.chmod("d/f", 0600); }), 0);
  EXPECT_EQ(charged(Cost::process_created,
                    [](auto& fs) -> VfsResult<void> {
                      fs.start_program();
                      return {};
                    }),
            1);
}

/// Creates the directories d and d/e, and adds an entry d/e/x that refers to d. On a real disk,
/// only damage can cause such a cycle.
void make_cycle(TestMachine& m) {
  m.as_user([&] {
    ASSERT_TRUE(m.file_system.mkdir("d", 0755) && m.file_system.mkdir("d/e", 0755));
    bench::TestStore& store = m.file_system.inodes();
    const auto up = m.file_system.stat("d"), down = m.file_system.stat("d/e");
    ASSERT_TRUE(up && down);
    const auto inode = store.get(static_cast<InodeNumber>(down->inode), nullptr);
    ASSERT_TRUE(inode);
    auto block = store.read_block(**inode, 0);
    ASSERT_TRUE(block && *block);
    ASSERT_TRUE(
        add_entry(block->bytes(), "x", static_cast<InodeNumber>(up->inode), kTypeDirectory >> 12U));
    store.write_delayed(std::move(*block));
    ASSERT_TRUE(m.file_system.sync() && m.file_system.drop_caches());
  });
}

TEST(Tree, RemovalsInACycleOfDirectoriesTerminate) {
  TestMachine m(100);
  make_cycle(m);
  // One user holds e and waits for d, while the other user holds d and waits for e.
  os::Account other;
  std::vector<int> errors;
  const auto remove = [&](const char* path) {
    const auto removed = m.file_system.rmdir(path);
    errors.push_back(removed ? 0 : removed.error().value);
  };
  auto& executor = m.machine.system.executor;
  executor.spawn(os::Executor::Kind::user, m.account, [&] { remove("d/e/x"); });
  executor.spawn(os::Executor::Kind::user, other, [&] { remove("d/e"); });
  executor.run();
  EXPECT_EQ(errors, (std::vector{EIO, ENOTEMPTY}));
}

/// The rename locks d before e, and the removal locks e before d. A third fiber repeatedly locks d
/// for a while, and the rename waits for d each time. In round number `rounds`, the removal waits
/// for d as well.
TEST(Tree, ARenameInACycleOfDirectoriesTerminates) {
  for (int rounds = 1; rounds < 8; ++rounds) {
    TestMachine m(100);
    make_cycle(m);
    std::string e;
    InodeHandle d;
    m.as_user([&] {
      bench::put_file(m.file_system, "d/e/f", "contents");
      const auto at = m.file_system.stat("d/e");
      e = InodeName{.inode = at->inode, .generation = at->generation}.path();
      d = *m.file_system.inodes().get(static_cast<InodeNumber>(m.file_system.stat("d")->inode),
                                      nullptr);
    });
    os::Account other;
    auto& executor = m.machine.system.executor;
    const auto spawn = [&](std::function<void()> body) {
      executor.spawn(os::Executor::Kind::user, other, std::move(body));
    };
    spawn([&] {
      for (int round = 1; round <= rounds; ++round) {
        const InodeLock lock(*d);
        if (round == rounds) spawn([&] { EXPECT_FALSE(m.file_system.rmdir(e + "/x")); });
        for (int i = 0; i < 5; ++i) executor.yield();
      }
    });
    bool renamed = false;
    spawn([&] { renamed = m.file_system.rename("d/e/f", "d/g", RenameMode::replace).has_value(); });
    executor.run();
    m.as_user([&] {
      EXPECT_EQ(m.file_system.stat("d/e/f").has_value(), !renamed);
      EXPECT_EQ(m.file_system.stat("d/g").has_value(), renamed);
      d = {};
    });
  }
}

TEST(Tree, AHoleInADirectoryIsAnError) {
  TestMachine m(100);
  m.as_user([&] {
    ASSERT_TRUE(m.file_system.mkdir("d", 0755));
    bench::TestStore& store = m.file_system.inodes();
    const auto inode = store.get(static_cast<InodeNumber>(m.file_system.stat("d")->inode), nullptr);
    ASSERT_TRUE(inode);
    (*inode)->attributes.size_bytes = 3 * store.block_bytes();
    EXPECT_EQ(m.file_system.list("d").error().value, EIO);
    EXPECT_EQ(m.file_system.stat("d/a").error().value, EIO);
    EXPECT_EQ(m.file_system.mkdir("d/a", 0755).error().value, EIO);
    EXPECT_EQ(m.file_system.rmdir("d").error().value, EIO);
  });
}

TEST(Tree, ReportsDirectoryOperationsToTheStore) {
  TestMachine m(100);
  // Inode numbers in these lines: 2 is the root, 3 is a, 4 is b, and 5 is a/f.
  EXPECT_EQ(logged(m,
                   [](Vfs& fs) {
                     EXPECT_TRUE(fs.mkdir("a", 0755) && fs.mkdir("b", 0755));
                     bench::put_file(fs, "a/f", "text");
                   }),
            (Lines{"create+ 2/a 3 2", "create+ 2/b 4 2", "create+ 3/f 5 1"}));
  EXPECT_EQ(logged(m, [](Vfs& fs) { EXPECT_TRUE(fs.link("a/f", "b/g")); }),
            (Lines{"link+ 4/g 5 2"}));
  EXPECT_EQ(logged(m, [](Vfs& fs) { EXPECT_TRUE(fs.rename("b/g", "h", RenameMode::replace)); }),
            (Lines{"rename+ 2/h 5 3", "rename- 4/g 5 2"}));
  EXPECT_EQ(logged(m, [](Vfs& fs) { EXPECT_TRUE(fs.unlink("h")); }), (Lines{"unlink- 2/h 5 1"}));
  EXPECT_EQ(logged(m, [](Vfs& fs) { EXPECT_TRUE(fs.rename("b", "a/b", RenameMode::replace)); }),
            (Lines{"rename+ 3/b 4 3", "parent+ 4/.. 3 3", "rename- 2/b 4 2"}));
  EXPECT_EQ(
      logged(m, [](Vfs& fs) { EXPECT_TRUE(fs.rename("a/b", "a/f", RenameMode::exchange)); }).size(),
      4U);
  EXPECT_EQ(logged(m, [](Vfs& fs) { EXPECT_TRUE(fs.unlink("a/b") && fs.rmdir("a/f")); }),
            (Lines{"unlink- 3/b 5 0", "unlink- 3/f 4 0"}));
  expect_sound(m);
  EXPECT_EQ(m.file_system.inodes().inodes(), 2U) << "the root and a";
}

TEST(Tree, RenameReplacesAnExistingNameInPlace) {
  TestMachine m(100);
  EXPECT_EQ(
      logged(m,
             [](Vfs& fs) {
               bench::put_file(fs, "old", "old");
               bench::put_file(fs, "new", "new");
               EXPECT_EQ(fs.rename("new", "old", RenameMode::no_replace).error().value, EEXIST);
               EXPECT_EQ(fs.rename("new", "old", RenameMode::whiteout).error().value, EINVAL);
               EXPECT_TRUE(fs.rename("new", "old", RenameMode::replace));
               EXPECT_EQ(bench::get_file(fs, "old"), "new");
             }),
      (Lines{"create+ 2/old 3 1", "create+ 2/new 4 1", "rename+ 2/old 4 2", "rename- 2/new 4 1"}));
  expect_sound(m);
}

TEST(Tree, LackOfSpaceLeavesNoVisibleChange) {
  TestMachine m(6);
  m.as_user([&] {
    TestFileSystem& fs = m.file_system;
    ASSERT_TRUE(fs.mkdir("a", 0755));
    bench::put_file(fs, "f", std::string(4 * bench::kBlockBytes, 'x'));
    ASSERT_EQ(fs.inodes().free_blocks_left(), 0U);
    EXPECT_EQ(fs.mkdir("b", 0755).error().value, ENOSPC);
    EXPECT_EQ(fs.symlink("somewhere", "s").error().value, ENOSPC);
    EXPECT_EQ(fs.list("")->size(), 2U);
    const auto file = fs.open("f", {});
    ASSERT_TRUE(file);
    EXPECT_EQ(fs.append(*file, bench::bytes_of("more")).error().value, ENOSPC);
    EXPECT_TRUE(fs.close(*file));
    EXPECT_EQ(fs.stat("f")->size_bytes, 4 * bench::kBlockBytes);
    EXPECT_TRUE(fs.unlink("f"));
    EXPECT_TRUE(fs.mkdir("b", 0755));
  });
  expect_sound(m);
}

TEST(Tree, AnOpenFileOutlivesItsName) {
  TestMachine m(100);
  m.as_user([&] {
    TestFileSystem& fs = m.file_system;
    bench::put_file(fs, "f", "text");
    const auto file = fs.open("f", {});
    ASSERT_TRUE(file);
    const std::string by_inode = InodeName{.inode = 3, .generation = 1}.path();
    EXPECT_TRUE(fs.stat(by_inode));
    EXPECT_TRUE(fs.unlink("f"));
    EXPECT_EQ(fs.stat("f").error().value, ENOENT);
    EXPECT_EQ(fs.stat(by_inode)->links, 0U);
    EXPECT_EQ(fs.link(by_inode, "again").error().value, ENOENT);
    std::string text(4, '?');
    EXPECT_EQ(fs.pread(*file, 0, std::as_writable_bytes(std::span(text))).value_or(0), 4U);
    EXPECT_EQ(text, "text");
    EXPECT_TRUE(fs.close(*file));
    EXPECT_EQ(fs.stat(by_inode).error().value, ESTALE);
    bench::put_file(fs, "other", "text");
    EXPECT_EQ(fs.stat(by_inode).error().value, ESTALE) << "the number belongs to another file";
  });
  expect_sound(m);
}

TEST(Tree, ADirectoryGrowsWithinAndBeyondItsBlock) {
  TestMachine m(200);
  m.as_user([&] {
    TestFileSystem& fs = m.file_system;
    ASSERT_TRUE(fs.mkdir("d", 0755));
    const std::string long_name(100, 'n');
    std::uint64_t size = fs.stat("d")->size_bytes;
    EXPECT_EQ(size, kChunkBytes);
    for (int i = 0; i < 60; ++i) {
      ASSERT_TRUE(fs.mkdir("d/" + long_name + std::to_string(i), 0755)) << i;
      const std::uint64_t now = fs.stat("d")->size_bytes;
      EXPECT_TRUE(now == size || now == size + kChunkBytes) << i;
      size = now;
    }
    EXPECT_GT(size, bench::kBlockBytes);
    EXPECT_EQ(fs.list("d")->size(), 60U);
    EXPECT_EQ(fs.rmdir("d").error().value, ENOTEMPTY);
    for (int i = 0; i < 60; ++i) EXPECT_TRUE(fs.rmdir("d/" + long_name + std::to_string(i)));
    EXPECT_TRUE(fs.rmdir("d"));
  });
  expect_sound(m);
}

}  // namespace
}  // namespace headcrash::tree
