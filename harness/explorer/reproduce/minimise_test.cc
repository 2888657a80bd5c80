#include "harness/explorer/reproduce/minimise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/workload/draft.h"
#include "harness/workload/random_operations.h"
#include "plugin/base/random.h"

namespace headcrash::explorer {
namespace {

using states::CrashState;
using workload::Operation;
using Requests = std::vector<model::RequestId>;

/// Returns the unflushed requests that are lost or torn in the state.
std::set<model::RequestId> missing(const CrashState& state, const Requests& unflushed) {
  std::set<model::RequestId> lost;
  for (const model::RequestId request : unflushed) {
    const bool listed = std::count(state.listed.begin(), state.listed.end(), request) > 0;
    const bool torn = std::any_of(state.torn.begin(), state.torn.end(),
                                  [&](const auto& each) { return each.request == request; });
    if (torn || listed == state.keep_others) lost.insert(request);
  }
  return lost;
}

Requests numbers(model::RequestId first, std::size_t count) {
  Requests requests;
  for (std::size_t i = 0; i < count; ++i) requests.push_back(first + 2 * i);
  return requests;
}

StateExaminer needs(const std::set<model::RequestId>& cause, const Requests& unflushed,
                    std::size_t* asked = nullptr) {
  return [=](const CrashState& state) {
    if (asked != nullptr) ++*asked;
    const auto lost = missing(state, unflushed);
    return std::includes(lost.begin(), lost.end(), cause.begin(), cause.end());
  };
}

TEST(MinimiseState, FindsEveryKnownCause) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Requests unflushed = numbers(10, 1 + random.below(40));
    std::set<model::RequestId> cause;
    for (std::uint64_t i = random.below(4); i > 0; --i)
      cause.insert(unflushed[random.below(unflushed.size())]);
    // The failing state lacks either all unflushed writes, or the writes in `cause` and some
    // others. In the second case, `listed` contains either the lost writes or the kept ones.
    CrashState state{.event = 77, .keep_others = false};
    if (random.below(2) == 0) {
      state.keep_others = random.below(2) == 0;
      for (const auto request : unflushed) {
        const bool lost = cause.contains(request) || random.below(2) == 0;
        if (lost == state.keep_others) state.listed.push_back(request);
      }
    }
    std::size_t asked = 0;
    const MinimisedState small =
        minimise_state(state, unflushed, needs(cause, unflushed, &asked), {.checks = 10'000});
    EXPECT_EQ(missing(small.state, unflushed), cause);
    EXPECT_EQ(small.lost, cause.size());
    EXPECT_EQ(small.lost_before, missing(state, unflushed).size());
    EXPECT_EQ(small.checks, asked);
    EXPECT_TRUE(small.minimal);
    EXPECT_EQ(small.state.event, 77U);
    EXPECT_LE(small.state.listed.size(), unflushed.size() / 2 + 1)
        << "the name lists the shorter of both sets";
  }
}

/// Either of two lost writes is sufficient for the failure. A state that lacks both is therefore
/// not minimal.
TEST(MinimiseState, KeepsOnlyOneOfSeveralSufficientCauses) {
  const Requests unflushed = numbers(1, 12);
  const auto either = [&](const CrashState& state) {
    const auto lost = missing(state, unflushed);
    return lost.contains(7) || lost.contains(15);
  };
  const MinimisedState small = minimise_state({.keep_others = false}, unflushed, either, {});
  EXPECT_EQ(missing(small.state, unflushed).size(), 1U);
  EXPECT_TRUE(small.minimal);
}

TEST(MinimiseState, KeepsOnlyTheTearThatCausesTheFailure) {
  const Requests unflushed = numbers(1, 6);  // odd numbers: 1 3 5 7 9 11
  CrashState state{.event = 9, .listed = {1, 3}, .torn = {{5, 0, 4}, {7, 2, 1}}};
  const auto examine = [](const CrashState& s) {
    return std::count(s.torn.begin(), s.torn.end(), states::TornWrite{7, 2, 1}) == 1;
  };
  const MinimisedState small = minimise_state(state, unflushed, examine, {});
  EXPECT_EQ(small.lost_before, 4U);
  EXPECT_EQ(small.lost, 1U);
  EXPECT_EQ(small.state.torn, (std::vector<states::TornWrite>{{7, 2, 1}}));
  EXPECT_TRUE(small.state.keep_others);
  EXPECT_TRUE(small.state.listed.empty());
}

TEST(MinimiseState, ReturnsAFailingStateAtItsLimits) {
  const Requests unflushed = numbers(1, 64);
  const std::set<model::RequestId> cause{3, 41, 99};
  for (const std::size_t checks : {0U, 1U, 5U, 12U}) {
    std::size_t asked = 0;
    const MinimisedState small = minimise_state(
        {.keep_others = false}, unflushed, needs(cause, unflushed, &asked), {.checks = checks});
    EXPECT_EQ(asked, checks);
    EXPECT_FALSE(small.minimal);
    EXPECT_TRUE(needs(cause, unflushed)(small.state));
  }
  std::size_t asked = 0;
  const MinimisedState late =
      minimise_state({.keep_others = false}, unflushed, needs(cause, unflushed, &asked),
                     {.out_of_time = [] { return true; }});
  EXPECT_EQ(asked, 0U);
  EXPECT_FALSE(late.minimal);
}

TEST(MinimiseState, LeavesPhysicalStatesUnchanged) {
  const CrashState physical{.base = CrashState::Base::physical, .event = 5};
  const auto never = [](const CrashState&) -> bool {
    ADD_FAILURE() << "was asked";
    return true;
  };
  EXPECT_EQ(minimise_state(physical, numbers(1, 4), never, {}).state, physical);
}

std::vector<Operation> parse(const std::string& text) {
  return workload::parse_operations(text, "test").value();
}
std::string text_of(const std::vector<Operation>& operations) {
  std::string text;
  for (const Operation& operation : operations) text += workload::format(operation) + "\n";
  return text;
}

bool executable(const std::vector<Operation>& operations) {
  workload::Draft draft;
  return std::all_of(operations.begin(), operations.end(),
                     [&](const Operation& operation) { return draft.try_add(operation); });
}

TEST(MinimiseWorkload, KeepsOperationsNeededForExecution) {
  const auto whole = parse(
      "mkdir a\ncreate a/f\nwrite a/f 0 4096 1 1\nfsync a/f\ncreate g\nwrite g 0 512 2 2\nappend g 512 512 2 "
      "3\n"
      "rename a/f h\nunlink g\nfsyncdir .\ncreate i\nsync\n");
  const auto renamed = [](const std::vector<Operation>& operations) {
    return std::any_of(operations.begin(), operations.end(),
                       [](const Operation& each) { return each.kind == Operation::Kind::rename; });
  };
  const MinimisedWorkload small = minimise_workload(whole, renamed, {});
  EXPECT_EQ(text_of(small.operations), "mkdir a\ncreate a/f\nrename a/f h\n");
  EXPECT_TRUE(small.minimal);
}

TEST(MinimiseWorkload, RenumbersStampsAndMovesAppendsToTheEnd) {
  const auto whole = parse(
      "create f\nwrite f 0 4096 1 1\ncreate g\nappend g 0 512 2 2\nappend g 512 512 2 3\nfsync g\n");
  const auto last_append = [](const std::vector<Operation>& operations) {
    EXPECT_TRUE(executable(operations));
    return std::count_if(operations.begin(), operations.end(), [](const Operation& each) {
             return each.kind == Operation::Kind::append || each.kind == Operation::Kind::fsync;
           }) == 2;
  };
  EXPECT_EQ(text_of(minimise_workload(whole, last_append, {}).operations),
            "create g\nappend g 0 512 1 1\nfsync g\n");
}

/// In each random workload, the failure requires two operations that are chosen at random.
TEST(MinimiseWorkload, IsMinimalForRandomWorkloads) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto whole = workload::random_operations({.seed = seed, .rounds = 20});
    Random random(seed);
    std::set<Operation::Kind> wanted;
    for (int i = 0; i < 2; ++i) wanted.insert(whole[random.below(whole.size())].kind);
    const auto has_both = [&](const std::vector<Operation>& operations) {
      std::set<Operation::Kind> left = wanted;
      for (const Operation& each : operations) left.erase(each.kind);
      EXPECT_TRUE(executable(operations));
      return left.empty();
    };
    const MinimisedWorkload small = minimise_workload(whole, has_both, {.checks = 100'000});
    ASSERT_TRUE(small.minimal);
    ASSERT_TRUE(has_both(small.operations));
    for (std::size_t left_out = 0; left_out < small.operations.size(); ++left_out) {
      workload::Draft draft;
      for (std::size_t i = 0; i < small.operations.size(); ++i)
        if (i != left_out) draft.try_add(small.operations[i]);
      EXPECT_FALSE(has_both(draft.operations())) << "without operation " << left_out << " of\n"
                                                 << text_of(small.operations);
    }
  }
}

TEST(MinimiseWorkload, ChecksNothingTwice) {
  const auto whole =
      parse("mkdir a\ncreate a/f\nmkdir b\ncreate b/g\nfsync a/f\nlink b/g h\nsync\n");
  std::set<std::string> asked;
  const auto never = [&](const std::vector<Operation>& operations) {
    EXPECT_TRUE(asked.insert(text_of(operations)).second) << text_of(operations);
    return false;
  };
  const MinimisedWorkload small = minimise_workload(whole, never, {.checks = 100'000});
  EXPECT_EQ(small.operations, whole);
  EXPECT_TRUE(small.minimal);
}

TEST(FailureKind, IsTheWorstVerdictAndItsStrongestTier) {
  using oracle::Tier;
  using oracle::Verdict;
  const std::vector<oracle::Finding> findings{
      {Verdict::zero_length, Tier::integrity, "a", "", ""},
      {Verdict::lost_synced_data, Tier::de_facto, "b", "", ""},
      {Verdict::lost_synced_data, Tier::posix, "c", "", ""},
      {Verdict::lost_synced_data, Tier::documented, "d", "", ""}};
  const oracle::Judgement judgement{Verdict::lost_synced_data, ""};
  const FailureKind kind = kind_of(judgement, findings);
  EXPECT_EQ(kind, (FailureKind{Verdict::lost_synced_data, Tier::posix}));
  EXPECT_EQ(format(kind), "lost-synced-data (posix)");
  EXPECT_TRUE(fails_like(kind, judgement, findings));
  EXPECT_FALSE(fails_like(kind, judgement, {findings[0], findings[1]})) << "another tier";
  const FailureKind hang = kind_of({Verdict::hang, ""}, {});
  EXPECT_EQ(format(hang), "hang");
  EXPECT_TRUE(fails_like(hang, {Verdict::hang, ""}, {}));
  EXPECT_FALSE(fails_like(hang, {Verdict::oops, ""}, {}));
}

}  // namespace
}  // namespace headcrash::explorer
