#pragma once
// Timed workloads. Each is implemented once, on the interface in vfs.h. The agent runs this code in
// a guest through POSIX calls. Our own file systems run the same code in virtual time.
//
//   prepare (not measured) -> create -> [caches dropped] -> read -> delete -> verify (not measured)
//
// A workload is a list of phases. Several users execute a phase concurrently, each in its own
// thread (guest) or fiber (virtual time), and the phase ends when all have returned. A user's
// actions depend only on the arguments, the seed and the user's number. Each phase is a separate
// request, so phases share no state except the disk. Device counters can therefore be read between
// any two phases.
//
// Contents are stamps (harness/workload/stamp.h), so a phase that reads can verify the data. If the
// data is wrong, the workload ends without a result.

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

struct Parameter {
  std::string_view name;    ///< such as "files"; if there is a unit, it comes last: "file-bytes"
  std::int64_t exact = 0;   ///< value in the original workload
  std::int64_t scaled = 0;  ///< value at a reduced scale, for tests and quick comparisons
  std::int64_t least = 0, most = 0;
  std::string_view meaning;  ///< one-line description, with the source of `exact`
};

/// The values of all parameters of a workload.
using Arguments = std::map<std::string, std::int64_t, std::less<>>;
/// Returns the value of a parameter; values are never negative. REQUIRES: the parameter exists.
std::uint64_t argument(const Arguments& arguments, std::string_view name);

/// The workload's clock: the guest's monotonic clock, or model time.
class Pace {
 public:
  virtual ~Pace() = default;
  virtual std::int64_t now_ns() = 0;
  /// Used by workloads whose requests arrive at a given rate.
  virtual void sleep_until(std::int64_t at_ns) = 0;
};

/// The fragmentation of all files that have at least two blocks. All counts are 0 if the file
/// system does not report layouts.
struct Layout {
  static constexpr std::uint64_t kBlockBytes = 4096;
  std::uint64_t files = 0, blocks = 0;
  std::uint64_t pieces = 0;  ///< number of runs of consecutive blocks
};

/// Counts the work of a user, as the application sees it.
struct Tally {
  /// Number of operations, in the units of the workload: files created, transactions, scripts.
  std::uint64_t operations = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;
  LatencyHistogram latencies;  ///< latency of each operation, for workloads that measure it
  Layout layout;               ///< layout of the inspected files
  void add(const Tally& other);
};

/// The reason why a phase ended early: an error of the file system, or wrong data.
struct PhaseError {
  std::string what;  ///< for example "tree0/d3/f17: block 4 holds zeros"
  int error = 0;     ///< errno; 0 for wrong data
};
using PhaseResult = tl::expected<void, PhaseError>;

struct User {
  Vfs& vfs;
  Pace& pace;
  std::size_t number = 0;  ///< from 0
  const Arguments& arguments;
  std::uint64_t seed = 0;  ///< seed of the workload; the same for all users and phases
  /// Becomes true when another user has failed; this user must then stop, too.
  const std::atomic<bool>* interrupted = nullptr;
  Tally tally;
};

struct Phase {
  std::string name;
  std::size_t users = 1;
  bool measured = true;
  bool cold = false;  ///< before the phase, sync and drop clean caches
  /// If true, the next phase starts at once, even if data is still dirty. A measured phase always
  /// starts at once after another measured phase.
  bool next_at_once = false;
  /// Before this phase, the power must be cut and the file system recovered. A driver that can cut
  /// the power does so before the first phase of this kind. Other drivers omit the cut. The phase's
  /// results must be the same with and without the cut.
  bool after_cut = false;
  std::function<PhaseResult(User&)> body;
};

struct TimedWorkload {
  std::string_view name;       ///< "lfs-small-file"
  std::string_view title;      ///< one line
  std::string_view source;     ///< paper or program that defines the workload, and the section
  std::string_view operation;  ///< unit of Tally::operations, in the plural, for example "files"
  std::vector<Parameter> parameters;
  std::function<std::vector<Phase>(const Arguments&)> phases;
  /// If true, the time from the power-on after the cut to the mount is measured as one step, the
  /// boot. The file system is checked after this step.
  bool boots = false;
  /// Returns how many seconds the users sleep in a phase. This time does not depend on the speed of
  /// the file system. Null if the users do not sleep.
  std::function<std::uint64_t(const Arguments&)> waits_s = {};
};

/// Returns all workloads, in the order of the documentation.
std::span<const TimedWorkload> timed_workloads();

/// Finds a workload by name. If the name is unknown, the error suggests the most similar one.
Result<const TimedWorkload*> find_timed_workload(std::string_view name);

/// Returns the arguments of the exact or the scaled variant. Arguments in `replaced` override the
/// variant's. If an argument in `replaced` is invalid, the error names the parameter and gives its
/// limits, or suggests the most similar name.
Result<Arguments> arguments_of(const TimedWorkload& workload, bool scaled,
                               const Arguments& replaced, const std::string& subject);

}  // namespace headcrash::timed
