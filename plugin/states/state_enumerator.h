#pragma once
// Enumerates the crash states of a run: the most promising first, bounded, each content once.
//
// Strategies (named as in campaign files and the database):
//   physical    the contents of the emulated medium around every flush, mark and media write
//   prefix      everything submitted up to each flush, FUA write and mark; then up to each write
//   reorder     subsets of the unflushed writes: all of them if there are few, else those that lose
//               one, keep one, lose a contiguous run, lose all of one kind of place, then random
//   torn        an unflushed write partly present: by physical sector, or by the device's larger
//               atomic unit; prefixes, suffixes, one unit in the middle
//   lose-all    no unflushed write survives
//   lying-flush lose-all with ineffective flushes from each flush on (a control: systems may fail)
//   member      members of an array stop at different events
//   (`recovery` is a strategy of harness/explorer, which records the recovery and explores that.)
//
// With several disks on one power cord (a file system and its log; ExploreOptions::all_disks) a
// state is a choice for each of them at one cut. A flush covers only its own disk:
//   physical    the contents of each of them at one instant
//   prefix      everything submitted up to there: a prefix of the order of all requests
//   reorder     subsets of the unflushed writes of all; first those that lose all on one disk and
//               keep all on the others
//   torn        one write on one of them; unflushed writes elsewhere are all present or all lost
//   lose-all    on each, everything after its own last flush
//   lying-flush flushes of all of them had no effect from that request on
//   member      not available: they stop together
//
// States are distinguished by content: two states with the same image count once. coverage()
// reports how much of a strategy's space was covered.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/states/run_history.h"

namespace headcrash::states {

enum class Strategy : std::uint8_t {
  physical,
  prefix,
  reorder,
  torn,
  lose_all,
  lying_flush,
  member,
  recovery
};
std::string_view name(Strategy strategy);
/// true for strategies made from MEDIA events: physical and member
bool by_media(Strategy strategy);
Result<Strategy> parse_strategy(std::string_view name);  ///< errors suggest the nearest name

struct ExploreOptions {
  std::vector<Strategy> strategies;  ///< in the order of their turns
  /// the device whose states are explored: the first medium, or an array for `member`
  model::DeviceId device = 0;
  bool all_disks = false;  ///< explores all disks together instead of `device`
  std::uint64_t seed = 1;
  std::uint64_t budget =
      /// total number of distinct states; shared among the strategies, and unused shares go to the
      /// others
      1000;
  std::uint64_t reorder_per_cut = 16;  ///< maximum number of subsets (torn writes) at one cut
  /// Aligned unit in sectors of 512 bytes that a power cut writes completely or not at all (NVMe:
  /// AWUPF, which is 0-based); at least a physical sector.
  std::uint32_t atomic_sectors = 1;
  /// Cuts outside [from_event, to_event] are omitted: mkfs before the workload, the unmount after
  /// it.
  std::uint64_t from_event = 0;
  std::optional<std::uint64_t> to_event;
};

/// Returns the value for atomic_sectors. Fails unless `bytes` is a power of two from 512 bytes to 1
/// MiB; the error names `subject`.
Result<std::uint32_t> atomic_sectors_of(std::uint64_t bytes, const std::string& subject);

struct FoundState {
  CrashState state;
  std::string name;
  Strategy strategy = Strategy::prefix;
  std::uint64_t digest =
      /// StateImage::digest() of the device; a combination for all disks, and for an array by
      /// media.
      0;
};

/// The coverage of a strategy. `space` is a double because the number of subsets exceeds 2^64.
struct Coverage {
  Strategy strategy = Strategy::prefix;
  double space = 0;             ///< number of states that the strategy defines for this run
  std::uint64_t generated = 0;  ///< states generated
  std::uint64_t distinct = 0;   ///< states not found by any strategy before
  std::string bound;            ///< describes omitted states; empty if none
};

class StateEnumerator {
 public:
  /// Fails if the recording does not support a strategy; the error has the reason.
  static Result<StateEnumerator> create(const std::shared_ptr<const RunHistory>& run,
                                        const ExploreOptions& options);
  StateEnumerator(StateEnumerator&&) noexcept;
  StateEnumerator& operator=(StateEnumerator&&) noexcept;
  ~StateEnumerator();

  /// Returns the next distinct state; nullopt if the space or the budget is exhausted. Fails if the
  /// recording cannot be read.
  Result<std::optional<FoundState>> next();
  std::vector<Coverage> coverage() const;

 private:
  struct State;
  explicit StateEnumerator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::states
