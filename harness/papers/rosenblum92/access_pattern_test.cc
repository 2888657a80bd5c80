// Tests how often each file is overwritten (access_pattern.h).
#include "harness/papers/rosenblum92/access_pattern.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr std::uint32_t kFiles = 100'000;
constexpr std::size_t kDraws = 1'000'000;

std::vector<std::uint32_t> drawn(const AccessPattern& pattern, std::uint64_t seed = 1) {
  AccessGenerator generator(pattern, kFiles, seed);
  std::vector<std::uint32_t> files(kDraws);
  generator.next(files);
  return files;
}

/// Returns the fraction of the draws that are less than `files`.
double share_below(const std::vector<std::uint32_t>& draws, double files) {
  std::size_t below = 0;
  for (const std::uint32_t each : draws) below += each < files ? 1 : 0;
  return static_cast<double>(below) / static_cast<double>(draws.size());
}

TEST(AccessPattern, UniformAccessesAreEvenlyDistributed) {
  const auto draws = drawn(kUniform);
  for (const double part : {.01, .1, .5, .9, .99})
    EXPECT_NEAR(share_below(draws, part * kFiles), part, .002);
  EXPECT_EQ(share_below(draws, kFiles), 1);
}

TEST(AccessPattern, HotAndColdGroupsAreEachUniform) {
  for (const AccessPattern& pattern : {kHotCold90To10, kHotCold90To1}) {
    const auto draws = drawn(pattern);
    const double hot = pattern.hot_files * kFiles;
    EXPECT_NEAR(share_below(draws, hot / 2), .45, .002) << pattern.name();
    EXPECT_NEAR(share_below(draws, hot), .9, .002) << pattern.name();
    EXPECT_NEAR(share_below(draws, hot + (kFiles - hot) / 4), .925, .002) << pattern.name();
    EXPECT_EQ(share_below(draws, kFiles), 1) << pattern.name();
  }
}

TEST(AccessPattern, ExponentialMatchesItsDistributionFunction) {
  for (const AccessPattern& pattern : {kExponentialAsPrinted, kExponentialAsNamed}) {
    const auto draws = drawn(pattern);
    for (const double at : {.001, .005, .01, .02, .05, .1, .2})
      EXPECT_NEAR(share_below(draws, at * kFiles), 1 - std::exp(-at / pattern.mean), .002)
          << pattern.name() << " at " << at;
  }
}

// The dissertation states that an exponential distribution with a mean of 0.02172 "causes 90% of
// the references to go to 2% of the data".
TEST(AccessPattern, ThePrintedMeanDiffersFromTheDescribedOne) {
  EXPECT_NEAR(share_below(drawn(kExponentialAsPrinted), .02 * kFiles), .60, .003);
  EXPECT_NEAR(share_below(drawn(kExponentialAsPrinted), .05 * kFiles), .90, .003);
  EXPECT_NEAR(share_below(drawn(kExponentialAsNamed), .02 * kFiles), .90, .003);
}

TEST(AccessPattern, AnExponentialPatternStaysWithinTheFiles) {
  const auto draws = drawn({.kind = AccessPattern::Kind::exponential, .mean = 2});
  EXPECT_EQ(share_below(draws, kFiles), 1);
  // A number beyond the last file is drawn again, so the distribution is truncated.
  EXPECT_NEAR(share_below(draws, .5 * kFiles), (1 - std::exp(-.25)) / (1 - std::exp(-.5)), .002);
}

TEST(AccessPattern, EqualSeedsGiveEqualAccesses) {
  for (const AccessPattern& pattern : {kUniform, kHotCold90To10, kExponentialAsNamed}) {
    EXPECT_EQ(drawn(pattern, 5), drawn(pattern, 5)) << pattern.name();
    EXPECT_NE(drawn(pattern, 5), drawn(pattern, 6)) << pattern.name();
  }
}

TEST(AccessPattern, IdentifiesHotFiles) {
  EXPECT_EQ(AccessGenerator(kHotCold90To10, kFiles, 1).hot_limit(), kFiles / 10);
  EXPECT_NEAR(AccessGenerator(kExponentialAsNamed, kFiles, 1).hot_limit(), .02 * kFiles, 2);
}

}  // namespace
}  // namespace headcrash::experiment::rosenblum92
