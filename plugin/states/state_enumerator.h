#pragma once
// Enumerates the crash states of a run, the highest-yield first, bounded, each content once.
//
// Strategies (the names are those of campaign files and of the database):
//   physical    the model's own media truth around every flush, mark and media write
//   prefix      everything submitted up to each flush, FUA write and mark; then up to each write
//   reorder     subsets of the unflushed writes: all of them when there are few, else those that lose one,
//               keep one, lose a contiguous run, lose all of one kind of place, and then seeded
//               draws
//   torn        an unflushed write there only in part: by physical sector, or by the larger unit that the
//               device writes as a whole, prefixes, suffixes, one unit in the middle
//   lose-all    no unflushed write survives
//   lying-flush the same after flushes that did nothing, from each flush on (a control: file
//   systems may fail)
//   member      members of an array stop at different events
//   (`recovery` is a strategy of the lab, harness/explorer: it records the recovery of a state and
//   explores that.)
//
// Of several disks behind one cord (a file system and its log; ExploreOptions::all_disks) a state
// is a choice on each of them at one cut, where a flush covers its own disk only:
//   physical    what each of them held at one instant
//   prefix      everything submitted to any of them up to there: a prefix of the one order of all requests
//   reorder     subsets of what is unflushed on each; all that is lost on one and kept on the others comes
//               first
//   torn        one write of one of them; what is unflushed elsewhere is there as a whole, or all lost
//   lose-all    on each, everything after its own last flush
//   lying-flush from that request on the flushes of all of them did nothing
//   member      not: they stop together
//
// States are distinguished by content: two that give the same image count once. How much of the
// space of a strategy was covered: coverage().

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
bool by_media(Strategy strategy);  ///< made from MEDIA events: physical and member
Result<Strategy> parse_strategy(std::string_view name);  ///< errors suggest the nearest name

struct ExploreOptions {
  std::vector<Strategy> strategies;  ///< in the order of their turns
  model::DeviceId device = 0;        ///< whose states: the first medium, or an array for `member`
  bool all_disks = false;            ///< in place of `device`: those of all disks at once
  std::uint64_t seed = 1;
  std::uint64_t budget =
      1000;  ///< distinct states in all; shared out over the strategies, rest to who needs it
  std::uint64_t reorder_per_cut = 16;  ///< subsets (torn writes) at one cut at most
  /// Sectors of 512 bytes, aligned, of which a power cut leaves all or nothing (NVMe: AWUPF, from
  /// 0); no less than a physical sector.
  std::uint32_t atomic_sectors = 1;
  /// Cuts outside [from_event, to_event] are left out: mkfs before the workload, the unmount after
  /// it.
  std::uint64_t from_event = 0;
  std::optional<std::uint64_t> to_event;
};

/// For atomic_sectors. Errors: no power of two from 512 bytes to 1 MiB; `subject` names what was
/// given.
Result<std::uint32_t> atomic_sectors_of(std::uint64_t bytes, const std::string& subject);

struct FoundState {
  CrashState state;
  std::string name;
  Strategy strategy = Strategy::prefix;
  std::uint64_t digest =
      /// StateImage::digest() of the device; of all disks, or of an array by media: of all of them
      0;
};

/// What a strategy's bounds left out. `space` is a double: subsets grow beyond 2^64.
struct Coverage {
  Strategy strategy = Strategy::prefix;
  double space = 0;             ///< states that the strategy defines for this run
  std::uint64_t generated = 0;  ///< of these
  std::uint64_t distinct = 0;   ///< new among all strategies so far
  std::string bound;            ///< in words: what was left out; empty when nothing
};

class StateEnumerator {
 public:
  /// Errors: a strategy that this recording cannot give, with the reason.
  static Result<StateEnumerator> create(const std::shared_ptr<const RunHistory>& run,
                                        const ExploreOptions& options);
  StateEnumerator(StateEnumerator&&) noexcept;
  StateEnumerator& operator=(StateEnumerator&&) noexcept;
  ~StateEnumerator();

  /// The next distinct state; nothing when space or budget is exhausted. Errors: the recording
  /// cannot be read.
  Result<std::optional<FoundState>> next();
  std::vector<Coverage> coverage() const;

 private:
  struct State;
  explicit StateEnumerator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::states
