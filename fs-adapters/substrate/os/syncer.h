#pragma once
// The syncer daemon: writes behind what is dirty, and does what file systems have deferred.
//
// Source: Ganger and Patt 1994, section 2 (one-second sweep) and 4.2 (work items before the sweep,
// within one second); Chen, "Optimizing delay in delayed-write file systems", sections 4 (bursts)
// and 6 (interval periodic update; metadata whenever the syncer runs).

#include <cstdint>
#include <functional>
#include <memory>

#include "fs-adapters/substrate/os/buffer_cache.h"

namespace headcrash::os {

struct SyncerOptions {
  enum class Policy : std::uint8_t {
    none,      ///< only who needs a buffer, and fsync, write
    sweep,     ///< each second 1/`parts` of the cache: mark, or write what was marked
    periodic,  ///< everything each `interval_ns`, as the classic `update`
    interval,  ///< each second data that are `interval_ns` old or older; metadata at once
    /// as interval, but so much earlier that all that is dirty can be on the disk by then: data are
    burst,
    ///< written when they are `interval_ns` less the time that everything dirty takes at
    ///< `drain_bytes_per_s` old
    /// a call that changes something returns when that is on the disk (tree/file_system.h)
    write_through,
  };
  /// How old data are. The paper counts from the last change: what is changed once an interval is
  /// never written, which is fine for what is overwritten, and without a bound for a block that
  /// grows.
  enum class Age : std::uint8_t { since_last_change, since_first_change };
  Policy policy = Policy::sweep;
  std::size_t parts = 30;
  TimeNs interval_ns = 30 * model::kSecondNs;  ///< 0: at the next tick; kNever: never for its age
  Age age = Age::since_last_change;  ///< of buffers; logs and commits count from the first change
  /// interval, burst: blocks of metadata are written by their age, too. Inodes in core go to their
  /// blocks at once still, so that they do not wait twice.
  bool metadata_waits = false;
  /// Logs, commits and inodes in core keep the times of their file system, as they do under the
  /// sweep: in Linux 2.4 kupdate writes buffers, and a journal commits by itself.
  bool own_times = false;
  std::uint64_t drain_bytes_per_s = 0;  ///< burst: what the disk sustains; more than 0
  TimeNs tick_ns = model::kSecondNs;
  /// Items that may wait, those under way included: one more stops the program. File systems keep
  /// below it by doing work themselves (do_work()) when work_waiting() grows.
  std::size_t work_max = std::size_t{1} << 22;
};

/// How old data of the burst policy are when they are written: never less than 0. `dirty_bytes` is
/// all that waits.
TimeNs burst_age_ns(const SyncerOptions& options, std::uint64_t dirty_bytes);

class Syncer {
 public:
  Syncer(Executor& executor, BufferCache& cache, const SyncerOptions& options);
  ~Syncer();

  void start();  ///< spawns the daemon; it ends when the executor is halted

  /// Done by the daemon at its next tick, or at the first one not before `not_before`, in the order
  /// of asking, before it sweeps. A work item may wait. From fibers and handlers.
  void add_work(std::function<void()> work, TimeNs not_before = 0);
  /// The calling fiber does what is due itself: back-pressure, sync, unmount. `everything`: also
  /// what is not due yet.
  enum class Extent : std::uint8_t { due, everything };
  void do_work(Extent extent);
  /// Items that have not been done; those under way count. What an item asks for in its turn is
  /// done at the next tick or call: who wants everything done looks again.
  std::size_t work_waiting() const;
  /// Returns when no item is under way, whoever does it: true if there was one. Not from an item,
  /// nor with a lock that one may want.
  bool wait_for_work_under_way();
  /// What has been asked for is not done, and let go of: its file system is gone, with or without
  /// its disk.
  void forget_work();

  // For who does not write by buffers of the cache alone: inodes in core, commits, a log.
  /// When what is changed now has to be written. `usual_ns` from now where the policy knows no time
  /// of its own (sweep, own_times). kNever: not for its age. With burst by what is dirty now.
  TimeNs due_at(Content content, TimeNs usual_ns) const;
  /// The same seen from a tick: data that was changed at that instant or before is due. Negative:
  /// nothing is.
  TimeNs due_since(TimeNs usual_ns) const;
  bool writes_through() const;  ///< Policy::write_through

  Account& account();  ///< who pays for what the daemon does

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::os
