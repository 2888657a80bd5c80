// I/O errors under every scheme, drawn from seeds (io_errors.h). HEADCRASH_IO_ERRORS=200 in the environment:
// so many seeds for each scheme; HEADCRASH_IO_ERRORS_FROM: the first one. A failure prints both, and the
// faults.
#include "harness/lab/in_process/io_errors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/workload/random_operations.h"
#include "plugin/model/number_from_environment.h"
#include "plugin/model/temporary_folder.h"

namespace headcrash::in_process {
namespace {

constexpr std::uint64_t kIoErrorDiskBytes = 8 << 20;
constexpr std::uint64_t kIoErrorSeeds = 12;

struct Sums {
  std::uint64_t runs = 0, hit = 0, failed_syncs = 0, ended = 0, unmounted = 0, images = 0;
};

std::string all(const std::vector<os::DiskFault>& faults) {
  std::string text;
  for (const os::DiskFault& fault : faults) text += (text.empty() ? "" : "; ") + format(fault);
  return text;
}

class IoErrors : public testing::TestWithParam<ufs::SchemeVariant> {};

TEST_P(IoErrors, LeaveNoMoreThanACutAndNothingUntold) {
  const model::TemporaryFolder folder;
  // A journal from the start: faults know where it is. Schemes without one leave it alone.
  const auto formatted =
      format_disk(kIoErrorDiskBytes, {.journal_bytes = 1 << 20}, folder.path() / "formatted.hcrec");
  ASSERT_TRUE(formatted) << formatted.error().message();
  const std::uint64_t first = number_from_environment("HEADCRASH_IO_ERRORS_FROM", 1);
  const std::uint64_t end = first + number_from_environment("HEADCRASH_IO_ERRORS", kIoErrorSeeds);
  Sums sums;
  for (std::uint64_t seed = first; seed < end; ++seed) {
    const auto faults = draw_faults(*formatted, seed);
    ASSERT_TRUE(faults) << faults.error().message();
    SCOPED_TRACE(
        fmt::format("HEADCRASH_IO_ERRORS_FROM={} HEADCRASH_IO_ERRORS=1 headcrash_in_process_test "
                    "--gtest_filter='*{}*': {}",
                    seed, testing::UnitTest::GetInstance()->current_test_info()->name(), all(*faults)));
    const auto operations =
        workload::random_operations({.seed = seed, .rounds = 60, .persistence_percent = 40});
    const auto seen = run_with_io_errors(
        *formatted, GetParam(), operations,
        {.seed = seed, .faults = *faults, .cache_bytes = seed % 3 == 0 ? 256U << 10 : 2U << 20});
    ASSERT_TRUE(seen) << seen.error().message();
    for (const std::string& broken : seen->broken) ADD_FAILURE() << broken << " (" << seen->ended << ")";
    ++sums.runs;
    sums.hit += seen->failed_requests > 0 ? 1 : 0;
    sums.failed_syncs += seen->failed_syncs;
    sums.ended += seen->ended.empty() ? 0 : 1;
    sums.unmounted += seen->unmounted_clean ? 1 : 0;
    sums.images += seen->images;
  }
  fmt::print(
      "{}: {} runs, {} with failures, {} failed fsyncs and syncs, {} ended early, {} clean, {} images\n",
      GetParam().name, sums.runs, sums.hit, sums.failed_syncs, sums.ended, sums.unmounted, sums.images);
  if (sums.runs >= kIoErrorSeeds) {
    EXPECT_GT(sums.hit * 4, sums.runs) << "the faults are too late to be met";
  }
}

std::string variant_name(const testing::TestParamInfo<ufs::SchemeVariant>& scheme) {
  std::string name = scheme.param.name;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, IoErrors, testing::ValuesIn(ufs::scheme_variants()), variant_name);

}  // namespace
}  // namespace headcrash::in_process
