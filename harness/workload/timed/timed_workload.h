#pragma once
// Timed workloads, written once against vfs.h. The agent runs them in a guest through POSIX calls.
// Our own file systems run the same code in virtual time.
//
//   prepare (not measured) -> create -> [caches dropped] -> read -> delete -> verify (not measured)
//
// A workload is a list of phases. Several users execute a phase concurrently, each in its own
// thread (guest) or fiber (virtual time), and the phase ends when all have returned. A user's
// actions depend only on the arguments, the seed and the user's number. Phases share no state
// except the disk: each phase is a separate request, and device counters can be read between any
// two phases.
//
// Contents are stamps (harness/workload/stamp.h), so a phase that reads can verify the data. Wrong
// data ends the workload without a result.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"
#include "plugin/base/latency_histogram.h"
#include "plugin/base/result.h"

namespace headcrash::timed {

/// A numeric parameter of a workload.
struct Parameter {
  std::string_view name;    ///< "files"; units last: "file-bytes"
  std::int64_t exact = 0;   ///< value in the original workload
  std::int64_t scaled = 0;  ///< value of the scaled-down variant, for tests and quick comparisons
  std::int64_t least = 0, most = 0;
  std::string_view meaning;  ///< one line, including where the exact value comes from
};

/// The values of all parameters of a workload.
using Arguments = std::map<std::string, std::int64_t, std::less<>>;
/// Returns the value of a parameter, which must exist. Values are never negative.
std::uint64_t argument(const Arguments& arguments, std::string_view name);

/// The workload's clock: the guest's monotonic clock, or model time.
class Pace {
 public:
  virtual ~Pace() = default;
  virtual std::int64_t now_ns() = 0;
  virtual void sleep_until(std::int64_t at_ns) = 0;  ///< used by workloads with an arrival rate
};

/// Fragmentation of files with at least two blocks, if the file system reports it.
struct Layout {
  static constexpr std::uint64_t kBlockBytes = 4096;
  std::uint64_t files = 0, blocks = 0;
  std::uint64_t pieces = 0;  ///< number of runs of consecutive blocks
};

/// Counts of a user's work, as seen by the application.
struct Tally {
  /// Number of the workload's units: files created, transactions, scripts.
  std::uint64_t operations = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;
  LatencyHistogram latencies;  ///< latency of each operation, if the workload measures it
  Layout layout;               ///< layout of the inspected files
  void add(const Tally& other);
};

/// Why a phase ended early: an error from the file system, or wrong data.
struct PhaseError {
  std::string what;  ///< "tree0/d3/f17: block 4 holds zeros"
  int error = 0;     ///< errno; 0 for wrong data
};
using PhaseResult = tl::expected<void, PhaseError>;

struct User {
  Vfs& vfs;
  Pace& pace;
  std::size_t number = 0;  ///< from 0
  const Arguments& arguments;
  std::uint64_t seed = 0;  ///< the workload's seed; the same for all users and phases
  /// Set to true when another user has failed, so that this user also stops.
  const std::atomic<bool>* interrupted = nullptr;
  Tally tally;
};

struct Phase {
  std::string name;
  std::size_t users = 1;
  bool measured = true;
  bool cold = false;  ///< calls sync and drops clean caches before the phase
  /// Starts the next phase at once, even if data is still dirty. Consecutive measured phases always
  /// do so.
  bool next_at_once = false;
  /// The power must be cut, and the file system recovered, before this phase. A driver that can cut
  /// the power does so before the first such phase. Other drivers continue without a cut, with the
  /// same result.
  bool after_cut = false;
  std::function<PhaseResult(User&)> body;
};

struct TimedWorkload {
  std::string_view name;       ///< "lfs-small-file"
  std::string_view title;      ///< one line
  std::string_view source;     ///< paper or program that defined the workload, and the section
  std::string_view operation;  ///< unit of Tally::operations, in the plural, for example "files"
  std::vector<Parameter> parameters;
  std::function<std::vector<Phase>(const Arguments&)> phases;
  /// After the cut, measures the boot up to the mount as one step; the file system is checked
  /// later.
  bool boots = false;
  /// Returns how many seconds a phase's users wait regardless of the file system. Null if users do
  /// not wait.
  std::function<std::uint64_t(const Arguments&)> waits_s = {};
};

/// Returns all workloads in documentation order.
std::span<const TimedWorkload> timed_workloads();

/// Finds a workload by name. Errors suggest the nearest known name.
Result<const TimedWorkload*> find_timed_workload(std::string_view name);

/// Returns the arguments of the exact or scaled variant, overridden by those in `replaced`. Errors
/// name the parameter, and its limits or the nearest known name.
Result<Arguments> arguments_of(const TimedWorkload& workload, bool scaled,
                               const Arguments& replaced, const std::string& subject);

}  // namespace headcrash::timed
