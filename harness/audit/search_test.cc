#include "harness/audit/search.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace headcrash::audit {
namespace {

using Need = SiteVerdict::Need;
using Verdict = ExperimentOutcome::Verdict;

/// A simulated program with sites "a", "b", ... An experiment finds a loss if `loses` returns true.
class Program {
 public:
  std::vector<std::string> sites{"a", "b", "c"};
  std::vector<std::string> unflushed;  ///< stacks of changes that are not followed by a flush
  std::function<bool(const Experiment&)> loses = [](const Experiment&) { return false; };
  std::set<std::string> never_skipped;
  bool maps = false;  ///< maps the file "table"
  std::vector<Experiment> experiments;

  Result<Audit> audit() {
    return audit_program([&](const Experiment& each) { return run(each); }, {});
  }

 private:
  ExperimentOutcome run(const Experiment& experiment) {
    experiments.push_back(experiment);
    ExperimentOutcome outcome{.verdict = loses(experiment) ? Verdict::lost : Verdict::kept,
                              .states = 7};
    outcome.trace.ns = static_cast<std::int64_t>(10 - experiment.skip.size());
    for (std::size_t i = 0; i < sites.size(); ++i) {
      const std::string& name = sites[i];
      const bool skipped = experiment.skip.contains(name + ":log") && !never_skipped.contains(name);
      outcome.trace.flushes[{.kind = "fsync", .stack = name, .target = "log"}] = {
          .calls = 1, .skipped = skipped ? 1U : 0U, .first = i};
    }
    if (experiment.list_changes)
      for (const std::string& name : unflushed)
        outcome.trace.unflushed[{.stack = name, .names = false, .call = "write"}] = {
            .lines = 1, .target = "log"};
    if (experiment.list_changes && maps)
      outcome.trace.unflushed[{.stack = "m", .names = false, .call = "mmap"}] = {.lines = 1,
                                                                                 .target = "table"};
    return outcome;
  }
};

std::vector<Need> needs(const Audit& audit) {
  std::vector<Need> list;
  for (const SiteVerdict& each : audit.sites) list.push_back(each.need);
  return list;
}

TEST(AuditProgram, DistinguishesNeededFromRedundantSites) {
  Program program;
  program.loses = [](const Experiment& each) { return each.skip.contains("b:log"); };
  const auto audit = program.audit();
  ASSERT_TRUE(audit);
  EXPECT_EQ(needs(*audit), (std::vector{Need::redundant, Need::needed, Need::redundant}));
  EXPECT_EQ(audit->ns, 10);
  EXPECT_EQ(audit->ns_without, 8);
  EXPECT_EQ(audit->sites[0].states, 7U);
}

TEST(AuditProgram, DropsAllRedundantSitesTogether) {
  Program program;
  program.audit().value();
  EXPECT_EQ(program.experiments.back().skip, (std::set<std::string>{"a:log", "b:log", "c:log"}));
}

TEST(AuditProgram, KeepsOneOfTwoSitesThatCannotBothBeDropped) {
  Program program;
  program.loses = [](const Experiment& each) {
    return each.skip.contains("a:log") && each.skip.contains("b:log");
  };
  const auto audit = program.audit();
  ASSERT_TRUE(audit);
  EXPECT_EQ(std::ranges::count(needs(*audit), Need::together), 1);
  EXPECT_EQ(std::ranges::count(needs(*audit), Need::redundant), 2);
  EXPECT_EQ(audit->sites[2].need, Need::redundant);
  EXPECT_EQ(audit->ns_without, 8);
}

TEST(AuditProgram, RunsNoExperimentTwice) {
  Program program;
  program.loses = [](const Experiment& each) {
    return each.skip.contains("a:log") && each.skip.contains("b:log");
  };
  program.audit().value();
  std::set<std::set<std::string>> skipped;
  for (const Experiment& each : program.experiments)
    EXPECT_TRUE(skipped.insert(each.skip).second) << each.name;
}

TEST(AuditProgram, FindsTheFewestMissingFlushes) {
  Program program;
  program.sites = {"a"};
  program.unflushed = {"u", "v", "w", "x"};
  program.loses = [](const Experiment& each) {
    return !each.flush.contains("v") || each.skip.contains("a:log");
  };
  const auto audit = program.audit();
  ASSERT_TRUE(audit);
  EXPECT_TRUE(audit->mended);
  ASSERT_EQ(audit->missing.size(), 1U);
  EXPECT_EQ(audit->missing[0].site.stack, "v");
  // The verdicts describe the program after the missing flushes were added.
  EXPECT_EQ(needs(*audit), (std::vector{Need::needed}));
  EXPECT_EQ(program.experiments.back().flush, (std::set<std::string>{"v"}));
}

TEST(AuditProgram, PrefersAFlushAfterACreationToOneAfterARemoval) {
  std::set<std::string> flushed;
  const auto audit = audit_program(
      [&](const Experiment& each) -> Result<ExperimentOutcome> {
        ExperimentOutcome outcome{.verdict = each.flush.empty() ? Verdict::lost : Verdict::kept};
        for (const char* call : {"unlink", "write", "link"})
          outcome.trace.unflushed[{
              .stack = call, .names = std::string(call) != "write", .call = call}] = {.lines = 1};
        return outcome;
      },
      {});
  ASSERT_TRUE(audit);
  ASSERT_EQ(audit->missing.size(), 1U);
  EXPECT_EQ(audit->missing[0].site.call, "link");
}

TEST(AuditProgram, LeavesSitesUnclearIfNoFlushFixesTheProgram) {
  Program program;
  program.unflushed = {"u"};
  program.maps = true;
  program.loses = [](const Experiment&) { return true; };
  const auto audit = program.audit();
  ASSERT_TRUE(audit);
  EXPECT_FALSE(audit->mended);
  EXPECT_EQ(audit->mapped, std::set<std::string>{"table"});
  EXPECT_TRUE(audit->missing.empty());
  EXPECT_EQ(needs(*audit), (std::vector{Need::unclear, Need::unclear, Need::unclear}));
}

TEST(AuditProgram, ASiteThatWasNotReachedAgainIsUnclear) {
  Program program;
  program.never_skipped = {"b"};
  const auto audit = program.audit();
  ASSERT_TRUE(audit);
  EXPECT_EQ(needs(*audit), (std::vector{Need::redundant, Need::unclear, Need::redundant}));
}

TEST(AuditProgram, FailsIfAnExperimentFails) {
  std::size_t runs = 0;
  const auto audit = audit_program(
      [&](const Experiment&) -> Result<ExperimentOutcome> {
        if (++runs > 1) return fail("guest", "died");
        ExperimentOutcome outcome{.verdict = Verdict::kept};
        outcome.trace.flushes[{.kind = "sync", .stack = "a", .target = ""}] = {.calls = 1};
        return outcome;
      },
      {});
  EXPECT_FALSE(audit);
}

}  // namespace
}  // namespace headcrash::audit
