#pragma once
// Model time and its event queue.
//
// Time is a 64-bit count of nanoseconds since the machine was first switched on. Time never goes
// back, not even at a power cut. The model's platters keep turning while the power is off, so the
// angle after a power-on is still a function of absolute time. Events scheduled for the same time
// run in the order in which they were scheduled, so equal inputs produce equal runs.
//
// The queue is independent of the clock that drives it. `simulate` runs the queue as fast as
// possible. The NBD server makes it follow the wall clock (clock=real) or runs it until a request
// is complete (clock=off).

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace headcrash::model {

/// Nanoseconds of model time. 2^63 ns is 292 years.
using TimeNs = std::int64_t;
inline constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();
inline constexpr TimeNs kMicrosecondNs = 1'000;
inline constexpr TimeNs kMillisecondNs = 1'000'000;
inline constexpr TimeNs kSecondNs = 1'000'000'000;
inline constexpr double kNsPerMs = 1e6;  ///< only for text and tables

/// A receiver of scheduled events. The meaning of a tag is up to the target: a request, an
/// operation, or a generation number. Events cannot be cancelled; a target ignores events whose tag
/// is outdated.
class EventTarget {
 public:
  virtual ~EventTarget() = default;
  virtual void on_event(std::uint64_t tag) = 0;
};

/// The event queue of one machine. It does not own the targets, and it runs events on the caller's
/// thread. Not thread-safe.
class Simulation {
 public:
  TimeNs now() const { return now_; }

  /// Schedules `target.on_event(tag)` at `at`, which must not be in the past. `target` must outlive
  /// the event.
  void schedule(TimeNs at, EventTarget& target, std::uint64_t tag);

  /// Returns a request id that is unique in this machine, ascending from 1. All issuers take their
  /// ids from here: the machine for the host, an array for its member requests, a cache for its
  /// write-backs.
  std::uint64_t new_request_id() { return ++last_request_id_; }

  /// Returns the time of the next event; nullopt if no event is scheduled.
  std::optional<TimeNs> next_event() const;

  /// Advances time to the next event and runs the event. Returns false if there is no event.
  bool run_next();

  /// Runs all events up to and including `until`, then sets now() to `until`.
  void run_until(TimeNs until);

 private:
  struct Event {
    TimeNs at;
    std::uint64_t sequence;
    EventTarget* target;
    std::uint64_t tag;
  };
  static bool later(const Event& a, const Event& b) {
    return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
  }

  std::vector<Event> heap_;  ///< binary heap, earliest on top
  std::uint64_t next_sequence_ = 0;
  std::uint64_t last_request_id_ = 0;
  TimeNs now_ = 0;
};

}  // namespace headcrash::model
