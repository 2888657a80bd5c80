#include "results/report/answer.h"

#include <gtest/gtest.h>

namespace headcrash::report {
namespace {

Cell cell(const std::string& filesystem, const std::string& expected, std::int64_t kept, std::int64_t lost) {
  Cell c;
  c.filesystem = filesystem;
  c.device = "d";
  c.workload = "w";
  c.expected = expected;
  c.trials = kept + lost;
  c.replayed = kept;
  c.lost = c.lost_synced = lost;
  c.losses_needed = std::min<std::int64_t>(3, c.trials);
  if (expected == "clean") {
    c.met = lost == 0;
    c.unexpected = lost;
  } else if (expected == "loss") {
    c.must = "lose";
    c.met = lost >= c.losses_needed;
    c.unexpected = *c.met ? 0 : kept;
  }
  return c;
}

Facts facts(std::vector<Cell> cells) {
  Facts f;
  f.run.finished_at = "2026-01-01T00:00:00Z";
  for (const auto& c : cells) {
    f.run.recorded += c.trials;
    if (c.lost > 0)
      f.verdicts.push_back({c.filesystem, c.expected, c.must, "lost-synced-data", "lost", c.lost});
  }
  f.run.planned = f.run.recorded;
  f.cells = std::move(cells);
  return f;
}

TEST(Answer, SaysWhoKeptAndWhatTheControlDid) {
  const auto said = answer(
      facts({cell("ext4", "clean", 5, 0), cell("ext4-nobarrier", "loss", 1, 4), cell("xfs", "clean", 5, 0)}));
  EXPECT_EQ(said.paragraph,
            "ext4 and xfs kept everything they had promised in 10 of 10 power cuts. ext4-nobarrier, the "
            "control that must "
            "lose, lost synced data in 4 of 5.");
  EXPECT_TRUE(said.valid);
  EXPECT_EQ(said.controls, "The control came out as it must: ext4-nobarrier lost data.");
  EXPECT_TRUE(said.cautions.empty());
}

TEST(Answer, ABrokenPromiseComesFirst) {
  const auto said = answer(facts({cell("btrfs", "clean", 3, 2), cell("ext4", "clean", 1, 0)}));
  EXPECT_EQ(said.paragraph,
            "btrfs lost data it had promised to keep in 2 of 5 power cuts (2 lost-synced-data). ext4 kept "
            "everything it had "
            "promised in 1 of 1 power cut.");
  EXPECT_NE(said.controls.find("no control"), std::string::npos);
}

TEST(Answer, WhatIsNeitherKeptNorLostIsNotCalledALoss) {
  auto f = facts({cell("btrfs", "clean", 4, 1)});
  f.cells[0].replayed = 3;
  f.cells[0].other = 1;
  f.cells[0].unexpected = 2;
  f.verdicts.push_back({"btrfs", "clean", "", "harness-error", "other", 1});
  EXPECT_EQ(answer(f).paragraph,
            "btrfs lost data it had promised to keep in 1 of 5 power cuts (1 lost-synced-data) and came out "
            "neither clean "
            "nor as a loss in 1 (1 harness-error).");
}

TEST(Answer, TwoControlsAreBothAndMoreAreCounted) {
  std::vector<Cell> cells = {cell("a", "loss", 0, 3), cell("b", "loss", 0, 3)};
  EXPECT_EQ(answer(facts(cells)).controls, "Both controls came out as they must: a and b lost data.");
  cells.push_back(cell("c", "loss", 0, 3));
  EXPECT_EQ(answer(facts(cells)).controls, "All 3 controls came out as they must: a, b and c lost data.");
}

TEST(Answer, AControlThatDoesNotLoseMakesTheReportInvalid) {
  const auto said = answer(facts({cell("ext4", "clean", 5, 0), cell("ext4-nobarrier", "loss", 3, 2)}));
  EXPECT_FALSE(said.valid);
  ASSERT_EQ(said.failed_controls.size(), 1U);
  EXPECT_EQ(said.failed_controls[0],
            "The control ext4-nobarrier on d with w must lose data and did so in 2 of 5 trials (3 needed).");
}

TEST(Answer, ANegativeControlThatFailsMakesTheReportInvalid) {
  auto f = facts({cell("ext4-nobarrier", "loss", 0, 3), cell("xfs", "clean", 2, 1)});
  f.cells[1].must = "keep";
  const auto said = answer(f);
  EXPECT_FALSE(said.valid);
  EXPECT_EQ(said.failed_controls.at(0),
            "The control xfs on d with w must keep everything and did not in 1 of 3 trials.");
  f.cells[1].met = true;
  f.cells[1].variant = "lose-all";
  EXPECT_EQ(answer(f).controls,
            "Both controls came out as they must: ext4-nobarrier lost data; xfs (lose-all) kept everything.");
  f.cells.erase(f.cells.begin());
  EXPECT_NE(answer(f).controls.find("no control that must lose"), std::string::npos)
      << "one that keeps shows nothing about finding losses";
}

TEST(Answer, InterruptedAndEmptyRunsAreSaid) {
  auto f = facts({cell("ext4", "clean", 7, 0)});
  f.run.finished_at.reset();
  f.run.planned = 15;
  EXPECT_TRUE(answer(f).cautions.at(0).starts_with("interrupted: 7 of 15 trials"));
  EXPECT_TRUE(answer(f).controls.starts_with("No control that must lose data has been run so far"))
      << answer(f).controls;
  EXPECT_TRUE(answer(facts({})).valid);
  EXPECT_NE(answer(facts({})).paragraph.find("No trial"), std::string::npos);
}

TEST(Answer, ATrialWithoutACutIsNoPowerCut) {
  auto f = facts({cell("ext4", "clean", 5, 0)});
  f.cells[0].uncut = 1;
  EXPECT_NE(answer(f).paragraph.find("5 of 5 trials"), std::string::npos);
  EXPECT_NE(answer(f).cautions.at(0).find("never came"), std::string::npos);
}

TEST(Answer, ManyNamesAreCounted) {
  std::vector<Cell> cells;
  for (char c = 'a'; c < 'k'; ++c) cells.push_back(cell(std::string(1, c), "clean", 1, 0));
  EXPECT_TRUE(answer(facts(cells)).paragraph.starts_with("a, b, c, d, e, f and 4 more kept everything they"))
      << answer(facts(cells)).paragraph;
}

}  // namespace
}  // namespace headcrash::report
