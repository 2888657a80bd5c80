// Tests that a run has at most one owner. To simulate another process, a test opens the lock file
// again, because a lock belongs to an open file. Other tests use real processes that end in
// different ways.
#include "harness/run/run_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "plugin/base/scratch_folder.h"

namespace headcrash::run {
namespace {

class RunLockTest : public testing::Test {
 protected:
  RunLockTest() : folder_(std::move(*base::ScratchFolder::make())) {}
  std::filesystem::path database() const { return folder_.path() / "r.db"; }
  std::filesystem::path file() const { return folder_.path() / "r.db.lock"; }
  RunLock taken(std::int64_t run) const {
    auto lock = RunLock::open(database());
    EXPECT_TRUE(lock && lock->take(run));
    lock->opened();
    return std::move(*lock);
  }
  Result<void> try_to_take(std::int64_t run) const {
    TRY(auto lock, RunLock::open(database()));
    return lock.take(run);
  }

 private:
  base::ScratchFolder folder_;
};

TEST_F(RunLockTest, ASecondExecutorIsRejected) {
  const RunLock lock = taken(1);
  const auto refused = try_to_take(1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().subject, "run 1");
  for (const std::string& word : {"process " + std::to_string(::getpid()) + " on ",
                                  std::string(" since 20"), std::string("--resume")})
    EXPECT_NE(refused.error().message().find(word), std::string::npos) << refused.error().message();
  EXPECT_TRUE(try_to_take(2)) << "another run of the same database can be locked";
  EXPECT_FALSE(try_to_take(1)) << "releasing the other run's lock released this one";
}

TEST_F(RunLockTest, TheLastUserRemovesTheFile) {
  {
    const RunLock one = taken(1);
    {
      const RunLock two = taken(2);
    }
    EXPECT_TRUE(std::filesystem::exists(file()));
    EXPECT_FALSE(try_to_take(1));
  }
  EXPECT_FALSE(std::filesystem::exists(file()));
  EXPECT_TRUE(try_to_take(1));
}

TEST_F(RunLockTest, ALinkToTheDatabaseSharesItsLock) {
  ASSERT_EQ(::close(::creat(database().c_str(), 0600)), 0);
  const auto link = database().parent_path() / "link.db";
  std::filesystem::create_symlink(database(), link);
  const RunLock lock = taken(3);
  auto other = RunLock::open(link);
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->take(3));
}

TEST_F(RunLockTest, AKilledProcessOwnsNoLock) {
  std::array<int, 2> ready = {};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const RunLock lock = taken(1);
    static_cast<void>(!::write(ready[1], "x", 1));
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto refused = try_to_take(1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("process " + std::to_string(child) + " on"),
            std::string::npos)
      << refused.error().message();
  EXPECT_TRUE(std::filesystem::exists(file())) << "a killed process leaves the file";
  EXPECT_TRUE(try_to_take(1));
  EXPECT_FALSE(std::filesystem::exists(file()));
  ::close(ready[0]);
  ::close(ready[1]);
}

/// Many threads lock the same run while the lock file is being created and removed. The run must
/// never have two owners.
TEST_F(RunLockTest, NeverHasTwoOwners) {
  std::atomic<int> owners = 0, most = 0, times = 0;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        auto lock = RunLock::open(database());
        ASSERT_TRUE(lock) << lock.error().message();
        if (!lock->take(1)) continue;
        lock->opened();
        const int now = ++owners;
        if (now > most) most = now;
        ++times;
        std::this_thread::yield();
        --owners;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_GT(times, 8);
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(RunLockTest, ReportsAFolderThatIsNotWritable) {
  const auto refused = RunLock::open("/proc/nowhere.db");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("nowhere.db.lock"), std::string::npos)
      << refused.error().message();
}

}  // namespace
}  // namespace headcrash::run
