// Tests that small runs complete and are reproducible, and that the measured times rank the schemes
// correctly.
#include "harness/papers/run_workload.h"

#include <gtest/gtest.h>

#include "fs-adapters/ufs/core/file_system.h"
#include "harness/papers/ganger94/coarse_dependencies.h"

namespace headcrash::experiment {
namespace {

template <typename T>
T must(Result<T> result) {
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message());
  return *std::move(result);
}

WorkloadOutcome outcome_of(const char* system, const WorkloadRun& run) {
  const auto machine = must(ModelledMachine::start(must(machine_with("ufs", system))));
  return must(run_workload(*machine, run));
}

WorkloadRun scaled(const std::string& name) {
  return {.workload = name, .scaled = true, .seed = 7};
}

TEST(RunWorkload, CompletesEveryWorkloadOfThePaper) {
  for (const char* name : {"n-user-copy", "n-user-remove", "create-1k", "remove-1k",
                           "create-remove-1k", "andrew", "sdet"}) {
    const WorkloadOutcome outcome = outcome_of("no-order", scaled(name));
    double elapsed = 0;
    for (const PhaseOutcome& phase : outcome.phases)
      elapsed += phase.measured ? phase.elapsed_s : 0;
    EXPECT_GT(elapsed, 0) << name;
    EXPECT_GT(outcome.modelled_s, elapsed) << name;
  }
}

TEST(RunWorkload, IsReproducible) {
  for (const char* scheme : {"no-order", "conventional"}) {
    const WorkloadOutcome first = outcome_of(scheme, scaled("n-user-copy"));
    const WorkloadOutcome second = outcome_of(scheme, scaled("n-user-copy"));
    ASSERT_EQ(first.phases.size(), second.phases.size());
    for (std::size_t i = 0; i < first.phases.size(); ++i) {
      const PhaseOutcome &a = first.phases[i], &b = second.phases[i];
      EXPECT_EQ(a.elapsed_s, b.elapsed_s) << a.name;
      EXPECT_EQ(a.quiescent_s, b.quiescent_s) << a.name;
      EXPECT_EQ(a.user_cpu_s, b.user_cpu_s) << a.name;
      EXPECT_EQ(a.requests, b.requests) << a.name;
      EXPECT_EQ(a.response_ms, b.response_ms) << a.name;
    }
  }
}

TEST(RunWorkload, SynchronousWritesSlowRemovalSeveralTimes) {
  const WorkloadOutcome free = outcome_of("no-order", scaled("n-user-remove"));
  const WorkloadOutcome bound = outcome_of("conventional", scaled("n-user-remove"));
  ASSERT_NE(free.phase("remove"), nullptr);
  ASSERT_NE(bound.phase("remove"), nullptr);
  EXPECT_GT(bound.phase("remove")->elapsed_s, 3 * free.phase("remove")->elapsed_s);
  EXPECT_GT(bound.phase("remove")->requests, 3 * free.phase("remove")->requests);
}

TEST(RunWorkload, SynchronousWritesSlowACopy) {
  const WorkloadOutcome free = outcome_of("no-order", scaled("n-user-copy"));
  const WorkloadOutcome bound = outcome_of("conventional", scaled("n-user-copy"));
  EXPECT_GT(bound.phase("copy")->elapsed_s, free.phase("copy")->elapsed_s);
  EXPECT_GT(bound.phase("copy")->requests, free.phase("copy")->requests);
}

TEST(RunWorkload, AveragesEachPhaseSeparately) {
  WorkloadOutcome first{.phases = {{.name = "a", .elapsed_s = 1}, {.name = "b", .requests = 10}}};
  WorkloadOutcome second = first;
  first.modelled_s = 5, second.modelled_s = 7;
  second.phases[0].elapsed_s = 4;
  second.phases[1].requests = 21;
  const WorkloadOutcome mean = mean_of({first, second});
  EXPECT_DOUBLE_EQ(mean.phases[0].elapsed_s, 2.5);
  EXPECT_EQ(mean.phases[1].requests, 16U);
  EXPECT_DOUBLE_EQ(mean.modelled_s, 12);
}

TEST(RunWorkload, APauseShiftsTheStartOfTheMeasurement) {
  WorkloadRun later = scaled("n-user-copy");
  later.begins_after_ns = 377 * model::kMillisecondNs;  // not a whole number of revolutions
  const WorkloadOutcome first = outcome_of("no-order", scaled("n-user-copy"));
  const WorkloadOutcome second = outcome_of("no-order", later);
  EXPECT_NE(first.phase("copy")->elapsed_s, second.phase("copy")->elapsed_s);
  EXPECT_NEAR(first.phase("copy")->elapsed_s, second.phase("copy")->elapsed_s,
              0.3 * first.phase("copy")->elapsed_s);
}

/// Cycles arise in any workload that creates and removes files in one directory, if the inodes of
/// two such files share a block.
TEST(CoarseDependencies, ACreationAndARemovalCanFormACycle) {
  const auto machine = must(ModelledMachine::start(must(machine_with("ufs", "no-order"))));
  ufs::Volume& volume = dynamic_cast<ufs::FileSystem&>(machine->vfs()).volume();
  auto drawing = std::make_unique<CoarseDependencies>(volume, volume.scheme->options());
  const CoarseDependencies& drawn = *drawing;
  volume.cache.hooks(drawing.get());
  volume.scheme = std::move(drawing);
  os::Account account{.name = "test"};
  machine->system().run_as(account, [&] {
    Vfs& vfs = machine->vfs();
    const auto make = [&](const char* name) {
      const auto file = vfs.open(name, {.create = true});
      ASSERT_TRUE(file && vfs.close(*file));
    };
    make("old");
    EXPECT_EQ(drawn.counters().dependencies, 1U);
    ASSERT_TRUE(vfs.syncfs());
    ASSERT_TRUE(vfs.unlink("old"));
    EXPECT_EQ(drawn.counters().cycles, 0U);
    make("new");
    EXPECT_EQ(drawn.counters().cycles, 1U);
    ASSERT_TRUE(vfs.syncfs());
    make("newer");
    EXPECT_EQ(drawn.counters().cycles, 1U);
  });
}

TEST(RunWorkload, MeasuresRecoveryInTwoPhases) {
  const WorkloadOutcome checked = outcome_of("soft-updates", scaled("recovery"));
  ASSERT_NE(checked.phase("repair"), nullptr);
  EXPECT_GT(checked.phase("repair")->elapsed_s, 0.1);
  EXPECT_GT(checked.phase("repair")->user_cpu_s, 0);
  EXPECT_GT(checked.phase("repair")->requests, 10U);
  EXPECT_EQ(checked.phases.back().name, "verify");
  const WorkloadOutcome replayed = outcome_of("journal", scaled("recovery"));
  EXPECT_EQ(replayed.phase("repair")->elapsed_s, 0);
  EXPECT_GT(replayed.phase("mount")->elapsed_s, checked.phase("mount")->elapsed_s);
  WorkloadRun whole = scaled("recovery");
  whole.repair = Repair::always;
  EXPECT_GT(outcome_of("journal", whole).phase("repair")->elapsed_s, 0.1);
}

TEST(RunWorkload, ACutEndsTheCurrentPhase) {
  WorkloadRun run = scaled("recovery");
  run.cut_after_ns = 500 * model::kMillisecondNs;
  const auto machine = must(ModelledMachine::start(must(machine_with("ufs", "soft-updates"))));
  // The run fails, because the power is cut before all files that the last phase expects have been
  // created.
  const auto outcome = run_workload(*machine, run);
  EXPECT_FALSE(outcome.has_value());
  EXPECT_NE(outcome.error().message().find("verify"), std::string::npos)
      << outcome.error().message();
  EXPECT_TRUE(machine->has_power());
}

TEST(RunWorkload, ErrorsNameTheArgument) {
  const auto machine = must(ModelledMachine::start(must(machine_with("ufs", "no-order"))));
  EXPECT_FALSE(run_workload(*machine, {.workload = "n-user-cop"}).has_value());
  EXPECT_FALSE(
      run_workload(*machine, {.workload = "n-user-copy", .replaced = {{"user", 4}}}).has_value());
}

}  // namespace
}  // namespace headcrash::experiment
