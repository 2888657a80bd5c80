#pragma once
// Model time and the queue of things that will happen in it.
//
// Time is a 64-bit count of nanoseconds since the machine was first switched on; it never goes back
// and survives power cuts (the platters keep turning in the mathematics, so the angle after a
// power-on is still a function of absolute time). Events of equal time happen in the order they
// were scheduled: equal inputs give equal runs.
//
// The queue does not know which clock drives it: `simulate` runs it as fast as it can, the NBD shim
// lets it follow the wall clock (clock=real) or runs it until one request is done (clock=off).

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
inline constexpr double kNsPerMs = 1e6;  ///< for text and tables

/// Something that happens at a scheduled time. The tag is the target's own: a request, an
/// operation, a generation number with which it recognises events that have been overtaken (events
/// cannot be cancelled, only ignored).
class EventTarget {
 public:
  virtual ~EventTarget() = default;
  virtual void on_event(std::uint64_t tag) = 0;
};

/// The event queue of one machine. It owns no targets, runs their events on the caller's thread,
/// and is not thread-safe.
class Simulation {
 public:
  TimeNs now() const { return now_; }

  /// Schedules `target.on_event(tag)` at `at`, which must not lie in the past. `target` must
  /// outlive the event.
  void schedule(TimeNs at, EventTarget& target, std::uint64_t tag);

  /// A number that no other request of this machine has; rising from 1. Whoever makes a request
  /// asks for one: the machine for the host's, an array for those to its members, a cache for its
  /// write-backs.
  std::uint64_t new_request_id() { return ++last_request_id_; }

  /// Time of the next event; nothing if none is scheduled.
  std::optional<TimeNs> next_event() const;

  /// Moves time to the next event and lets it happen. False if there was none.
  bool run_next();

  /// Lets everything up to and including `until` happen, then sets now() to `until`.
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
