#include "harness/guest/timed_phase.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <set>
#include <thread>

#include "harness/guest/posix_vfs.h"
#include "harness/workload/timed/testing/small_workloads.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::guest {
namespace {

/// A VFS on the host that does not drop caches or sync disks, so that the tests do not affect the
/// host.
class HostVfs : public PosixVfs {
 public:
  using PosixVfs::PosixVfs;
  VfsResult<void> sync() override {
    calls.push_back("sync");
    return {};
  }
  VfsResult<void> syncfs() override { return {}; }
  VfsResult<void> fsync(FileHandle) override { return {}; }
  VfsResult<void> drop_caches() override {
    calls.push_back("drop");
    return {};
  }
  std::vector<std::string> calls;
};

TEST(TimedPhase, EveryWorkloadRunsOnARealFileSystem) {
  for (const timed::SmallWorkload& each : timed::small_workloads()) {
    SCOPED_TRACE(each.name);
    const TemporaryFolder folder;
    HostVfs vfs(folder.path().string());
    const timed::TimedWorkload& workload = **timed::find_timed_workload(each.name);
    timed::Arguments replaced = each.arguments;
    for (const timed::Parameter& parameter : workload.parameters) {
      if (parameter.name.ends_with("-cpu-ms")) replaced.emplace(parameter.name, 1);
    }
    const auto arguments = timed::arguments_of(workload, false, replaced, "test").value();
    for (const timed::Phase& phase : workload.phases(arguments)) {
      const auto measured = run_timed_phase(phase, arguments, 11, vfs);
      ASSERT_TRUE(measured);
      ASSERT_FALSE(measured->error) << phase.name << ": " << measured->error->what;
      EXPECT_GT(measured->elapsed_ns, 0);
    }
  }
}

timed::Phase phase_of(std::size_t users, std::function<timed::PhaseResult(timed::User&)> body) {
  return {.name = "test", .users = users, .body = std::move(body)};
}

TEST(TimedPhase, UsersStartTogetherAndTheirTalliesAreAdded) {
  HostVfs vfs("/");
  std::atomic<std::size_t> inside = 0;
  const auto phase = phase_of(5, [&inside](timed::User& user) -> timed::PhaseResult {
    ++inside;
    while (inside < 5) std::this_thread::yield();
    user.tally.operations = user.number;
    user.tally.bytes_read = 10;
    user.tally.bytes_written = user.seed;
    user.tally.latencies.record(static_cast<std::int64_t>(user.number));
    return {};
  });
  const auto measured = run_timed_phase(phase, {}, 3, vfs);
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->tally.operations, 0U + 1 + 2 + 3 + 4);
  EXPECT_EQ(measured->tally.bytes_read, 50U);
  EXPECT_EQ(measured->tally.bytes_written, 15U);
  EXPECT_EQ(measured->tally.latencies.count(), 5U);
  EXPECT_EQ(measured->tally.latencies.summary().max_ns, 4);
}

TEST(TimedPhase, TheFirstFailureStopsOthersAndIsReported) {
  HostVfs vfs("/");
  const auto phase = phase_of(3, [](timed::User& user) -> timed::PhaseResult {
    if (user.number == 1)
      return tl::unexpected(timed::PhaseError{.what = "the first", .error = EIO});
    while (!*user.interrupted) std::this_thread::yield();
    return tl::unexpected(timed::PhaseError{.what = "stopped", .error = ECANCELED});
  });
  const auto measured = run_timed_phase(phase, {}, 3, vfs);
  ASSERT_TRUE(measured);
  ASSERT_TRUE(measured->error);
  EXPECT_EQ(measured->error->what, "the first");
  EXPECT_EQ(measured->error->error, EIO);
}

TEST(TimedPhase, TimeExcludesPreparationAndEndsWithTheLastUser) {
  constexpr std::int64_t kNap = 10'000'000;
  class Slow : public HostVfs {
   public:
    using HostVfs::HostVfs;
    VfsResult<void> drop_caches() override {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return HostVfs::drop_caches();
    }
  } vfs("/");
  std::atomic<std::int64_t> longest = 0;
  auto phase = phase_of(2, [&longest](timed::User& user) -> timed::PhaseResult {
    const std::int64_t start_ns = user.pace.now_ns();
    if (user.number == 1) user.pace.sleep_until(start_ns + kNap);
    if (user.number == 1) longest = user.pace.now_ns() - start_ns;
    return {};
  });
  phase.cold = true;
  const auto before = std::chrono::steady_clock::now();
  const auto measured = run_timed_phase(phase, {}, 3, vfs);
  const std::chrono::nanoseconds whole = std::chrono::steady_clock::now() - before;
  ASSERT_TRUE(measured);
  EXPECT_EQ(vfs.calls, (std::vector<std::string>{"sync", "drop"}));
  EXPECT_GE(longest, kNap);
  EXPECT_GE(measured->elapsed_ns, longest);
  EXPECT_LE(measured->elapsed_ns, whole.count() - 100'000'000);
}

TEST(TimedPhase, FailsIfCachesCannotBeDropped) {
  class Warm : public HostVfs {
   public:
    using HostVfs::HostVfs;
    VfsResult<void> drop_caches() override { return refuse(EACCES); }
  } vfs("/");
  auto phase = phase_of(1, [](timed::User&) -> timed::PhaseResult { return {}; });
  phase.cold = true;
  const auto measured = run_timed_phase(phase, {}, 3, vfs);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().value, EACCES);
}

TEST(TimedPhase, MeasuresTheCpuTimeOfTheWholeMachine) {
  const CpuTimes before = cpu_times();
  if (before.user_ms == 0) GTEST_SKIP() << "/proc/stat reports no CPU time here";
  HostVfs vfs("/");
  vfs.cpu(50'000'000);
  const CpuTimes after = cpu_times();
  EXPECT_GE(after.user_ms + after.system_ms, before.user_ms + before.system_ms + 20);
}

}  // namespace
}  // namespace headcrash::guest
