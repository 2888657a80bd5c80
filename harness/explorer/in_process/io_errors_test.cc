// Tests every scheme with I/O errors that are generated from seeds (io_errors.h). In the
// environment, HEADCRASH_IO_ERRORS=200 sets the number of seeds per scheme, and
// HEADCRASH_IO_ERRORS_FROM the first seed. A test that fails prints the faults, the operations, and
// the values of these variables that repeat the failure.
#include "harness/explorer/in_process/io_errors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fs-adapters/registry.h"
#include "harness/explorer/in_process/exploration.h"
#include "harness/explorer/in_process/lab_disks.h"
#include "harness/workload/random_operations.h"
#include "plugin/base/testing/number_from_environment.h"
#include "plugin/base/testing/temporary_folder.h"
#include "plugin/model/testing/sector_bytes.h"

namespace headcrash::in_process {
namespace {

constexpr std::uint64_t kIoErrorDiskBytes = 8 << 20;
constexpr std::uint64_t kIoErrorSeeds = 12;
constexpr std::uint64_t kIoErrorStates = 40;

struct Sums {
  std::uint64_t runs = 0, hit = 0, failed_syncs = 0, ended = 0, unmounted = 0, states = 0;
};

/// Returns true if the state is the one after an unmount. Controls are checked only in this state:
/// most of them break their rules after a power cut, but all must be consistent after an unmount.
bool is_of_an_unmount(const ExploredState& failure, const RecordedRun& run) {
  const auto state = states::parse_crash_state(failure.state);
  const Unmount unmount = state ? run.unmounted_at(*state) : Unmount::none;
  return unmount == Unmount::succeeded || (unmount == Unmount::failed && failure.outcome.was_clean);
}

std::string lines_of(const std::vector<workload::Operation>& operations) {
  std::string text;
  for (const workload::Operation& one : operations) text += workload::format(one) + "\n";
  return text;
}

class IoErrors : public testing::TestWithParam<const adapters::SystemUnderTest*> {
 protected:
  void SetUp() override {
    adapters::LabDisk disk = GetParam()->lab_disk(kPlainDisk).value();
    disk.bytes = kIoErrorDiskBytes;
    // Every scheme gets a journal, even if it does not use one, so that faults can target the same
    // area for all schemes.
    const bool has_features = disk.mkfs.contains("fast-check") ||
                              disk.mkfs.contains("bmap-cache") ||
                              disk.mkfs.contains("external-journal");
    const bool has_journal = GetParam()->type().name() == "ufs" && !has_features;
    if (has_journal) disk.mkfs["journal-size"] = "1M";
    auto formatted = format_disk(GetParam()->type(), disk, folder_.path() / "formatted.hcrec");
    ASSERT_TRUE(formatted) << formatted.error().message();
    formatted_ = std::move(*formatted);
  }
  static std::vector<workload::Operation> operations_of(std::uint64_t seed) {
    return workload::random_operations(
        {.seed = seed,
         .rounds = 60,
         .persistence_percent = 40,
         .threads = static_cast<std::uint8_t>(seed % 4 == 0 ? 2 : 1)});
  }
  RunOptions run_of(std::uint64_t seed) const {
    auto faults = draw_faults(formatted_, seed);
    EXPECT_TRUE(faults) << faults.error().message();
    return {.seed = seed,
            .cache_bytes = seed % 3 == 0 ? 256U << 10 : 2U << 20,
            .order = seed % 2 == 0 ? seed : 0,
            .faults = *std::move(faults)};
  }
  static std::string trace_of(std::uint64_t seed, const RunOptions& run) {
    return fmt::format(
        "HEADCRASH_IO_ERRORS_FROM={} HEADCRASH_IO_ERRORS=1 headcrash_in_process_test "
        "--gtest_filter='*{}*': {}\n{}",
        seed, testing::UnitTest::GetInstance()->current_test_info()->name(), format(run.faults),
        lines_of(operations_of(seed)));
  }

  TemporaryFolder folder_;
  std::filesystem::path recording_ = folder_.path() / "run.hcrec";
  FormattedDisk formatted_;
};

std::uint64_t seeds() {
  return number_from_environment("HEADCRASH_IO_ERRORS", kIoErrorSeeds);
}

TEST_P(IoErrors, LeaveNoMoreDamageThanACutAndAreReported) {
  const std::uint64_t first = number_from_environment("HEADCRASH_IO_ERRORS_FROM", 1);
  const std::uint64_t end = first + seeds();
  DiskExplorer explorer(formatted_);
  Sums sums;
  for (std::uint64_t seed = first; seed < end; ++seed) {
    const RunOptions run = run_of(seed);
    SCOPED_TRACE(trace_of(seed, run));
    const auto seen = explorer.explore(*GetParam(), operations_of(seed),
                                       {.budget = kIoErrorStates, .run = run}, recording_);
    ASSERT_TRUE(seen) << seen.error().message();
    const MetFaults& met = seen->run.met;
    EXPECT_FALSE(seen->run.failure) << *seen->run.failure;
    for (const ExploredState& failure : seen->failures) {
      if (GetParam()->description().shows_unmounted) continue;
      if (GetParam()->control() && !is_of_an_unmount(failure, seen->run)) continue;
      ADD_FAILURE() << failure.state << " " << oracle::name(failure.outcome.judgement.verdict)
                    << ": " << failure.outcome.judgement.summary << " (ended by: " << met.ended_by
                    << ")";
    }
    ++sums.runs;
    sums.hit += met.failed_requests > 0 ? 1 : 0;
    sums.failed_syncs += met.failed_syncs;
    sums.ended += met.ended_by.empty() ? 0 : 1;
    sums.unmounted += seen->run.unmount == Unmount::succeeded ? 1 : 0;
    sums.states += seen->checked;
  }
  fmt::print(
      "{}: {} runs, {} with failures, {} failed fsyncs and syncs, {} ended early, {} clean, {} states\n",
      GetParam()->full_name(), sums.runs, sums.hit, sums.failed_syncs, sums.ended, sums.unmounted,
      sums.states);
  if (sums.runs >= kIoErrorSeeds) {
    EXPECT_GT(sums.hit * 4, sums.runs) << "too many runs end before their first fault";
  }
}

/// The recording contains the effects of failed writes, so its last state must equal the medium's
/// contents.
TEST_P(IoErrors, ARecordingContainsTheEffectsOfFailedWrites) {
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 1; seed <= std::min(seeds(), kIoErrorSeeds); ++seed) {
    const RunOptions run = run_of(seed);
    SCOPED_TRACE(trace_of(seed, run));
    StateDisk disk(formatted_);
    const auto recorded =
        record_run(formatted_, disk, *GetParam(), operations_of(seed), run, recording_);
    ASSERT_TRUE(recorded) << recorded.error().message();
    failed += recorded->met.failed_requests;
    const std::vector<std::byte> medium(disk.bytes().begin(), disk.bytes().end());
    const auto history = states::RunHistory::load(recording_);
    ASSERT_TRUE(history) << history.error().message();
    ASSERT_TRUE(disk.begin_run(*history));
    disk.show({.event = recorded->to_event});
    EXPECT_TRUE(model::bench::same_bytes(disk.bytes(), medium));
  }
  if (seeds() >= kIoErrorSeeds) {
    EXPECT_GT(failed, 0U);
  }
}

std::string variant_name(const testing::TestParamInfo<const adapters::SystemUnderTest*>& system) {
  std::string name = system.param->full_name();
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, IoErrors, testing::ValuesIn(adapters::all_systems()), variant_name);

}  // namespace
}  // namespace headcrash::in_process
