// Tests all states of a few workloads under each scheme. The controls must fail.
// HEADCRASH_SCHEME_WORKLOADS=12 in the environment sets the number of workloads;
// HEADCRASH_SCHEME_WORKLOAD=indirect/3@deep~4 selects a single one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "fs-adapters/registry.h"
#include "harness/explorer/in_process/exploration.h"
#include "harness/explorer/in_process/lab_disks.h"
#include "harness/workload/ace.h"
#include "harness/workload/catalogue.h"
#include "plugin/base/testing/number_from_environment.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

constexpr std::uint64_t kDiskBytes = 8 << 20;  // size of the plain disk
constexpr std::uint64_t kWorkloads = 3;
constexpr std::uint64_t kStatesAtLeast = 8;  ///< minimum number of states for each workload

std::uint64_t workloads() {
  return number_from_environment("HEADCRASH_SCHEME_WORKLOADS", kWorkloads);
}

struct Sum {
  std::uint64_t checked = 0, clean = 0, forbidden = 0;
  std::vector<std::string> failures;
};

/// The parts of a workload's name, such as "reuse/3@tiny~2:5".
struct Tried {
  std::string workload;
  std::string disk = std::string(kPlainDisk);
  std::uint64_t order = 0, schedule = 0;
};
Tried tried(std::string text) {
  Tried one;
  if (const std::size_t at = text.rfind(':'); at != std::string::npos) {
    one.schedule = std::stoull(text.substr(at + 1));
    text.resize(at);
  }
  if (const std::size_t at = text.rfind('~'); at != std::string::npos) {
    one.order = std::stoull(text.substr(at + 1));
    text.resize(at);
  }
  if (const std::size_t at = text.rfind('@'); at != std::string::npos) {
    one.disk = text.substr(at + 1);
    text.resize(at);
  }
  one.workload = text;
  return one;
}

std::vector<Tried> sample_for(const adapters::SystemUnderTest& system) {
  if (const char* const only = std::getenv("HEADCRASH_SCHEME_WORKLOAD")) return {tried(only)};
  if (!system.description().shown_by.empty()) return {tried(system.description().shown_by)};
  std::vector<Tried> sample;
  for (const std::uint64_t number :
       workload::sample_numbers(workload::Ace(2).count(), workloads(), 5))
    sample.push_back({.workload = fmt::format("ace-seq2/{}", number)});
  return sample;
}

Sum explore_sample(const adapters::SystemUnderTest& system) {
  const TemporaryFolder folder;
  Sum sum;
  for (const Tried& one : sample_for(system)) {
    const std::string what = system.full_name() + "/" + one.workload;
    const auto operations = workload::make_workload({.name = one.workload});
    auto disk = system.lab_disk(one.disk);
    if (!operations || !disk) {
      ADD_FAILURE() << what << ": unknown workload, or unknown disk '" << one.disk << "'";
      return sum;
    }
    if (one.disk == kPlainDisk) disk->bytes = kDiskBytes;
    const auto formatted = format_disk(system.type(), *disk, folder.path() / "formatted.hcrec");
    if (!formatted) {
      ADD_FAILURE() << formatted.error().message();
      return sum;
    }
    DiskExplorer explorer(*formatted);
    const auto result = explorer.explore(
        system, *operations,
        {.budget = 5000, .run = {.order = one.order, .schedule = one.schedule}, .verify_one_in = 4},
        folder.path() / "run.hcrec");
    if (!result) {
      ADD_FAILURE() << what << ": " << result.error().message();
      return sum;
    }
    EXPECT_FALSE(result->run.failure) << what << ": " << *result->run.failure;
    sum.checked += result->checked;
    sum.clean += result->clean;
    sum.forbidden += result->forbidden;
    for (const ExploredState& failure : result->failures)
      sum.failures.push_back(fmt::format("{} {} {}: {}", what, failure.state,
                                         oracle::name(failure.outcome.judgement.verdict),
                                         failure.outcome.judgement.summary));
  }
  return sum;
}

class Schemes : public testing::TestWithParam<const adapters::SystemUnderTest*> {};

TEST_P(Schemes, LeavePermittedStates) {
  const Sum sum = explore_sample(*GetParam());
  EXPECT_GT(sum.checked, kStatesAtLeast * workloads());
  if (GetParam()->control()) {
    EXPECT_LT(sum.clean, sum.checked) << "no state of a control failed";
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
