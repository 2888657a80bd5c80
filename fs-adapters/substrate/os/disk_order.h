#pragma once
// Ordering rules of disk_queue.h, independent of disks and time.
//
// Each request counts its unsatisfied dependencies and is ready when the count is zero.
// Dependencies are:
//
//   sectors   a write waits for the last write of each of its sectors and for the reads since;
//             a read waits for the last write
//   chains    the requests that it names
//   gates     flags, barriers and flushes hold back all requests after a point in issue order;
//             each gate is one queue, of which only the front is checked
//
// A completion searches nothing: its cost is proportional to the requests that it releases.

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace headcrash::os {

using RequestId = std::uint64_t;  ///< ascending in issue order, from 1

enum class FlagMeaning : std::uint8_t { full, back, part, ignore };

/// A request's ordering constraints, in addition to those that follow from its sectors.
struct Ordering {
  bool flagged = false;
  /// Scheduler chains: earlier requests that must complete first. Requests that are already
  /// complete are ignored.
  std::span<const RequestId> after = {};
  /// Makes the request a barrier: it is ordered like a flagged request under Part-NR, whatever the
  /// queue's FlagMeaning is. Used for de-allocation with chains (section 3.2).
  bool barrier = false;
};

/// A window of consecutively numbered items: a deque that is indexed by the items' numbers. The
/// oldest item is removed first.
template <typename T>
class IdWindow {
 public:
  /// Number of the oldest item; if the window is empty, the number that the next item will have.
  std::uint64_t oldest() const { return oldest_; }
  std::uint64_t beyond() const { return oldest_ + things_.size(); }
  bool empty() const { return things_.empty(); }
  bool contains(std::uint64_t id) const { return id >= oldest_ && id - oldest_ < things_.size(); }
  T& operator[](std::uint64_t id) { return things_[id - oldest_]; }
  const T& operator[](std::uint64_t id) const { return things_[id - oldest_]; }
  T& front() { return things_.front(); }
  std::uint64_t push(T thing) {
    things_.push_back(std::move(thing));
    return beyond() - 1;
  }
  void pop_front() {
    things_.pop_front();
    ++oldest_;
  }

 private:
  std::uint64_t oldest_ = 1;
  std::deque<T> things_;
};

class DiskOrder {
 public:
  enum class Kind : std::uint8_t { read, write, flush };
  enum class Outcome : std::uint8_t { done, failed };
  struct Changes {
    std::vector<RequestId> ready;  ///< in the order in which they became ready
    /// Requests that failed without being sent, because they had to follow a failed request.
    std::vector<RequestId> failed;
  };

  DiskOrder(FlagMeaning flag, bool reads_bypass) : flag_(flag), reads_bypass_(reads_bypass) {}

  /// Adds a request and returns its number. If the request is ready at once, also adds its number
  /// to `changes`.
  RequestId add(Kind kind, std::uint64_t lba, std::uint32_t sectors, const Ordering& ordering,
                Changes& changes);
  /// Completes a request that was ready. Adds to `changes` the requests that become ready or fail
  /// as a result.
  void complete(RequestId id, Outcome outcome, Changes& changes);

  bool pending(RequestId id) const { return slots_.contains(id) && !slots_[id].complete; }
  RequestId oldest() const {
    return slots_.oldest();
  }  ///< the oldest pending request; newest() + 1 if no request is pending
  RequestId newest() const { return slots_.beyond() - 1; }

 private:
  enum class Link : std::uint8_t { sectors, chain };
  struct Follower {
    RequestId id = 0;
    Link link = Link::sectors;
  };
  struct Slot {
    Kind kind = Kind::read;
    bool flagged = false;
    bool barrier = false;
    bool complete = false;
    /// An earlier request, which this one had to follow, has failed. This request fails, too, once
    /// no earlier request for its sectors is pending.
    bool doomed = false;
    std::uint64_t lba = 0;
    std::uint64_t end = 0;
    std::uint32_t held_by_sectors = 0;
    std::uint32_t held_by_order = 0;
    RequestId flagged_before = 0;  ///< the last flagged request issued before this one
    std::vector<Follower> followers;
  };
  /// A run of sectors with the same pending requests. The map is keyed by the first sector of the
  /// run.
  struct Run {
    std::uint64_t end = 0;
    RequestId writer = 0;            ///< the last write; 0 if none
    std::vector<RequestId> readers;  ///< reads issued since the last write
  };
  using Runs = std::map<std::uint64_t, Run>;

  Runs::iterator split(std::uint64_t lba);
  void follow(RequestId before, RequestId after, Link link);
  void follow_sectors(RequestId id);
  void forget_sectors(RequestId id);
  bool gated_by_flags(RequestId id) const;
  bool may_pass_flags(RequestId id);
  void finish(RequestId id, Outcome outcome, Changes& changes);
  void doom_followers(RequestId id, Changes& changes);
  void doom(RequestId id, Changes& changes);
  void open_gates(Changes& changes);
  template <typename MayPass>
  void open_gate(std::deque<RequestId>& gate, const MayPass& may_pass, Changes& changes);
  RequestId first_of(std::deque<RequestId>& ids);
  void consider(RequestId id, Changes& changes);

  FlagMeaning flag_;
  bool reads_bypass_;
  IdWindow<Slot> slots_;
  Runs runs_;
  /// Flagged requests, in issue order: all pending ones, and possibly some that are complete.
  std::deque<RequestId> flagged_;
  /// Barriers, in issue order: all pending ones, and possibly some that are complete.
  std::deque<RequestId> barriers_;
  RequestId last_flagged_ = 0;
  std::deque<RequestId> flag_gate_;
  std::deque<RequestId> barrier_gate_;
  std::deque<RequestId> flush_gate_;
};

}  // namespace headcrash::os
