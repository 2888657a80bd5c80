// Tests the cleaning policies: selected segments, their number, and write-back order
// (cleaning_policy.h).
#include "fs-adapters/lfs/cleaning_policy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plugin/base/random.h"

namespace headcrash::lfs {
namespace {

constexpr std::uint64_t kSegment = 100;

std::vector<std::uint32_t> chosen(const CleaningOptions& options,
                                  const std::vector<Candidate>& candidates) {
  SegmentSelector selector(options);
  std::vector<std::uint32_t> segments;
  for (const Candidate& each : selector.choose(candidates)) segments.push_back(each.segment);
  return segments;
}

using Segments = std::vector<std::uint32_t>;

CleaningOptions all_of(Selection selection) {
  return {.selection = selection, .segment_size = kSegment, .live_at_once = 1'000'000};
}

TEST(CleaningPolicy, GreedySelectsTheLeastUtilized) {
  EXPECT_EQ(
      chosen(all_of(Selection::greedy), {{1, 50, 900}, {2, 20, 1}, {3, 80, 5000}, {4, 49, 3}}),
      (Segments{2, 4, 1, 3}));
}

TEST(CleaningPolicy, CostBenefitMatchesEquationTwoOfThePaper) {
  // (1 - u) * age / (1 + u) is (1 - .75) * 700 / 1.75 = 100 and (1 - .2) * 100 / 1.2 = 66.7.
  EXPECT_DOUBLE_EQ(worth(Selection::cost_benefit, {1, 75, 700}, kSegment), 100);
  EXPECT_NEAR(worth(Selection::cost_benefit, {2, 20, 100}, kSegment), 66.6667, 1e-4);
  EXPECT_EQ(chosen(all_of(Selection::cost_benefit), {{2, 20, 100}, {1, 75, 700}}),
            (Segments{1, 2}));
}

TEST(CleaningPolicy, CostBenefitCleansColdSegmentsAtHigherUtilization) {
  const Candidate hot{1, 40, 10}, cold{2, 75, 1000};
  EXPECT_EQ(chosen(all_of(Selection::cost_benefit), {hot, cold}), (Segments{2, 1}));
  EXPECT_EQ(chosen(all_of(Selection::greedy), {hot, cold}), (Segments{1, 2}));
}

TEST(CleaningPolicy, MinDecliningCostIsTheInverseOfTheCostsDecline) {
  // The value is the inverse of the cost's decline per unit of time. The cost 2 / (1 - u) has the
  // derivative 2 / (1 - u)^2, and u declines by u / age, so the cost declines by
  // 2 / (1 - u)^2 * u / age.
  EXPECT_NEAR(worth(Selection::min_declining_cost, {1, 20, 90}, kSegment) /
                  worth(Selection::min_declining_cost, {2, 50, 900}, kSegment),
              (.64 / .2 * 90) / (.25 / .5 * 900), 1e-9);
}

TEST(CleaningPolicy, SelectsEmptySegmentsFirstAndNeverFullOnes) {
  for (const Selection selection :
       {Selection::greedy, Selection::cost_benefit, Selection::min_declining_cost}) {
    EXPECT_EQ(chosen(all_of(selection), {{1, 100, 1'000'000}, {2, 1, 1'000'000}, {3, 0, 0}}),
              (Segments{3, 2}))
        << name(selection);
  }
  EXPECT_TRUE(chosen(all_of(Selection::greedy), {{1, 100, 5}, {2, 100, 7}}).empty());
}

TEST(CleaningPolicy, APassStopsAfterCollectingEnoughLiveData) {
  const std::vector<Candidate> candidates{{1, 30, 1}, {2, 30, 1}, {3, 30, 1}, {4, 30, 1}};
  CleaningOptions options = all_of(Selection::greedy);
  options.live_at_once = 60;
  EXPECT_EQ(chosen(options, candidates), (Segments{1, 2}));
  options.live_at_once = 61;
  EXPECT_EQ(chosen(options, candidates), (Segments{1, 2, 3}));
  options.live_at_once = 1;
  EXPECT_EQ(chosen(options, candidates), (Segments{1}));
  options.live_at_once = 1'000'000;
  options.segments_at_once = 2;
  EXPECT_EQ(chosen(options, candidates), (Segments{1, 2}));
}

TEST(CleaningPolicy, BreaksTiesInFavourOfTheLowerSegment) {
  EXPECT_EQ(
      chosen(all_of(Selection::greedy), {{7, 5, 1}, {3, 5, 2}, {5, 5, 3}, {4, 0, 1}, {1, 0, 9}}),
      (Segments{1, 4, 3, 5, 7}));
}

TEST(CleaningPolicy, MatchesASortOfAllCandidates) {
  Random random(7);
  for (const Selection selection :
       {Selection::greedy, Selection::cost_benefit, Selection::min_declining_cost}) {
    std::vector<Candidate> candidates;
    for (std::uint32_t i = 0; i < 500; ++i)
      candidates.push_back(
          {i, static_cast<std::uint32_t>(random.below(kSegment + 1)), random.below(100'000)});
    std::vector<Candidate> sorted = candidates;
    std::erase_if(sorted, [](const Candidate& each) { return each.live == kSegment; });
    std::stable_sort(sorted.begin(), sorted.end(), [&](const Candidate& a, const Candidate& b) {
      return worth(selection, a, kSegment) > worth(selection, b, kSegment);
    });
    Segments expected;
    for (const Candidate& each : sorted) expected.push_back(each.segment);
    EXPECT_EQ(chosen(all_of(selection), candidates), expected) << name(selection);
  }
}

TEST(CleaningPolicy, DoesNotDependOnEarlierPasses) {
  Random random(3);
  for (const Selection selection :
       {Selection::greedy, Selection::cost_benefit, Selection::min_declining_cost}) {
    CleaningOptions options = all_of(selection);
    options.live_at_once = 300;
    SegmentSelector kept(options);
    for (int pass = 0; pass < 200; ++pass) {
      // In most passes, the candidates are about equally good. In one pass of every ten, all of
      // them are worse; in another one, some of them may be much better.
      const std::uint64_t live_min = pass % 10 == 7   ? 90
                                     : pass % 10 == 3 ? 1
                                                      : 50,
                          few = pass % 25 == 4 ? 2 : 80;
      std::vector<Candidate> candidates;
      for (std::uint32_t i = 0; i < few; ++i)
        candidates.push_back(
            {i, static_cast<std::uint32_t>(live_min + random.below(kSegment - live_min + 1)),
             random.below(1000)});
      Segments segments;
      for (const Candidate& each : kept.choose(candidates)) segments.push_back(each.segment);
      ASSERT_EQ(segments, chosen(options, candidates)) << name(selection) << ", pass " << pass;
    }
  }
}

TEST(CleaningPolicy, StartsBelowTheLowThresholdAndStopsAtTheHighThreshold) {
  const CleaningOptions options{.start_below = 20, .stop_at = 50};
  EXPECT_TRUE(must_start(options, 19));
  EXPECT_FALSE(must_start(options, 20));
  EXPECT_FALSE(may_stop(options, 49));
  EXPECT_TRUE(may_stop(options, 50));
}

TEST(CleaningPolicy, WritesBlocksBackOldestFirstOrInReadingOrder) {
  WriteBackSorter sorter;
  const std::vector<LiveBlock> read{{70, 1}, {5'000'000'000, 2}, {3, 3}, {70, 4}, {0, 5}};
  const auto ids = [](const std::vector<LiveBlock>& blocks) {
    std::vector<std::uint64_t> all;
    for (const LiveBlock& each : blocks) all.push_back(each.id);
    return all;
  };
  std::vector<LiveBlock> blocks = read;
  sorter.sort(WriteBackOrder::as_read, blocks);
  EXPECT_EQ(ids(blocks), (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
  sorter.sort(WriteBackOrder::by_age, blocks);
  EXPECT_EQ(ids(blocks), (std::vector<std::uint64_t>{5, 3, 1, 4, 2}));
}

TEST(CleaningPolicy, MatchesAStableSortByAge) {
  Random random(11);
  WriteBackSorter sorter;
  for (const unsigned bits : {1U, 12U, 30U, 63U}) {
    std::vector<LiveBlock> blocks;
    for (std::uint64_t i = 0; i < 3000; ++i)
      blocks.push_back({random.below(std::uint64_t{1} << bits), i});
    std::vector<LiveBlock> expected = blocks;
    std::ranges::stable_sort(expected, {}, &LiveBlock::modified);
    sorter.sort(WriteBackOrder::by_age, blocks);
    for (std::size_t i = 0; i < blocks.size(); ++i)
      ASSERT_EQ(blocks[i].id, expected[i].id) << bits << " bits";
  }
}

}  // namespace
}  // namespace headcrash::lfs
