// Small cells: they end, they repeat, and the schemes come in their order.
#include "harness/experiment/run_workload.h"

#include <gtest/gtest.h>

namespace headcrash::experiment {
namespace {

using ufs::SchemeKind;

template <typename T>
T must(Result<T> result) {
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message());
  return *std::move(result);
}

WorkloadOutcome outcome_of(const ModelledMachineOptions& options, const WorkloadRun& run) {
  const auto machine = must(ModelledMachine::start(options));
  return must(run_workload(*machine, run));
}

WorkloadRun scaled(const std::string& name) {
  return {.workload = name, .scaled = true, .seed = 7};
}

TEST(RunWorkload, EndsForEveryWorkloadOfThePaper) {
  for (const char* name :
       {"n-user-copy", "n-user-remove", "create-1k", "remove-1k", "create-remove-1k", "andrew", "sdet"}) {
    const WorkloadOutcome outcome = outcome_of({.scheme = SchemeKind::no_order}, scaled(name));
    double elapsed = 0;
    for (const PhaseOutcome& phase : outcome.phases) elapsed += phase.measured ? phase.elapsed_s : 0;
    EXPECT_GT(elapsed, 0) << name;
    EXPECT_GT(outcome.modelled_s, elapsed) << name;
  }
}

TEST(RunWorkload, IsTheSameTwice) {
  for (const SchemeKind scheme : {SchemeKind::no_order, SchemeKind::conventional}) {
    const WorkloadOutcome first = outcome_of({.scheme = scheme}, scaled("n-user-copy"));
    const WorkloadOutcome second = outcome_of({.scheme = scheme}, scaled("n-user-copy"));
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

TEST(RunWorkload, SynchronousWritesMakeRemovalSeveralTimesSlower) {
  const WorkloadOutcome free = outcome_of({.scheme = SchemeKind::no_order}, scaled("n-user-remove"));
  const WorkloadOutcome bound = outcome_of({.scheme = SchemeKind::conventional}, scaled("n-user-remove"));
  ASSERT_NE(free.phase("remove"), nullptr);
  ASSERT_NE(bound.phase("remove"), nullptr);
  EXPECT_GT(bound.phase("remove")->elapsed_s, 3 * free.phase("remove")->elapsed_s);
  EXPECT_GT(bound.phase("remove")->requests, 3 * free.phase("remove")->requests);
}

TEST(RunWorkload, SynchronousWritesMakeACopySlower) {
  const WorkloadOutcome free = outcome_of({.scheme = SchemeKind::no_order}, scaled("n-user-copy"));
  const WorkloadOutcome bound = outcome_of({.scheme = SchemeKind::conventional}, scaled("n-user-copy"));
  EXPECT_GT(bound.phase("copy")->elapsed_s, free.phase("copy")->elapsed_s);
  EXPECT_GT(bound.phase("copy")->requests, free.phase("copy")->requests);
}

TEST(RunWorkload, TellsWhatIsWrongWithAnArgument) {
  const auto machine = must(ModelledMachine::start({}));
  EXPECT_FALSE(run_workload(*machine, {.workload = "n-user-cop"}).has_value());
  EXPECT_FALSE(run_workload(*machine, {.workload = "n-user-copy", .replaced = {{"user", 4}}}).has_value());
}

}  // namespace
}  // namespace headcrash::experiment
