#pragma once
// What must not overtake what: the rules of disk_queue.h, without disk and without time.
//
// Each request counts what holds it back, and is ready when nothing does:
//
//   sectors   for each sector the last write, and the reads since: a write waits for those, a read for that
//   chains    those that it names
//   gates     flags, barriers and flushes hold back everything behind a point in the order of issue, so that
//             one queue for each, whose front knows whether it may pass, does for any number of
//             requests
//
// Nothing is searched when a request completes: the work is that of what it releases.

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "fs-adapters/substrate/os/id_window.h"

namespace headcrash::os {

using RequestId = std::uint64_t;  ///< rising in order of issue, from 1

enum class FlagMeaning : std::uint8_t { full, back, part, ignore };

/// How a request must be ordered.
struct Ordering {
  bool flagged = false;
  std::span<const RequestId> after =
      {};  ///< chains: requests issued earlier; those complete are ignored
  bool barrier =
      false;  ///< a Part-NR barrier whatever the queue's own meaning: chains' de-allocation (3.2)
};

class DiskOrder {
 public:
  enum class Kind : std::uint8_t { read, write, flush };
  enum class Outcome : std::uint8_t { done, failed };
  struct Changes {
    std::vector<RequestId> ready;  ///< in the order in which they became so
    std::vector<RequestId>
        failed;  ///< they are complete, by the failure of what they had to follow
  };

  DiskOrder(FlagMeaning flag, bool reads_bypass) : flag_(flag), reads_bypass_(reads_bypass) {}

  /// Numbers it. `changes` gets it when it is ready at once.
  RequestId add(Kind kind, std::uint64_t lba, std::uint32_t sectors, const Ordering& ordering,
                Changes& changes);
  /// One that was ready is complete. Adds to `changes`.
  void complete(RequestId id, Outcome outcome, Changes& changes);

  bool pending(RequestId id) const { return slots_.contains(id) && !slots_[id].complete; }
  RequestId oldest() const {
    return slots_.oldest();
  }  ///< pending; one beyond the newest when none is
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
    bool doomed = false;  ///< fails as soon as nothing before it is for its sectors
    std::uint64_t lba = 0;
    std::uint64_t end = 0;
    std::uint32_t held_by_sectors = 0;
    std::uint32_t held_by_order = 0;
    RequestId flagged_before = 0;  ///< the last one when it was issued
    std::vector<Follower> followers;
  };
  /// What is pending for a run of sectors, by its first.
  struct Run {
    std::uint64_t end = 0;
    RequestId writer = 0;            ///< the last; 0: none
    std::vector<RequestId> readers;  ///< since then
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
  std::deque<RequestId> flagged_;   ///< pending ones, and complete ones between them
  std::deque<RequestId> barriers_;  ///< likewise
  RequestId last_flagged_ = 0;
  std::deque<RequestId> flag_gate_;
  std::deque<RequestId> barrier_gate_;
  std::deque<RequestId> flush_gate_;
};

}  // namespace headcrash::os
