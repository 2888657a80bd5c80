// Tests that the lock on a database's directory is released, and that waiting for the lock has a
// time limit.
#include "results/db/opening_turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <thread>

#include "results/db/testing/database_fixture.h"

namespace headcrash::db {
namespace {

using std::chrono::milliseconds;

class OpeningTurns : public ScratchFolder {
 protected:
  /// Locks the directory as a server locks its store's directory.
  int lock_as_a_store() const {
    const int fd = ::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
    return fd;
  }
};

TEST_F(OpeningTurns, AreExclusiveUntilReleased) {
  {
    const auto first = OpeningTurn::take(file(), milliseconds(0));
    ASSERT_TRUE(first);
    EXPECT_FALSE(OpeningTurn::take(file(), milliseconds(50)));
  }
  EXPECT_TRUE(OpeningTurn::take(file(), milliseconds(0)));
  EXPECT_TRUE(OpeningTurn::take(folder() / "nowhere" / "results.db", milliseconds(0)));
}

TEST_F(OpeningTurns, TimeOutWhileAServerLocksTheFolder) {
  const int store = lock_as_a_store();
  const auto refused = OpeningTurn::take(file(), milliseconds(50));
  close(store);
  ASSERT_FALSE(refused);
  const std::string message = refused.error().message();
  EXPECT_NE(message.find(file().string()), std::string::npos) << message;
  EXPECT_NE(message.find("locked by process " + std::to_string(getpid()) + " ("), std::string::npos)
      << message;
}

TEST_F(OpeningTurns, CreatingADatabaseWaitsForItsTurn) {
  const int other = lock_as_a_store();
  std::thread later([other] {
    std::this_thread::sleep_for(milliseconds(100));
    close(other);
  });
  EXPECT_TRUE(Database::open(file(), Database::Access::read_write));
  later.join();
}

}  // namespace
}  // namespace headcrash::db
