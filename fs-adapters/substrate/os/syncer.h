#pragma once
// The syncer daemon: writes dirty blocks in the background and runs deferred work of file systems.
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
    none,  ///< writes only for fsync and to make room, never in the background
    /// Each second, visits a part of the cache (1/`parts` of it) and marks or writes its dirty
    /// buffers.
    sweep,
    periodic,  ///< writes everything every `interval_ns`, like the classic `update` daemon
    interval,  ///< each second, writes data at least `interval_ns` old, and all metadata
    /// Like `interval`, but all dirty data must be on the disk before it is older than
    /// `interval_ns`. Data is therefore written earlier, by the time needed to write all dirty data
    /// at `drain_bytes_per_s`.
    burst,
    /// Each call that changes something returns only after its changes are on the disk
    /// (tree/file_system.h).
    write_through,
  };
  /// The event from which a buffer's age is counted. In the paper, this event is the last change,
  /// so data that changes at least once per interval is never old enough to be written. That is an
  /// advantage for data that is overwritten, but a block that keeps growing may stay dirty forever.
  enum class Age : std::uint8_t { since_last_change, since_first_change };
  Policy policy = Policy::sweep;
  std::size_t parts = 30;
  /// With 0, data is written at the next tick. With kNever, age never causes a write of data.
  TimeNs interval_ns = 30 * model::kSecondNs;
  /// Applies only to buffers. The age of a log or a commit always counts from the first change.
  Age age = Age::since_last_change;
  /// For `interval` and `burst`: metadata blocks are also written only when they have reached the
  /// age at which data is written. In-core inodes are still copied to their blocks at once.
  /// Otherwise, a change to an inode would wait twice: first in core, then in the block.
  bool metadata_waits = false;
  /// If true, logs, commits and in-core inodes are written at the same times as with the sweep
  /// policy; the file system defines these times. Linux 2.4 works this way: kupdate writes buffers,
  /// and a journal commits on its own timer.
  bool own_times = false;
  /// For `burst`: rate at which the disk can absorb dirty data; must be positive.
  std::uint64_t drain_bytes_per_s = 0;
  TimeNs tick_ns = model::kSecondNs;
  /// For `interval`, `burst` and `write_through`: time from the failure of a write to its retry.
  /// The other policies retry at their next visit. If each tick retried all failed writes, a few
  /// bad blocks would keep a slow disk busy, and other requests would wait behind them.
  TimeNs retry_ns = 30 * model::kSecondNs;
  /// Limit on the number of unfinished work items, including running ones. Exceeding the limit
  /// stops the program. To stay below the limit, file systems do some of the work themselves
  /// (do_work()) when work_waiting() grows.
  std::size_t work_max = std::size_t{1} << 22;
};

/// Returns the age (at least 0) at which the burst policy writes data when there are `dirty_bytes`
/// of dirty data in total.
TimeNs burst_age_ns(const SyncerOptions& options, std::uint64_t dirty_bytes);

class Syncer {
 public:
  Syncer(Executor& executor, BufferCache& cache, const SyncerOptions& options);
  ~Syncer();

  void start();  ///< spawns the daemon, which ends when the executor is halted

  /// Queues work for the daemon's next tick, or for the first tick at or after `not_before`. Items
  /// run in FIFO order, before the sweep, and may wait. May be called from fibers and handlers.
  void add_work(std::function<void()> work, TimeNs not_before = 0);
  /// Runs due items on the calling fiber. Used for back-pressure, sync and unmount. With
  /// Extent::everything, also runs items that are not due yet.
  enum class Extent : std::uint8_t { due, everything };
  void do_work(Extent extent);
  /// Number of unfinished items, including running ones. Items that are queued by another item are
  /// run at the next tick or call, so a caller that needs all work to be done must check again.
  std::size_t work_waiting() const;
  /// Waits until no item is running. Returns true if one was running. Must not be called from an
  /// item, nor while the caller holds a lock that an item may need.
  bool wait_for_work_under_way();
  /// Drops all queued work. Called when the file system that queued the work is destroyed or
  /// abandoned.
  void forget_work();

  // The following functions are for state outside the buffer cache: in-core inodes, commits, a log.

  /// Returns the time by which a change made now must be written; kNever if age never causes a
  /// write. If the policy defines no such time (sweep, own_times), returns `usual_ns` from now. For
  /// burst, the result depends on the current amount of dirty data.
  TimeNs due_at(Content content, TimeNs usual_ns) const;
  /// The inverse of due_at(). Returns the latest time t such that data changed at t is due now.
  /// Negative if no data is due.
  TimeNs due_since(TimeNs usual_ns) const;
  bool writes_through() const;  ///< true for Policy::write_through

  Account& account();  ///< the account that is charged for the daemon's work

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::os
