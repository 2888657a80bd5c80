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
    none,      ///< writes only for fsync and to make room
    sweep,     ///< each second, marks or writes 1/`parts` of the cache
    periodic,  ///< writes everything every `interval_ns`, like the classic `update` daemon
    interval,  ///< each second, writes data at least `interval_ns` old, and all metadata
    /// Like interval, but early enough for all dirty data to reach the disk in time: data is
    /// written at the age of `interval_ns` minus the time needed to write all dirty data at
    /// `drain_bytes_per_s`.
    burst,
    /// Each call that changes something returns once its changes are on the disk
    /// (tree/file_system.h).
    write_through,
  };
  /// The event from which a buffer's age is counted. In the paper, it is the last change. Data that
  /// changes once per interval is then never written. That suits overwritten data, but a growing
  /// block stays dirty without limit.
  enum class Age : std::uint8_t { since_last_change, since_first_change };
  Policy policy = Policy::sweep;
  std::size_t parts = 30;
  /// 0 writes at the next tick. kNever never writes because of age.
  TimeNs interval_ns = 30 * model::kSecondNs;
  /// Applies to buffers. For logs and commits, age always counts from the first change.
  Age age = Age::since_last_change;
  /// For interval and burst: metadata blocks are also written by age. In-core inodes are still
  /// copied to their blocks at once, so that they do not wait twice.
  bool metadata_waits = false;
  /// Logs, commits and in-core inodes keep their file system's timing, as with the sweep policy.
  /// Linux 2.4 works this way: kupdate writes buffers, and a journal commits on its own timer.
  bool own_times = false;
  std::uint64_t drain_bytes_per_s = 0;  ///< for burst: sustained rate of the disk; must be positive
  TimeNs tick_ns = model::kSecondNs;
  /// Limit on waiting work items, including running ones. Exceeding it stops the program. File
  /// systems stay below it by doing work themselves (do_work()) when work_waiting() grows.
  std::size_t work_max = std::size_t{1} << 22;
};

/// Returns the age (at least 0) at which the burst policy writes data. `dirty_bytes` is the total
/// amount of dirty data.
TimeNs burst_age_ns(const SyncerOptions& options, std::uint64_t dirty_bytes);

class Syncer {
 public:
  Syncer(Executor& executor, BufferCache& cache, const SyncerOptions& options);
  ~Syncer();

  void start();  ///< spawns the daemon, which ends when the executor is halted

  /// Queues work for the daemon's next tick, or for the first tick at or after `not_before`. Items
  /// run in FIFO order, before the sweep, and may wait. May be called from fibers and handlers.
  void add_work(std::function<void()> work, TimeNs not_before = 0);
  /// Runs due items on the calling fiber: for back-pressure, sync and unmount. `everything` also
  /// runs items that are not due.
  enum class Extent : std::uint8_t { due, everything };
  void do_work(Extent extent);
  /// Number of items not yet done, including running ones. Items queued by an item are done at the
  /// next tick or call, so callers that need everything done must check again.
  std::size_t work_waiting() const;
  /// Waits until no item is running. Returns true if one was. Must not be called from an item, nor
  /// while holding a lock that an item may need.
  bool wait_for_work_under_way();
  /// Drops all queued work, because its file system is gone.
  void forget_work();

  // The following serve state outside the buffer cache: in-core inodes, commits, a log.

  /// Returns the time by which a change made now must be written; kNever if age does not matter. If
  /// the policy defines no time (sweep, own_times), returns `usual_ns` from now. For burst, the
  /// result depends on the amount of dirty data.
  TimeNs due_at(Content content, TimeNs usual_ns) const;
  /// The inverse of due_at(): data changed at or before the returned time is due now. Negative if
  /// no data is due.
  TimeNs due_since(TimeNs usual_ns) const;
  bool writes_through() const;  ///< true for Policy::write_through

  Account& account();  ///< account that pays for the daemon's work

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::os
