#include "harness/guest/run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "harness/guest/posix_vfs.h"
#include "harness/workload/random_operations.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::guest {
namespace {

using workload::Operation;
using workload::Outcome;

std::vector<Operation> list_of(const std::string& text) {
  return workload::parse_operations(text, "run_test").value();
}

struct Seen {
  std::vector<std::size_t> persisted, failed, skipped;
  RunEnd end;
};

Seen run_all(const std::vector<Operation>& list, Vfs& vfs, const RunOptions& options = {}) {
  Seen seen;
  const RunReports reports{
      .persisted = [&](std::size_t operation) -> VfsResult<void> {
        seen.persisted.push_back(operation);
        return {};
      },
      .failed =
          [&](std::size_t operation, Outcome outcome, int) {
            (outcome == Outcome::failed ? seen.failed : seen.skipped).push_back(operation);
          }};
  seen.end = run_operations(list, vfs, reports, options);
  return seen;
}

/// A VFS whose fsync returns only once `expected` threads are inside it at the same time.
class MeetingVfs : public PosixVfs {
 public:
  MeetingVfs(const std::string& root, int expected) : PosixVfs(root), expected_(expected) {}
  VfsResult<void> fsync(FileHandle file) override {
    ++inside_;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (inside_ < expected_) {
      if (std::chrono::steady_clock::now() > patience) return refuse(ETIMEDOUT);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return PosixVfs::fsync(file);
  }

 private:
  int expected_;
  std::atomic<int> inside_ = 0;
};

TEST(RunOperations, ThreadsOverlapAndReportInListOrder) {
  const TemporaryFolder folder;
  MeetingVfs vfs(folder.path().string(), 3);
  const auto list = list_of(
      "create a\n@1 create b\n@2 create c\n@2 fsync c\n@1 fsync b\nfsync a\njoin\nunlink a\n");
  const Seen seen = run_all(list, vfs);
  EXPECT_EQ(seen.persisted, (std::vector<std::size_t>{3, 4, 5}));
  EXPECT_EQ(seen.end.done, list.size());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "a"));
}

TEST(RunOperations, RandomWorkloadsWithThreadsFinish) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const TemporaryFolder folder;
    PosixVfs vfs(folder.path().string());
    const auto list = workload::random_operations({.seed = seed, .threads = 4});
    const Seen seen = run_all(list, vfs);
    EXPECT_TRUE(seen.failed.empty())
        << "seed " << seed << ": " << workload::format(list[seen.failed.at(0)]);
    EXPECT_EQ(seen.end.done, list.size()) << "seed " << seed;
    EXPECT_TRUE(std::is_sorted(seen.persisted.begin(), seen.persisted.end())) << "seed " << seed;
  }
}

TEST(RunOperations, AFailureEndsAllThreads) {
  const TemporaryFolder folder;
  PosixVfs vfs(folder.path().string());
  // The run fails at a time when thread 0 is waiting for thread 1 to report its sync, and thread 2
  // is waiting at the join. Both threads must stop waiting.
  const Seen seen =
      run_all(list_of("create a\n@1 unlink none\n@1 sync\nfsync a\njoin\n@2 create c\n"), vfs);
  EXPECT_EQ(seen.failed, std::vector<std::size_t>{1});
  EXPECT_TRUE(seen.persisted.empty());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "c"));
}

TEST(RunOperations, ContinuesAfterAFailureIfRequested) {
  const TemporaryFolder folder;
  PosixVfs vfs(folder.path().string());
  // The failed fsync must not block thread 1. The later fsync of `a` must still be executed. It
  // must fail, because `a` no longer exists then.
  const Seen seen = run_all(list_of("create a\nfsync none\n@1 sync\nunlink none\njoin\nfsync a\n"),
                            vfs, {.continue_after_failure = true});
  EXPECT_EQ(seen.failed, (std::vector<std::size_t>{1, 3}));
  EXPECT_TRUE(seen.skipped.empty());
  EXPECT_EQ(seen.persisted, (std::vector<std::size_t>{2, 5}));
  EXPECT_EQ(seen.end.done, 6U);
}

class NoDataSync : public PosixVfs {
 public:
  using PosixVfs::PosixVfs;
  VfsResult<void> fdatasync(FileHandle) override { return refuse(EOPNOTSUPP); }
};

TEST(RunOperations, ASkippedPersistencePointBlocksNoThread) {
  const TemporaryFolder folder;
  NoDataSync vfs(folder.path().string());
  const Seen seen = run_all(list_of("create a\n@1 create b\n@1 fdatasync b\nfsync a\n"), vfs);
  EXPECT_EQ(seen.skipped, std::vector<std::size_t>{2});
  EXPECT_EQ(seen.persisted, std::vector<std::size_t>{3});
  EXPECT_EQ(seen.end.done, 4U);
}

TEST(RunOperations, SkipsOperationsOnMissingObjectsAfterASkip) {
  const TemporaryFolder folder;
  PosixVfs vfs(folder.path().string());
  const auto list = list_of("unlink never-made\nsync\n");
  EXPECT_EQ(run_all(list, vfs).failed, std::vector<std::size_t>{0});
  EXPECT_EQ(run_all(list, vfs, {.skipped_before = true}).skipped, std::vector<std::size_t>{0});
}

TEST(RunOperations, AFailedReportEndsTheRun) {
  const TemporaryFolder folder;
  PosixVfs vfs(folder.path().string());
  const RunEnd end = run_operations(
      list_of("create a\nfsync a\nunlink a\n"), vfs,
      {.persisted = [](std::size_t) -> VfsResult<void> { return refuse(ENXIO); }, .failed = {}});
  EXPECT_EQ(end.report_error, ENXIO);
  EXPECT_EQ(end.done, 1U);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "a"));
}

/// b is a link to the file that is open as %f. Changes through %f must be visible through b.
TEST(Run, AnOpenFileOutlivesItsName) {
  const TemporaryFolder folder;
  PosixVfs vfs(folder.path());
  const auto list = list_of(
      "create a\nlink a b\nopen a %f\nunlink a\ncreate a\nwrite %f 0 1024 1 1\ntruncate %f 512\nfsync %f\n"
      "close %f\nopen b %f\nfsync %f\n");
  const Seen seen = run_all(list, vfs);
  EXPECT_TRUE(seen.failed.empty());
  EXPECT_EQ(seen.persisted, (std::vector<std::size_t>{7, 10}));
  EXPECT_EQ(vfs.stat("b")->size_bytes, 512U);
  EXPECT_EQ(vfs.stat("a")->size_bytes, 0U);
  EXPECT_EQ(run_all(list_of("fsync %f\n"), vfs).failed, std::vector<std::size_t>{0})
      << "the run's end closes the file";
  EXPECT_EQ(run_all(list_of("open c %f\nfsync %f\n"), vfs).failed, std::vector<std::size_t>{0});
}

}  // namespace
}  // namespace headcrash::guest
