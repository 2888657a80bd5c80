#pragma once
// Timed workloads: what is measured, written once against vfs.h. The agent runs them in a guest
// through POSIX calls; our own file systems run the same code in virtual time.
//
//   prepare (not measured) -> create -> [caches dropped] -> read -> delete -> verify (not measured)
//
// A workload is a list of phases. A phase is done by several users side by side, each in a thread
// (guest) or fiber (virtual time) of its own, and ends when all have returned. What a user does
// follows from the arguments, the seed and the user's number alone, and nothing is kept between
// phases but what is on the
// disk: each phase is a request of its own, and device counters can be read between any two.
//
// Contents are stamps (harness/workload/stamp.h), so that a phase that reads knows what it must
// find: wrong data ends the workload, and no number comes of it.

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

/// A number that shapes a workload.
struct Parameter {
  std::string_view name;    ///< "files"; units last: "file-bytes"
  std::int64_t exact = 0;   ///< as the source has it
  std::int64_t scaled = 0;  ///< of the scaled-down variant, for tests and short comparisons
  std::int64_t least = 0, most = 0;
  std::string_view meaning;  ///< one line, with where the exact value comes from
};

/// A value for every parameter of a workload.
using Arguments = std::map<std::string, std::int64_t, std::less<>>;
/// It must be one of the workload's, and is never negative.
std::uint64_t argument(const Arguments& arguments, std::string_view name);

/// Time as it passes where the workload runs: the guest's monotonic clock, or model time.
class Pace {
 public:
  virtual ~Pace() = default;
  virtual std::int64_t now_ns() = 0;
  virtual void sleep_until(std::int64_t at_ns) = 0;  ///< for workloads that arrive at a rate
};

/// How files lie on the disk, where the file system tells: those of two blocks and more.
struct Layout {
  static constexpr std::uint64_t kBlockBytes = 4096;
  std::uint64_t files = 0, blocks = 0;
  std::uint64_t pieces = 0;  ///< stretches of consecutive blocks
};

/// What a user has done, as the application sees it.
struct Tally {
  std::uint64_t operations = 0;  ///< in the workload's own unit: files made, transactions, scripts
  std::uint64_t bytes_read = 0, bytes_written = 0;
  LatencyHistogram latencies;  ///< of single operations, where the workload is about them
  Layout layout;               ///< of the files that were asked for
  void add(const Tally& other);
};

/// Why a phase ended early: the file system refused, or gave back what was not written.
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
  std::uint64_t seed = 0;  ///< the workload's, the same for all users and phases
  const std::atomic<bool>* interrupted =
      nullptr;  ///< set when another user has failed: this one stops too
  Tally tally;
};

struct Phase {
  std::string name;
  std::size_t users = 1;
  bool measured = true;
  bool cold = false;  ///< synced before, and clean caches dropped
  /// The next phase begins at once, whatever has not been written. So do measured phases that
  /// follow each other.
  bool next_at_once = false;
  /// Not before the power has been cut and the file system has recovered: whoever can do that does
  /// it before the first such phase. All others continue without, and find the same.
  bool after_cut = false;
  std::function<PhaseResult(User&)> body;
};

struct TimedWorkload {
  std::string_view name;       ///< "lfs-small-file"
  std::string_view title;      ///< one line
  std::string_view source;     ///< the paper or program that defined it, and its section
  std::string_view operation;  ///< what Tally::operations counts, plural: "files"
  std::vector<Parameter> parameters;
  std::function<std::vector<Phase>(const Arguments&)> phases;
  /// After the cut all that a boot does until the file system is mounted is one step, and the check
  /// comes later.
  bool boots = false;
  /// How long its users wait in one phase, whatever the file system does; null: they do not.
  std::function<std::uint64_t(const Arguments&)> waits_s = {};
};

/// All of them, in the order of the documentation.
std::span<const TimedWorkload> timed_workloads();

/// Errors name the nearest known name.
Result<const TimedWorkload*> find_timed_workload(std::string_view name);

/// The variant's values, with some replaced. Errors name the parameter, its bounds or the nearest
/// known name.
Result<Arguments> arguments_of(const TimedWorkload& workload, bool scaled,
                               const Arguments& replaced, const std::string& subject);

}  // namespace headcrash::timed
