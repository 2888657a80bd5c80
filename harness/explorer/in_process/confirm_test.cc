// Tests that a failure is confirmed by a separate run and minimised, and that a failure that does
// not recur is rejected.
#include "harness/explorer/in_process/confirm.h"

#include <gtest/gtest.h>

#include "fs-adapters/registry.h"
#include "harness/workload/ace.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

TEST(Confirm, RepeatsFailuresAndMinimisesTheFirst) {
  const TemporaryFolder folder;
  const auto scheme = adapters::find_system("ufs", "no-order");
  ASSERT_TRUE(scheme);
  const auto formatted =
      format_disk((*scheme)->type(), {.bytes = 8 << 20}, folder.path() / "formatted.hcrec");
  ASSERT_TRUE(formatted) << formatted.error().message();
  const auto operations = workload::Ace(2).workload(4711);
  const ExplorationOptions options{.budget = 300, .failures_kept = 5};
  DiskExplorer explorer(*formatted);
  auto result = explorer.explore(**scheme, operations, options, folder.path() / "run.hcrec");
  ASSERT_TRUE(result) << result.error().message();
  ASSERT_GT(result->failures.size(), 1U);
  result->failures.back().digest ^= 1U;
  const auto again = folder.path() / "again.hcrec";
  ASSERT_TRUE(
      confirm_failures(*formatted, **scheme, operations, options, again, Minimise::first, *result));
  EXPECT_FALSE(result->failures.back().confirmed);
  EXPECT_NE(result->failures.back().disagreement, "");
  result->failures.pop_back();
  for (const ExploredState& failure : result->failures)
    EXPECT_TRUE(failure.confirmed) << failure.state << ": " << failure.disagreement;
  const std::string smaller = result->failures.front().minimised_state;
  ASSERT_NE(smaller, "");
  const auto outcome = explorer.check(**scheme, operations, result->run, again, smaller);
  ASSERT_TRUE(outcome) << outcome.error().message();
  EXPECT_EQ(outcome->outcome.judgement.verdict, result->failures.front().outcome.judgement.verdict);
}

}  // namespace
}  // namespace headcrash::in_process
