#pragma once
// Runs a program and its children under ptrace(2), and lists, for each call site, the calls that
// make data durable. Can skip the calls of some sites, and can flush files and directories after
// changes that other sites make.
//
// The same tracer runs on the host and in the guest, so that a site has the same key in both.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "harness/audit/tracer/stack.h"
#include "harness/audit/tracer/unflushed.h"

namespace headcrash::audit {

inline constexpr const char* kAnyTarget = "*";

struct TracerOptions {
  std::vector<std::string> argv;
  /// Sites whose calls are not executed and return 0. Each has the form "STACK:TARGET", where
  /// TARGET may be kAnyTarget.
  std::set<std::string> skip;
  /// Change sites, each given as the key of its stack. After each call at one of these sites, the
  /// tracer flushes the file or directory that the call changed.
  std::set<std::string> flush;
  bool list_changes = false;  ///< also find changes that are unflushed when a line is printed
};

/// Groups the flush calls of one kind that have the same stack and target.
struct FlushSite {
  std::string kind, stack;
  std::string target;  ///< path in the program's directory, with digits replaced by '#'
  auto operator<=>(const FlushSite&) const = default;
};

struct FlushCounts {
  std::uint64_t calls = 0, skipped = 0;
  std::int64_t ns = 0;      ///< sum of the durations of the executed calls
  std::string example;      ///< path of the first call's target, in the program's directory
  std::uint64_t first = 0;  ///< number of flush calls in the program before this site's first call
  bool can_skip = true;
};

struct Trace {
  int exit_code = 0;
  std::int64_t ns = 0;  ///< duration of the program
  std::map<FlushSite, FlushCounts> flushes;
  std::map<ChangeSite, UnflushedChange> unflushed;
  std::uint64_t flushed_by_tracer = 0;
  std::map<std::string, std::vector<Frame>> stacks;
};

/// Runs the program in the current directory until it ends. Children that are still running
/// continue without the tracer. Returns nullopt if ptrace(2) is not permitted, or if fork(2) fails.
std::optional<Trace> trace(const TracerOptions& options);

/// Returns the target of flush calls on this path. The target is relative to `folder` if the path
/// is below that directory, and each number in the target is replaced by '#'.
std::string target_of(const std::string& path, const std::string& folder);

}  // namespace headcrash::audit
