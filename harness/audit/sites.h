#pragma once
// Groups flush calls by call site. The audit reports, skips and judges sites rather than single
// calls.

#include <optional>
#include <string>
#include <vector>

#include "harness/audit/tracer/tracer.h"

namespace headcrash::audit {

/// A site groups the flush calls of one kind that come from one stack. Different callers of an
/// interpreter or a utility share a stack, so there is a separate site for each target. If there
/// are more than kTargetsMost targets, they share one site.
struct Site {
  std::string kind, stack;
  std::string target;   ///< target of the calls, or kAnyTarget
  std::string example;  ///< path of the first call's target
  std::uint64_t calls = 0, skipped = 0;
  std::int64_t ns = 0;  ///< sum of the durations of the executed calls
  std::uint64_t first = 0;
  bool can_skip = true;
  std::vector<Frame> frames;

  /// Returns the argument that makes the tracer skip this site. The argument is the same in every
  /// run.
  std::string word() const { return stack + ":" + target; }
};

inline constexpr std::size_t kTargetsMost = 4;

/// Returns the sites of a run, in the order of their first calls.
std::vector<Site> sites_of(const Trace& trace);

/// The number of calls from a site in one run. `skipped` counts the calls that the tracer skipped.
struct SiteCounts {
  std::uint64_t calls = 0, skipped = 0;
};
/// Counts the calls of `site` in `trace`. The site may come from a different run.
SiteCounts counts_of(const Trace& trace, const Site& site);

/// Returns the mean duration of an executed call in milliseconds. Returns nullopt if no call was
/// executed, or if the call opens a file with O_SYNC, because the cost of such a call is part of
/// later writes.
std::optional<double> cost_ms(const Site& site);

/// Returns text such as "fdatasync(log)".
std::string call_text(const Site& site);

}  // namespace headcrash::audit
