// Tests the unsynced-loss page with rows that were written by hand.
#include "results/report/campaign/unsynced_page.h"

#include <gtest/gtest.h>

#include "results/db/testing/database_fixture.h"

namespace headcrash::report {
namespace {

using db::must;

class UnsyncedPageTest : public db::ScratchFolder {
 protected:
  UnsyncedPageTest()
      : database_(must(db::Database::open(file(), db::Database::Access::read_write))) {
    run_ = must(database_.begin_run({.kind = "campaign",
                                     .name = "unsynced-loss",
                                     .configuration = "unsynced-loss",
                                     .digest = "d",
                                     .host_json = "{}",
                                     .versions_json = "{}",
                                     .accelerator = "tcg"}));
  }
  /// Adds a trial with four changes, each of a different age (in ms). Changes whose age is at most
  /// `oldest_lost` are lost.
  void add(const std::string& key, const std::string& filesystem, double bound, double oldest_lost,
           bool control = false) {
    db::TrialRecord trial{.key = key,
                          .filesystem = filesystem,
                          .device = "hp-c2447",
                          .workload = "unsynced-loss",
                          .clock = "real",
                          .verdict = "measured",
                          .expected = "any",
                          .started_at = "2026-01-01T00:00:00Z",
                          .variant = "short"};
    if (control) trial.control = "keep";
    db::PhaseRecord phase{.name = "workload", .clock = "real"};
    double lost = 0, kept = 0;
    for (const double age : {1000., 2500., 4000., 6000.}) {
      (age <= oldest_lost ? lost : kept) += 1;
      phase.metrics.push_back({std::string("age.") + (age <= oldest_lost ? "lost" : "kept") +
                                   ".write." + std::to_string(static_cast<int>(age)),
                               "ms", age});
    }
    phase.metrics.insert(phase.metrics.end(), {{"loss.bound", "ms", bound},
                                               {"loss.oldest_lost", "ms", oldest_lost},
                                               {"loss.lost", "", lost},
                                               {"loss.kept", "", kept},
                                               {"loss.bytes", "bytes", 4096 * lost}});
    trial.phases.push_back(std::move(phase));
    must(database_.record_trial(run_, trial));
  }

  db::Database database_;
  std::int64_t run_ = 0;
};

TEST_F(UnsyncedPageTest, GroupsCutsByFileSystemAndCountsLossesBeyondTheBound) {
  add("ext4/short/synced", "ext4", 3500, 0, true);
  add("ext4/short/cut-0", "ext4", 3500, 2500);
  add("ext4/short/cut-1", "ext4", 3500, 4000);
  add("f2fs/short/cut-0", "f2fs", 3500, 6000);
  EXPECT_TRUE(must(is_unsynced(database_, {})));
  const auto report = must(unsynced_report(database_, {}));
  EXPECT_TRUE(report.valid);
  EXPECT_EQ(report.cells, 4);
  EXPECT_EQ(report.not_measured, 0);
  ASSERT_EQ(report.summary["groups"].size(), 2U) << "a group contains no cuts of controls";
  const auto& ext4 = report.summary["groups"][0];
  EXPECT_EQ(ext4["cuts"], 2);
  EXPECT_DOUBLE_EQ(ext4["oldest_lost_s"], 4);
  EXPECT_DOUBLE_EQ(ext4["oldest_lost_median_s"], 3.25);
  EXPECT_TRUE(ext4["within_bound"]) << "the disk may take a second and a half";
  EXPECT_FALSE(report.summary["groups"][1]["within_bound"]);
  EXPECT_EQ(report.summary["beyond"], 1);
  EXPECT_NE(report.html.find("<svg"), std::string::npos);
  EXPECT_NE(report.text.find("f2fs"), std::string::npos);
}

TEST_F(UnsyncedPageTest, ReportIsInvalidIfAControlLosesData) {
  add("ext4/short/synced", "ext4", 3500, 1000, true);
  add("ext4/short/cut-0", "ext4", 3500, 1000);
  const auto report = must(unsynced_report(database_, {}));
  EXPECT_FALSE(report.valid);
  EXPECT_NE(report.text.find("INVALID: control ext4/short/synced"), std::string::npos);
}

}  // namespace
}  // namespace headcrash::report
