// Tests a benchmark in a guest, from the benchmark file to the rows in the database. Runs two
// workloads on ext4, with two repetitions each. One workload is small; the other does not fit on
// the disk.
#include <gtest/gtest.h>

#include "harness/bench/bench.h"
#include "plugin/base/testing/temporary_folder.h"
#include "results/db/statement.h"

namespace headcrash::bench {
namespace {

// 200 files of 1 KiB fit on the 64 MiB drive; 200 files of 1 MiB do not.
const char* const kBench = R"(
filesystems = ["ext4"]
[[device]]
profiles = ["hp-c2447"]
size = "64M"
[[workload]]
name = "lfs-small-file"
files = 200
[[workload]]
name = "lfs-small-file"
files = 200
file-bytes = 1048576
[repetitions]
least = 2
most = 2
[guest]
step-timeout-s = 60
)";

class BenchGuest : public testing::Test {
 protected:
  void SetUp() override {
    auto bench = parse_bench(kBench, "test.toml");
    ASSERT_TRUE(bench) << bench.error().message();
    bench_ = std::move(*bench);
  }
  std::filesystem::path file() const { return folder_ / "bench.db"; }
  Result<BenchOutcome> run(bool resume, const std::atomic<bool>* interrupted = nullptr) {
    return run_bench(bench_, {.database = file(),
                              .cache = campaign::default_cache(),
                              .resume = resume,
                              .on_progress =
                                  [this](const campaign::CampaignProgress& progress) {
                                    if (progress.trial == nullptr) return;
                                    ++trials_;
                                    stop_ = trials_ == stop_after_;
                                  },
                              .interrupted = interrupted});
  }
  std::int64_t count(const std::string& query) {
    auto database = db::Database::open(file(), db::Database::Access::read_only);
    EXPECT_TRUE(database);
    const auto number = db::query_integer(database->handle(), query);
    EXPECT_TRUE(number) << number.error().message();
    return number.value_or(-1);
  }

  /// Not locked by the test, because Database::open() locks this directory.
  TemporaryFolder folder_;
  Bench bench_;
  int trials_ = 0, stop_after_ = -1;
  std::atomic<bool> stop_ = false;
};

TEST_F(BenchGuest, StoresMatchingMeasurementsAndNoneForFailures) {
  stop_after_ = 1;
  const auto begun = run(false, &stop_);
  ASSERT_TRUE(begun) << begun.error().message();
  EXPECT_TRUE(begun->interrupted);
  EXPECT_EQ(begun->done_now, 1U);
  stop_after_ = -1;
  const auto outcome = run(true);
  ASSERT_TRUE(outcome) << outcome.error().message();
  EXPECT_FALSE(outcome->interrupted);
  EXPECT_EQ(outcome->run, begun->run);
  EXPECT_EQ(outcome->done_before, 1U);
  EXPECT_EQ(outcome->planned, 4U);
  EXPECT_EQ(
      count(
          "SELECT count(*) FROM run WHERE kind = 'bench' AND finished_at IS NOT NULL AND trials_planned = 4"),
      1);

  // Both successful trials must be recorded, with all phases of the workload.
  EXPECT_EQ(
      count(
          "SELECT count(*) FROM trial WHERE verdict = 'measured' AND scale = 'custom' AND repetition "
          "IN (0, 1) "
          "AND parameters LIKE '%files=200%' AND host_busy BETWEEN 0 AND 1"),
      2);
  for (const char* label : {"create", "read", "delete"}) {
    const std::string rows =
        std::string(
            "SELECT count(*) FROM measure m JOIN phase p ON p.id = phase_id WHERE measured "
            "AND label = '") +
        label + "' AND p.name = 'workload' AND clock = 'real:1' AND ";
    EXPECT_EQ(count(rows + "operations = 200 AND elapsed_ms > 0 AND quiescent_ms >= elapsed_ms AND "
                           "device_busy_ms <= elapsed_ms"),
              2)
        << label;
    // The two byte counts may differ by one block, because ext4 reads bitmaps ahead in the
    // background, possibly between the two readings of the counters. QEMU may merge adjacent
    // requests, so the device may count fewer requests than the guest.
    EXPECT_EQ(count(rows + "abs(guest_bytes_read - bytes_read) <= 4096 AND "
                           "abs(guest_bytes_written - bytes_written) <= 4096"),
              2)
        << label;
    EXPECT_EQ(count(rows + "guest_writes >= writes AND guest_reads + 4 >= reads"), 2) << label;
  }
  EXPECT_EQ(
      count(
          "SELECT count(*) FROM measure JOIN phase ON id = phase_id WHERE label = 'create' AND "
          "writes > 0 AND "
          "app_bytes_written = 200 * 1024 AND bytes_written >= app_bytes_written AND flushes > 0"),
      2);
  EXPECT_EQ(
      count(
          "SELECT count(*) FROM measure JOIN phase ON id = phase_id WHERE label = 'read' AND reads > 0 AND "
          "app_bytes_read = 200 * 1024 AND bytes_read >= app_bytes_read"),
      2)
      << "the cache was dropped";

  // For the trials that ran out of space, the database has a failed trial and the console, but no
  // measurements.
  EXPECT_EQ(
      count(
          "SELECT count(*) FROM trial t JOIN artefact a ON a.trial_id = t.id WHERE verdict = 'failed' AND "
          "summary LIKE 'create: %: No space left on device' AND a.kind = 'console'"),
      2);
  EXPECT_EQ(
      count(
          "SELECT count(*) FROM measure m JOIN phase p ON p.id = m.phase_id JOIN trial t ON t.id = "
          "p.trial_id "
          "WHERE t.verdict = 'failed'"),
      0);

  ASSERT_EQ(outcome->cells.size(), 2U);
  EXPECT_EQ(outcome->cells[0].phases.size(), 3U);
  EXPECT_EQ(outcome->cells[1].failed, 2);
  const auto plan = forecast(bench_, {}, 1, file());
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->each[0].origin, "2 earlier trials");
}

}  // namespace
}  // namespace headcrash::bench
