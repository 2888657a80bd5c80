// Compares the equations with hand-calculated results, and tests the calculator with a user's
// parameters.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/papers/chen96/axp3000_600.h"
#include "harness/papers/chen96/delay_model.h"
#include "harness/papers/chen96/overwrite.h"
#include "harness/papers/experiment.h"
#include "harness/papers/loss_run.h"

namespace headcrash::experiment::chen96 {
namespace {

TEST(DelayModel, AppliesTheThreeRulesOfThePaper) {
  EXPECT_EQ(optimal_delay(10, 5, 100, 5).rule, Rule::disk_keeps_up);
  EXPECT_EQ(optimal_delay(101, 5.1, 100, 5).rule, Rule::cache_thrashes);
  EXPECT_EQ(optimal_delay(101, 5.1, 100, 5).delay_s, 0);
  const OptimalDelay lifetime = optimal_delay(60, 10, 85, 4);
  EXPECT_EQ(lifetime.rule, Rule::lifetime);
  EXPECT_DOUBLE_EQ(lifetime.delay_s, 6);
}

TEST(DelayModel, SharesCacheAndDiskWithReads) {
  // Expected: half of the cache of 100 MB, divided by the disk rate that remains after reads, which
  // is 5 MB/s minus 1 MB/s.
  EXPECT_DOUBLE_EQ(*delay_with_reads_s({.write_cache = 3, .read_cache = 3, .read_disk = 1}, 100, 5),
                   12.5);
  EXPECT_FALSE(delay_with_reads_s({.write_cache = 3, .read_cache = 6, .read_disk = 5}, 100, 5));
  EXPECT_DOUBLE_EQ(*most_writes_mb_s({.write_cache = 0, .read_cache = 4, .read_disk = 1}, 5), 16);
  EXPECT_FALSE(most_writes_mb_s({.write_cache = 0, .read_cache = 4, .read_disk = 0}, 5));
}

TEST(DelayModel, IncludesPositioningInTheCostOfAWrite) {
  EXPECT_NEAR(efficiency(0.06, 0.015, 4), 0.5, 1e-12);
  EXPECT_NEAR(size_for_efficiency_mb(0.5, 0.015, 4), 0.06, 1e-12);
  EXPECT_NEAR(*least_delay_s(2, 0.015, 4), 0.03, 1e-12);
  EXPECT_FALSE(least_delay_s(4, 0.015, 4));
  EXPECT_DOUBLE_EQ(burst_start_s(10, 15, 5), 13);
  EXPECT_DOUBLE_EQ(burst_start_s(100, 15, 5), 0);
}

ExperimentOutcome calculated(const std::map<std::string, double>& parameters) {
  auto outcome = run_experiment({.name = "chen96/calculator", .parameters = parameters});
  EXPECT_TRUE(outcome.has_value()) << (outcome ? "" : outcome.error().message());
  return *std::move(outcome);
}

TEST(Calculator, CalculatesForTheUsersMachine) {
  const ExperimentOutcome outcome =
      calculated({{"memory-mb", 200}, {"disk-mb-s", 20}, {"write-mb-s", 40}, {"file-set-mb", 120}});
  EXPECT_TRUE(outcome.cells.empty());
  ASSERT_FALSE(outcome.answers.empty());
  EXPECT_EQ(outcome.answers[0].numbers.at(0).ours, 10);
  EXPECT_EQ(outcome.answers[0].numbers.at(1).ours, 3);
  EXPECT_EQ(outcome.answers[0].tables.at(0).rows.at(0).at(1), "10");
  EXPECT_NE(as_text(outcome).find("3: the files' lifetime"), std::string::npos);
}

/// All results in the paper follow from its equations, except the range that the abstract gives for
/// current systems.
TEST(Calculator, ConfirmsEverythingExceptTheRangeInTheAbstract) {
  const ExperimentOutcome outcome = calculated({});
  EXPECT_EQ(outcome.count(Verdict::does_not_hold), 1U) << as_text(outcome);
  EXPECT_EQ(outcome.count(Verdict::undecided), 0U);
  EXPECT_GT(outcome.count(Verdict::holds), 12U);
}

TEST(Calculator, RejectsInvalidParameters) {
  for (const auto& [its_name, value] : std::map<std::string, double>{{"memory-mb", 0},
                                                                     {"disk-mb-s", -1},
                                                                     {"read-share", 1},
                                                                     {"read-misses", 1.5},
                                                                     {"burst-mb", -1}}) {
    const ExperimentOutcome outcome = calculated({{its_name, value}});
    EXPECT_FALSE(outcome.answers.at(0).numbers.at(0).ours) << its_name;
    EXPECT_NE(outcome.answers.at(0).numbers.at(0).remark.find(its_name), std::string::npos);
  }
  EXPECT_FALSE(run_experiment({.name = "chen96/calculator", .parameters = {{"memory", 1}}}));
}

/// Runs a scaled-down version of each part. All cells must succeed, and rules that are independent
/// of the scale must hold.
TEST(Measurements, RunToCompletion) {
  for (const char* part :
       {"chen96/writes", "chen96/rules", "chen96/policies", "chen96/delays", "chen96/loss"}) {
    const auto outcome = run_experiment({.name = part, .scaled = true});
    ASSERT_TRUE(outcome) << outcome.error().message();
    for (const ClaimAnswer& answer : outcome->answers) {
      EXPECT_FALSE(answer.rules.empty());
      for (const ClaimNumber& number : answer.numbers)
        EXPECT_TRUE(number.ours) << answer.id << " " << number.cell << ": " << number.remark;
    }
  }
}

const ClaimNumber& number_of(const ExperimentOutcome& outcome, const std::string& cell,
                             const std::string& quantity) {
  for (const ClaimAnswer& answer : outcome.answers)
    for (const ClaimNumber& number : answer.numbers)
      if (number.cell == cell && number.quantity == quantity) return number;
  ADD_FAILURE() << cell << ", " << quantity;
  static const ClaimNumber kNone;
  return kNone;
}

/// The workload overwrites its data after 6 s. With a delay of 5 s the data has been written to the
/// disk by then; with a delay of 8 s it has not.
TEST(Measurements, DependOnTheWriteDelay) {
  const auto rules = run_experiment({.name = "chen96/rules", .scaled = true});
  ASSERT_TRUE(rules);
  EXPECT_GT(*number_of(*rules, "delay 5 s", "written to the disk").ours, 0.1);
  EXPECT_LT(*number_of(*rules, "delay 8 s", "written to the disk").ours, 0.05);
  const auto policies = run_experiment({.name = "chen96/policies", .scaled = true});
  ASSERT_TRUE(policies);
  EXPECT_NEAR(*number_of(*policies, "interval periodic update, 5 s", "mean age").ours, 5.5, 1);
  EXPECT_NEAR(*number_of(*policies, "zero delay", "mean age").ours, 0.5, 0.4);
}

/// A drive with a queue loses no revolution between two requests, and a writer waits for blocks in
/// flight. Reads that bypass writes hardly depend on them.
TEST(Measurements, DependOnTheInterpretation) {
  const auto writes = run_experiment({.name = "chen96/writes", .scaled = true});
  ASSERT_TRUE(writes);
  std::vector<double> best;
  for (const ClaimAnswer& answer : writes->answers)
    for (const ClaimNumber& number : answer.numbers)
      if (number.cell == "the best") best.push_back(*number.ours);
  ASSERT_EQ(best.size(), 2U);
  EXPECT_GT(best[1], 1.3 * best[0]);
  const auto with_delay = [](Reading reading) {
    return *overwrite(axp3000_600(4 * model::kSecondNs, reading), {}).written;
  };
  EXPECT_GT(with_delay(Reading::one_command), 9);
  EXPECT_LT(with_delay(Reading::queue), 5);
  const auto policies = run_experiment({.name = "chen96/policies", .scaled = true});
  ASSERT_TRUE(policies);
  const char* const mean = "mean response time of a read";
  EXPECT_LT(*number_of(*policies, "periodic update, 30 s, reads bypass writes", mean).ours,
            (*number_of(*policies, "periodic update, 30 s", mean).ours +
             *number_of(*policies, "no writes", mean).ours) /
                2);
}

/// The number of changes that are missing from the medium at an instant must equal the number that
/// a power cut at that instant loses, except for changes in the write in flight.
TEST(Loss, IsPredictedByExaminingTheMedium) {
  for (const auto& [type, system] : {std::pair{"ufs", "conventional"},
                                     {"ufs", "soft-updates-init-cb"},
                                     {"ufs", "journal"},
                                     {"lfs", "roll-forward"},
                                     {"snapfs", "snapshots"}}) {
    for (const std::uint64_t seed : {1, 2}) {
      const auto machine = loss_machine(
          type, system,
          {.policy = os::SyncerOptions::Policy::interval, .interval_ns = 5 * model::kSecondNs},
          seed);
      ASSERT_TRUE(machine) << machine.error().message();
      const LossSeen seen = run_loss({.machine = *machine,
                                      .warm_ns = 20 * model::kSecondNs,
                                      .measured_ns = 10 * model::kSecondNs,
                                      .instants = 3,
                                      .cut_at_last = true,
                                      .seed = seed});
      ASSERT_TRUE(seen.error.empty()) << system << ": " << seen.error;
      ASSERT_TRUE(seen.cut_lost_changes);
      // The write in flight at the cut may contain this many changes: a write of 64 KiB can hold
      // several records, names and blocks.
      constexpr double kOfOneWrite = 16;
      EXPECT_LE(*seen.cut_lost_changes, seen.lost_changes.back()) << system;
      EXPECT_GE(*seen.cut_lost_changes, seen.lost_changes.back() - kOfOneWrite) << system;
      EXPECT_GT(*seen.cut_lost_changes, 0) << system;
    }
  }
}

/// The age of the lost data depends on the policy: it is zero, about a second, the write delay, or
/// the interval between two updates.
TEST(Loss, DependsOnTheWriteBackPolicy) {
  using Policy = os::SyncerOptions::Policy;
  const auto oldest = [](const os::SyncerOptions& syncer) {
    const LossSeen seen = run_loss({.machine = *loss_machine("lfs", "roll-forward", syncer, 1),
                                    .warm_ns = 35 * model::kSecondNs,
                                    .measured_ns = 30 * model::kSecondNs,
                                    .instants = 15});
    EXPECT_TRUE(seen.error.empty()) << seen.error;
    return seen.oldest_s.empty() ? -1 : std::ranges::max(seen.oldest_s);
  };
  EXPECT_EQ(oldest({.policy = Policy::write_through}), 0);
  EXPECT_LT(oldest({.policy = Policy::interval, .interval_ns = 0}), 3);
  const double five = oldest({.policy = Policy::interval, .interval_ns = 5 * model::kSecondNs});
  EXPECT_GT(five, 5);
  EXPECT_LT(five, 8);
  EXPECT_GT(oldest({.policy = Policy::periodic, .interval_ns = 30 * model::kSecondNs}), 15);
}

/// An unordered file system breaks promises and damages its structures. The measurement must detect
/// both.
TEST(Loss, DetectsBrokenPromisesAndDamage) {
  const auto seen = [](const char* type, const char* system) {
    const os::SyncerOptions each_five{.policy = os::SyncerOptions::Policy::interval,
                                      .interval_ns = 5 * model::kSecondNs,
                                      .metadata_waits = true};
    return run_loss({.machine = *loss_machine(type, system, each_five, 1),
                     .warm_ns = 10 * model::kSecondNs,
                     .measured_ns = 30 * model::kSecondNs,
                     .instants = 15,
                     .synced = .25});
  };
  const LossSeen sound = seen("lfs", "roll-forward"), forgetful = seen("lfs", "checkpoint-only"),
                 unordered = seen("ufs", "no-order");
  EXPECT_EQ(sound.error, "");
  EXPECT_GT(sound.promised, 50U);
  EXPECT_EQ(sound.broken, 0U);
  EXPECT_EQ(sound.damaged, 0U) << sound.first_damage;
  EXPECT_GT(forgetful.broken, 0U) << "its fsync has no effect";
  EXPECT_GT(unordered.damaged, 0U);
}

TEST(Loss, RejectsAnUnknownSystem) {
  const auto machine = loss_machine("ufs", "conventionall", {}, 1);
  ASSERT_FALSE(machine);
  EXPECT_NE(machine.error().message().find("conventional"), std::string::npos);
}

}  // namespace
}  // namespace headcrash::experiment::chen96
