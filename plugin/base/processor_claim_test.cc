// Tests that each claim gets a different processor, and that releasing a claim frees its processor.
#include "plugin/base/processor_claim.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace headcrash::base {
namespace {

std::size_t processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  EXPECT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  return static_cast<std::size_t>(CPU_COUNT(&allowed));
}

TEST(ProcessorClaim, NoTwoClaimsShareAProcessor) {
  std::vector<ProcessorClaim> claims;
  std::set<int> seen;
  for (std::size_t i = 0; i <= processors(); ++i) {
    claims.push_back(ProcessorClaim::take());
    if (claims.back().processor()) {
      EXPECT_TRUE(seen.insert(*claims.back().processor()).second);
    }
  }
  EXPECT_FALSE(claims.back().processor()) << "more claims than processors";
  if (seen.empty()) GTEST_SKIP() << "all are claimed by others";
  claims.clear();
  bool again = false;  // may take a while: a parallel test may hold the processor
  for (int i = 0; i < 2000 && !again;
       ++i, std::this_thread::sleep_for(std::chrono::milliseconds(1)))
    again = ProcessorClaim::take().processor().has_value();
  EXPECT_TRUE(again);
}

TEST(ProcessorClaim, MoveChangesTheThreadsProcessor) {
  const ProcessorClaim claim = ProcessorClaim::take();
  if (!claim.processor()) GTEST_SKIP() << "all are claimed by others";
  std::thread([&] {
    claim.move(0);
    EXPECT_EQ(::sched_getcpu(), *claim.processor());
    EXPECT_EQ(processors(), 1U);
  }).join();
}

TEST(ProcessorClaim, MoveWithoutAClaimDoesNothing) {
  std::thread([] {
    const std::size_t before = processors();
    ProcessorClaim().move(0);
    EXPECT_EQ(processors(), before);
  }).join();
}

}  // namespace
}  // namespace headcrash::base
