// Tests the names of crash states: each state has exactly one name, and an error in an invalid name
// gives its position.
#include "plugin/states/crash_state.h"

#include <gtest/gtest.h>

#include <limits>

#include "plugin/base/random.h"

namespace headcrash::states {
namespace {

using Base = CrashState::Base;

TEST(CrashStateName, EachFormRoundTrips) {
  for (const char* name : {"p0",
                           "p1234",
                           "w1234",
                           "w1234-",
                           "w1234-17.21",
                           "w1234+17.21",
                           "w1234+17.21~23:2x6",
                           "w1234~23:0x1.25:7x1",
                           "w1234-~23:2x6",
                           "w1234!55-",
                           "w1234!55",
                           "w1234!0+3",
                           "d2w1234",
                           "d65535w1-5",
                           "a1234",
                           "a1234-",
                           "a1234!55-17.21~23:2x6",
                           "a1+3",
                           "m1234:3@1201.5@1190",
                           "m0:0@0",
                           "w18446744073709551615-18446744073709551615"}) {
    const auto state = parse_crash_state(name);
    ASSERT_TRUE(state) << state.error().message();
    EXPECT_EQ(format(*state), name);
  }
  EXPECT_EQ(*parse_crash_state("d0w12"), *parse_crash_state("w12"));
}

TEST(CrashStateName, EachFormIsParsed) {
  const auto lost = parse_crash_state("d2w1234!55-17.21~23:2x6");
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->base, Base::writes);
  EXPECT_EQ(lost->device, 2);
  EXPECT_EQ(lost->event, 1234U);
  EXPECT_TRUE(lost->keep_others);
  EXPECT_EQ(lost->listed, (std::vector<model::RequestId>{17, 21}));
  EXPECT_EQ(lost->torn, (std::vector<TornWrite>{{23, 2, 6}}));
  EXPECT_EQ(lost->lies_from, 55U);
  EXPECT_FALSE(lost->all_disks);
  const auto everywhere = parse_crash_state("a1234!55-17.21~23:2x6");
  ASSERT_TRUE(everywhere);
  EXPECT_EQ(everywhere->base, Base::writes);
  EXPECT_TRUE(everywhere->all_disks);
  EXPECT_EQ(everywhere->device, 0);
  EXPECT_EQ(everywhere->listed, lost->listed);
  EXPECT_EQ(everywhere->torn, lost->torn);
  EXPECT_NE(*everywhere, *parse_crash_state("w1234!55-17.21~23:2x6"));
  const auto none = parse_crash_state("w7-");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->keep_others);
  EXPECT_TRUE(none->listed.empty());
  const auto members = parse_crash_state("m9:1@3.2@4");
  ASSERT_TRUE(members);
  EXPECT_EQ(members->base, Base::members);
  EXPECT_EQ(members->stopped,
            (std::vector<std::pair<model::DeviceId, std::uint64_t>>{{1, 3}, {2, 4}}));
}

TEST(CrashStateName, RejectsInvalidNamesWithTheReason) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"", "ends where"},
      {"x1", "character 1 is \"x\""},
      {"w", "ends where the event"},
      {"w-1", "character 2"},
      {"w12 ", "character 4 is \" \""},
      {"W12", "character 1"},
      {"w012", "leading zero"},
      {"w18446744073709551616", "too large"},
      {"w1+", "ends where a request"},
      {"w1-3.", "ends where a request"},
      {"w1-3.3", "not ascending at character 6"},
      {"w1-5.3", "not ascending"},
      {"w1-5+3", "character 5"},
      {"w1~3", "\":\""},
      {"w1~3:1", "\"x\""},
      {"w1~3:1x0", "no new sector"},
      {"w1~3:1x4294967296", "too large"},
      {"w1-3~3:1x1", "both listed and torn"},
      {"w1!", "cache lied"},
      {"d1p3", "character 3 is \"p\""},
      {"d1a3", "character 3 is \"a\""},
      {"a-1", "character 2"},
      {"d65536w1", "too large"},
      {"p1-", "the end of the name"},
      {"m1", "DEVICE@EVENT"},
      {"m1:3", "\"@\""},
      {"m1:3@2", "after the cut"},
      {"m9:3@2.3@1", "not ascending"},
      {"w1\n", "the byte 0x0a"},
  };
  for (const auto& [name, problem] : cases) {
    const auto state = parse_crash_state(name);
    ASSERT_FALSE(state) << name;
    EXPECT_NE(state.error().message().find(problem), std::string::npos) << state.error().message();
  }
  EXPECT_FALSE(parse_crash_state("w1-1" + std::string(kStateNameMax, '0')));
  EXPECT_FALSE(parse_crash_state(std::string_view("w1\0", 3)));
}

CrashState random_state(Random& random) {
  CrashState state;
  const auto rising = [&](auto each) {
    std::uint64_t request = 0;
    for (std::uint64_t count = random.below(4); count > 0; --count)
      each(request += 1 + random.below(3));
  };
  state.event = random.below(2) == 0 ? random.below(50) : random.next();
  state.base = static_cast<Base>(random.below(3));
  if (state.base == Base::members) {
    rising([&](std::uint64_t device) {
      state.stopped.emplace_back(device, state.event == 0 ? 0 : random.below(state.event));
    });
    if (state.stopped.empty()) state.base = Base::physical;
  }
  if (state.base != Base::writes) return state;
  state.all_disks = random.below(4) == 0;
  if (!state.all_disks) state.device = static_cast<model::DeviceId>(random.below(3));
  state.keep_others = random.below(2) == 0;
  if (random.below(4) == 0) state.lies_from = random.below(100);
  rising([&](std::uint64_t request) { state.listed.push_back(2 * request); });
  rising([&](std::uint64_t request) {
    state.torn.push_back({2 * request + 1, static_cast<std::uint32_t>(random.below(9)),
                          static_cast<std::uint32_t>(1 + random.below(9))});
  });
  return state;
}

TEST(CrashStateName, RandomStatesRoundTrip) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const CrashState state = random_state(random);
    const auto again = parse_crash_state(format(state));
    ASSERT_TRUE(again) << "seed " << seed << ": " << again.error().message();
    EXPECT_EQ(*again, state) << "seed " << seed << ": " << format(state);
  }
}

}  // namespace
}  // namespace headcrash::states
