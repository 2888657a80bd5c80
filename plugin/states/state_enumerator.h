#pragma once
// Enumerates the crash states of a run. States likely to expose a bug come first, and the number of
// states is bounded. If several states have the same content, only one is yielded.
//
// Strategies (named as in campaign files and the database):
//   physical    the contents of the emulated medium after every mark and media write, when a flush
//               is submitted, and directly before and after its completion
//   prefix      all writes submitted up to each flush, FUA write and mark; then up to each write
//   reorder     subsets of the unflushed writes: all subsets if there are few, else subsets that
//               lose one, keep one, lose a contiguous run, lose all writes of one kind, then random
//               subsets
//   torn        one unflushed write is partly present: a prefix, a suffix or one unit in the
//               middle, in units of physical sectors or of the device's larger atomic unit
//   lose-all    no unflushed write survives
//   lying-flush like lose-all, but one flush and all later ones had no effect (a control: file
//               systems may fail)
//   member      members of an array stop at different events
//
// A further strategy, `recovery`, is implemented in harness/explorer. It records the recovery from
// a state and explores the crash states of that recording.
//
// With several disks on one power cord (a file system and its log; ExploreOptions::all_disks), a
// state consists of a choice for each disk at one cut. A flush covers only its own disk:
//   physical    the contents of all disks at one instant
//   prefix      all writes submitted up to the cut: a prefix of the order of all requests
//   reorder     subsets of the unflushed writes of all disks; first those that lose all writes on
//               one disk and keep all writes on the others
//   torn        one write on one disk; the other unflushed writes are all present or all lost
//   lose-all    on each disk, the writes after that disk's last flush are lost
//   lying-flush on all disks, flushes from one request on had no effect
//   member      not available: the disks stop together
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
/// Returns true for the strategies that use MEDIA events: physical and member.
bool by_media(Strategy strategy);
Result<Strategy> parse_strategy(std::string_view name);  ///< an error suggests the nearest name

struct ExploreOptions {
  std::vector<Strategy> strategies;  ///< in the order in which they take turns
  /// The device whose states are explored: the first medium, or, for `member`, an array.
  model::DeviceId device = 0;
  bool all_disks = false;  ///< explores all disks together instead of `device`
  std::uint64_t seed = 1;
  /// Maximum number of distinct states in total. The strategies take turns. If a strategy ends
  /// early, its share goes to the other strategies.
  std::uint64_t budget = 1000;
  std::uint64_t reorder_per_cut = 16;  ///< maximum number of subsets (or of torn writes) at one cut
  /// Size, in sectors of 512 bytes, of an aligned unit that a power cut leaves either completely
  /// written or unwritten (for NVMe: AWUPF, which is 0-based). At least a physical sector.
  std::uint32_t atomic_sectors = 1;
  /// Cuts outside [from_event, to_event] are omitted, for example those during mkfs and unmount.
  std::uint64_t from_event = 0;
  std::optional<std::uint64_t> to_event;
};

/// Returns `bytes` as a number of sectors, for atomic_sectors. Fails unless `bytes` is a power of
/// two from 512 bytes to 1 MiB; the error names `subject`.
Result<std::uint32_t> atomic_sectors_of(std::uint64_t bytes, const std::string& subject);

struct FoundState {
  CrashState state;
  std::string name;
  Strategy strategy = Strategy::prefix;
  /// Digest of the device's contents (StateImage::digest()). For a state of several media, a
  /// combination of their digests.
  std::uint64_t digest = 0;
};

/// The coverage of a strategy. `space` is a double, because the number of states can exceed 2^64.
struct Coverage {
  Strategy strategy = Strategy::prefix;
  double space = 0;             ///< number of states that the strategy defines for this run
  std::uint64_t generated = 0;  ///< states generated
  std::uint64_t distinct = 0;   ///< states that no strategy had found before
  std::string bound;            ///< describes the omitted states; empty if no states were omitted
};

class StateEnumerator {
 public:
  /// Fails if the recording does not support one of the strategies. The error gives the reason.
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
