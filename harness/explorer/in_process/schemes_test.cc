// Each scheme on a few workloads, all states; the controls are caught. HEADCRASH_SCHEME_WORKLOADS=12 in the
// environment: more of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fs-adapters/registry.h"
#include "harness/explorer/in_process/exploration.h"
#include "harness/workload/ace.h"
#include "plugin/base/testing/number_from_environment.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

constexpr std::uint64_t kDiskBytes = 8 << 20;
constexpr std::uint64_t kWorkloads = 3;
constexpr std::uint64_t kStatesAtLeast = 8;  ///< of a workload

std::uint64_t workloads() {
  return number_from_environment("HEADCRASH_SCHEME_WORKLOADS", kWorkloads);
}

struct Sum {
  std::uint64_t checked = 0, clean = 0, forbidden = 0;
  std::vector<std::string> failures;
};

Sum explore_sample(const adapters::SystemUnderTest& system) {
  const TemporaryFolder folder;
  const auto formatted = format_disk(system.type(), {.bytes = kDiskBytes}, folder.path() / "formatted.hcrec");
  Sum sum;
  if (!formatted) {
    ADD_FAILURE() << formatted.error().message();
    return sum;
  }
  Bench bench(*formatted);
  const workload::Ace ace(2);
  for (const std::uint64_t number : workload::sample_numbers(ace.count(), workloads(), 5)) {
    const auto operations = ace.workload(number);
    const auto result =
        bench.explore(system, operations, {.budget = 5000, .verify_one_in = 4}, folder.path() / "run.hcrec");
    if (!result) {
      ADD_FAILURE() << system.full_name() << " ace-seq2/" << number << ": " << result.error().message();
      return sum;
    }
    EXPECT_FALSE(result->run.failure)
        << system.full_name() << " ace-seq2/" << number << ": " << *result->run.failure;
    sum.checked += result->checked;
    sum.clean += result->clean;
    sum.forbidden += result->forbidden;
    for (const ExploredState& failure : result->failures)
      sum.failures.push_back(fmt::format("ace-seq2/{} {} {}: {}", number, failure.state,
                                         oracle::name(failure.outcome.judgement.verdict),
                                         failure.outcome.judgement.summary));
  }
  return sum;
}

class Schemes : public testing::TestWithParam<const adapters::SystemUnderTest*> {};

TEST_P(Schemes, LeaveWhatTheyMay) {
  const Sum sum = explore_sample(*GetParam());
  EXPECT_GT(sum.checked, kStatesAtLeast * workloads());
  if (GetParam()->control()) {
    EXPECT_LT(sum.clean, sum.checked) << "a control that is not caught";
    return;
  }
  EXPECT_EQ(sum.clean, sum.checked) << fmt::format("{}", fmt::join(sum.failures, "\n"));
}

std::string test_name(const testing::TestParamInfo<const adapters::SystemUnderTest*>& system) {
  std::string name = system.param->full_name();
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Schemes, testing::ValuesIn(adapters::all_systems()), test_name);

}  // namespace
}  // namespace headcrash::in_process
