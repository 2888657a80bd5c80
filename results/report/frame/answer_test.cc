#include "results/report/frame/answer.h"

#include <gtest/gtest.h>

namespace headcrash::report {
namespace {

Cell cell(const std::string& filesystem, const std::string& expected, std::int64_t kept,
          std::int64_t lost) {
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

void add_trials(Facts& facts, const Cell& cell, const std::string& verdict, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    Trial trial;
    trial.filesystem = cell.filesystem;
    trial.device = cell.device;
    trial.workload = cell.workload;
    trial.expected = cell.expected;
    trial.must = cell.must;
    trial.variant = cell.variant;
    trial.verdict = verdict;
    facts.trials.push_back(trial);
  }
}

Facts facts(std::vector<Cell> cells) {
  Facts f;
  f.run.finished_at = "2026-01-01T00:00:00Z";
  for (const auto& c : cells) {
    f.run.recorded += c.trials;
    add_trials(f, c, "replayed", c.replayed);
    add_trials(f, c, "lost-synced-data", c.lost);
  }
  f.run.planned = f.run.recorded;
  f.cells = std::move(cells);
  return f;
}

TEST(Answer, CountsFileSystemsThatKeptTheirPromisesAndValidControls) {
  const auto said = answer(facts({cell("ext4-nobarrier", "loss", 1, 4), cell("ext4", "clean", 5, 0),
                                  cell("xfs", "clean", 5, 0)}));
  EXPECT_EQ(said.status, "2 of 2 file systems kept their promises");
  EXPECT_EQ(said.controls, "controls as expected: 1 of 1");
  EXPECT_TRUE(said.valid);
  EXPECT_TRUE(said.notes.empty());
  ASSERT_EQ(said.systems.size(), 3U);
  const SystemRow& control = said.systems[0];
  EXPECT_TRUE(control.control);
  EXPECT_EQ(control.expected, "loss");
  EXPECT_EQ(control.verdicts, "4 lost-synced-data, 1 replayed");
  EXPECT_EQ(control.as_expected, true);
  EXPECT_EQ(said.systems[1].replayed, 5);
}

TEST(Answer, ListsFileSystemsThatBrokeAPromiseFirst) {
  const auto said = answer(facts({cell("ext4", "clean", 1, 0), cell("btrfs", "clean", 3, 2)}));
  EXPECT_EQ(said.status, "1 of 2 file systems kept their promises; btrfs lost synced data");
  EXPECT_EQ(said.systems.at(0).filesystem, "btrfs");
  EXPECT_EQ(said.systems.at(0).as_expected, false);
  EXPECT_EQ(said.controls, "");
  EXPECT_EQ(said.notes.at(0),
            "negative controls: none (this run does not show that losses are detected)");
}

TEST(Answer, DistinguishesOtherFailuresFromLosses) {
  auto f = facts({cell("btrfs", "clean", 5, 0)});
  f.cells[0].replayed = 4;
  f.cells[0].other = 1;
  f.cells[0].unexpected = 1;
  f.cells[0].met = false;
  f.trials[0].verdict = "hang";
  const auto said = answer(f);
  EXPECT_EQ(said.status,
            "0 of 1 file systems kept their promises; btrfs was not clean, but lost no data");
  EXPECT_EQ(said.systems.at(0).verdicts, "1 hang, 4 replayed");
}

TEST(Answer, CountsAFileSystemAsFailedIfOneCellFailed) {
  auto bad = cell("xfs", "clean", 4, 1);
  bad.device = "e";
  const auto said = answer(facts({cell("xfs", "clean", 5, 0), bad}));
  EXPECT_EQ(said.status, "0 of 1 file systems kept their promises; xfs lost synced data");
  ASSERT_EQ(said.systems.size(), 1U) << "one row for all its cells";
  EXPECT_EQ(said.systems[0].place, "2 cells");
  EXPECT_EQ(said.systems[0].trials, 10);
  EXPECT_EQ(said.systems[0].as_expected, false);
}

TEST(Answer, IsInvalidWhenANegativeControlLosesNothing) {
  const auto said =
      answer(facts({cell("ext4", "clean", 5, 0), cell("ext4-nobarrier", "loss", 3, 2)}));
  EXPECT_FALSE(said.valid);
  EXPECT_EQ(said.controls, "controls as expected: 0 of 1");
  ASSERT_EQ(said.failed_controls.size(), 1U);
  EXPECT_EQ(said.failed_controls[0],
            "ext4-nobarrier, d, w: expected loss in at least 3; trials 5, kept 3, lost 2, other 0");
  EXPECT_NE(status_text(said).find("INVALID: ext4-nobarrier"), std::string::npos);
}

TEST(Answer, IsInvalidWhenAPositiveControlFails) {
  auto f = facts({cell("ext4-nobarrier", "loss", 0, 3), cell("xfs", "clean", 2, 1)});
  f.cells[1].must = "keep";
  const auto said = answer(f);
  EXPECT_FALSE(said.valid);
  EXPECT_EQ(said.failed_controls.at(0),
            "xfs, d, w: expected clean; trials 3, kept 2, lost 1, other 0");
  f.cells[1].met = true;
  f.cells[1].variant = "lose-all";
  EXPECT_EQ(answer(f).status, "controls as expected: 2 of 2") << "only controls were run";
  f.cells.erase(f.cells.begin());
  EXPECT_NE(answer(f).notes.at(0).find("negative controls: none"), std::string::npos)
      << "a positive control does not show that losses are found";
}

TEST(Answer, GivesNoVerdictWithoutAPromise) {
  const auto said = answer(facts({cell("ext2", "any", 1, 4)}));
  EXPECT_EQ(said.status, "nothing was promised");
  EXPECT_EQ(said.systems.at(0).as_expected, std::nullopt);
  EXPECT_NE(systems_text(said).find("nothing promised"), std::string::npos);
}

TEST(Answer, DescribesInterruptedAndEmptyRuns) {
  auto f = facts({cell("ext4", "clean", 7, 0)});
  f.run.finished_at.reset();
  f.run.planned = 15;
  const auto said = answer(f);
  EXPECT_EQ(said.notes.at(0),
            "finished trials: 7 of 15 (the run was interrupted or is still running)");
  EXPECT_EQ(said.notes.at(1), "negative controls: none has run yet");
  EXPECT_TRUE(answer(facts({})).valid);
  EXPECT_EQ(answer(facts({})).status, "no trial has finished");
}

TEST(Answer, NotesUncutAndLateTrials) {
  auto f = facts({cell("ext4", "clean", 5, 0), cell("ext4-nobarrier", "loss", 0, 3)});
  f.cells[0].uncut = 1;
  f.cells[0].late = 2;
  const auto said = answer(f);
  ASSERT_EQ(said.notes.size(), 2U);
  EXPECT_EQ(said.notes[0], "trials without a power cut: 1 of 8 (they do not test crashes)");
  EXPECT_TRUE(said.notes[1].starts_with("late trials: 2 of 8")) << said.notes[1];
}

TEST(Answer, CountsManyBrokenPromises) {
  std::vector<Cell> cells;
  for (char c = 'a'; c < 'k'; ++c) cells.push_back(cell(std::string(1, c), "clean", 0, 1));
  const std::string status = answer(facts(cells)).status;
  EXPECT_TRUE(status.starts_with("0 of 10 file systems kept their promises; a lost synced data; b"))
      << status;
  EXPECT_TRUE(status.ends_with("; f lost synced data; 4 more below")) << status;
}

TEST(Answer, AlignsTheColumnsOfTheTerminalTable) {
  const std::string text = systems_text(
      answer(facts({cell("ext4-nobarrier", "loss", 1, 4), cell("xfs", "clean", 12, 0)})));
  EXPECT_EQ(
      text,
      "  file system     trials  kept  lost  other  expected        as expected?  verdicts\n"
      "  ext4-nobarrier       5     1     4      0  loss (control)  yes           4 lost-synced-data, 1 "
      "replayed\n"
      "  xfs                 12    12     0      0  clean           yes           12 replayed\n");
}

}  // namespace
}  // namespace headcrash::report
