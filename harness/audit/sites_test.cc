#include "harness/audit/sites.h"

#include <gtest/gtest.h>

#include "harness/audit/tracer/report.h"

namespace headcrash::audit {
namespace {

TEST(Sites, AreOrderedByTheirFirstCalls) {
  Trace trace;
  trace.flushes[{.kind = "fsync", .stack = "a", .target = "log"}] = {
      .calls = 2, .ns = 10, .example = "log", .first = 4};
  trace.flushes[{.kind = "sync", .stack = "b", .target = ""}] = {
      .calls = 1, .ns = 3, .first = 1, .can_skip = false};
  trace.stacks["a"] = {{.object = "/bin/store", .offset = 16}};
  const auto sites = sites_of(trace);
  ASSERT_EQ(sites.size(), 2U);
  EXPECT_EQ(sites[0].kind, "sync");
  EXPECT_FALSE(sites[0].can_skip);
  EXPECT_EQ(sites[1].word(), "a:log");
  EXPECT_EQ(sites[1].calls, 2U);
  EXPECT_EQ(sites[1].ns, 10);
  EXPECT_EQ(call_text(sites[1]), "fsync(log)");
  ASSERT_EQ(sites[1].frames.size(), 1U);
}

TEST(Sites, AreMergedIfAStackHasManyTargets) {
  Trace trace;
  for (const char* target : {"a", "b", "c", "d"})
    trace.flushes[{.kind = "fsync", .stack = "s", .target = target}] = {.calls = 1, .skipped = 1};
  EXPECT_EQ(sites_of(trace).size(), 4U);
  trace.flushes[{.kind = "fsync", .stack = "s", .target = "e"}] = {
      .calls = 3, .ns = 9, .example = "e"};
  const auto sites = sites_of(trace);
  ASSERT_EQ(sites.size(), 1U);
  EXPECT_EQ(sites[0].word(), "s:*");
  EXPECT_EQ(sites[0].calls, 7U);
  EXPECT_EQ(counts_of(trace, sites[0]).calls, 7U);
  EXPECT_EQ(counts_of(trace, sites[0]).skipped, 4U);
}

TEST(Sites, CountOnlyCallsOnTheirTarget) {
  Trace trace;
  trace.flushes[{.kind = "fsync", .stack = "s", .target = "a"}] = {.calls = 1, .skipped = 1};
  trace.flushes[{.kind = "fsync", .stack = "s", .target = "b"}] = {.calls = 2};
  EXPECT_EQ(counts_of(trace, {.stack = "s", .target = "b"}).calls, 2U);
  EXPECT_EQ(counts_of(trace, {.stack = "s", .target = "b"}).skipped, 0U);
}

TEST(Sites, CostIsTheMeanTimeOfExecutedCalls) {
  EXPECT_EQ(cost_ms({.kind = "fsync", .calls = 5, .skipped = 1, .ns = 8'000'000}), 2);
  EXPECT_FALSE(cost_ms({.kind = "fsync", .calls = 1, .skipped = 1}));
  EXPECT_FALSE(cost_ms({.kind = "O_DSYNC", .calls = 1, .ns = 8'000'000}));
}

TEST(TracerReport, ParsingInvertsFormatting) {
  Trace trace{.exit_code = 3, .ns = 77};
  trace.flushed_by_tracer = 5;
  trace.flushes[{.kind = "fsync", .stack = "s", .target = "log"}] = {
      .calls = 4, .skipped = 1, .ns = 12, .example = "log\xff", .first = 2, .can_skip = false};
  trace.unflushed[{.stack = "u", .names = true, .call = "rename"}] = {.lines = 6, .target = "/f"};
  trace.stacks["s"] = {{.object = "/bin/x", .offset = 8}};
  const auto parsed = parse_report(report_text(trace), "report");
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(report_text(*parsed), report_text(trace));
  EXPECT_EQ(parsed->flushes.begin()->second.skipped, 1U);
  EXPECT_EQ(parsed->unflushed.begin()->second.lines, 6U);
  EXPECT_FALSE(parse_report("{}", "report"));
  EXPECT_FALSE(parse_report("", "report"));
}

}  // namespace
}  // namespace headcrash::audit
