// Tests valid and invalid update policies.
#include "fs-adapters/substrate/os/update_policy.h"

#include <gtest/gtest.h>

namespace headcrash::os {
namespace {

using Policy = SyncerOptions::Policy;
constexpr std::uint64_t kCacheBytes = 60 << 20;

SyncerOptions read(std::string_view text) {
  const auto options = parse_update_policy(text, kCacheBytes, "-o update");
  EXPECT_TRUE(options) << text << ": " << (options ? "" : options.error().message());
  return options.value_or(SyncerOptions{});
}

TEST(UpdatePolicy, ParsesEveryForm) {
  EXPECT_EQ(read("sweep").policy, Policy::sweep);
  EXPECT_EQ(read("write-through").policy, Policy::write_through);
  EXPECT_EQ(read("periodic:30").policy, Policy::periodic);
  EXPECT_EQ(read("periodic:30").interval_ns, 30 * model::kSecondNs);
  EXPECT_EQ(read("interval:0").policy, Policy::interval);
  EXPECT_EQ(read("interval:0").interval_ns, 0);
  EXPECT_EQ(read("interval:2.5").interval_ns, 5 * model::kSecondNs / 2);
  EXPECT_EQ(read("interval:5").age, SyncerOptions::Age::since_last_change);
  EXPECT_EQ(read("interval:5:first").age, SyncerOptions::Age::since_first_change);
  EXPECT_EQ(read("interval:endless").interval_ns, model::kNever);
  EXPECT_EQ(read("burst:15:3M").policy, Policy::burst);
  EXPECT_EQ(read("burst:15:3M").drain_bytes_per_s, 3U << 20);
  EXPECT_EQ(read("burst:20:3M").interval_ns, 20 * model::kSecondNs) << "writing 60 MiB takes 20 s";
}

TEST(UpdatePolicy, ReportsEachError) {
  struct Case {
    const char *text, *said;
  };
  for (const Case& each :
       std::initializer_list<Case>{{"", "unknown policy"},
                                   {"intervall:5", "interval"},
                                   {"interval", "is not a valid form"},
                                   {"interval:", "not a number"},
                                   {"interval:x", "not a number"},
                                   {"interval:5s", "not a number"},
                                   {"interval:nan", "the delay is negative"},
                                   {"interval:-1", "the delay is negative"},
                                   {"interval:2e9", "delay too long"},
                                   {"interval:inf", "delay too long"},
                                   {"interval:5:last", "is not a valid form"},
                                   {"interval:endless:first", "is not a valid form"},
                                   {"periodic:0", "invalid delay: 0 s"},
                                   {"periodic:-30", "the delay is negative"},
                                   {"periodic:30:1", "is not a valid form"},
                                   {"burst:15", "is not a valid form"},
                                   {"burst:0:3M", "invalid delay: 0 s"},
                                   {"burst:15:0", "invalid disk rate"},
                                   {"burst:15:x", "x"},
                                   {"burst:21:3M", "delay too long"},
                                   {"sweep:30", "is not a valid form"},
                                   {"write-through:1", "is not a valid form"}}) {
    const auto options = parse_update_policy(each.text, kCacheBytes, "-o update");
    ASSERT_FALSE(options) << each.text;
    EXPECT_NE(options.error().message().find(each.said), std::string::npos)
        << each.text << ": " << options.error().message();
    EXPECT_NE(options.error().message().find("-o update"), std::string::npos);
  }
}

}  // namespace
}  // namespace headcrash::os
