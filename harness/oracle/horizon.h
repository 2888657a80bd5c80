#pragma once
// What is known about how far a workload had come when the power went.
//
// Persistence points are reported in the order of the list (operation.h). With P the last one
// reported, all points up to P have succeeded, and each thread may have run up to its own next
// point after P; not beyond, because it waits there until it is reported. No thread has passed a
// join with an unreported point before it.
//
//   operation   0  1  2  3  4  5  6  7  8  9
//   thread 0    w     F        w  F     |  w      F persistence point, | join, P = 2
//   thread 1       w     w  F        w  |         thread 0 may have reached 6, thread 1 may have reached 4
//
// Without threads this is the one interval (P, next point].

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::oracle {

/// The operations that may or must have happened.
class Horizon {
 public:
  bool knows(std::size_t operation) const { return persisted_ && operation <= *persisted_; }
  bool may_have_run(std::size_t operation) const {
    return operation <= reached_[thread_of_[operation]];
  }

  std::size_t threads() const { return reached_.size(); }
  std::uint8_t thread_of(std::size_t operation) const { return thread_of_[operation]; }
  /// How many operations of the list, from its beginning, have been done as far as a thread's own
  /// are
  /// concerned: those up to its last known point, and those up to the last that may have run.
  std::size_t done_at_least(std::size_t thread) const { return passed_[thread]; }
  std::size_t done_at_most(std::size_t thread) const {
    return thread_of_.empty() ? 0 : reached_[thread] + 1;
  }

 private:
  friend class Timeline;
  std::optional<std::size_t> persisted_;  // the last known persistence point, P
  std::vector<std::size_t> reached_;      // by thread: its last operation that may have run
  std::vector<std::size_t> passed_;       // by thread: behind its last point up to P
  std::span<const std::uint8_t> thread_of_;
};

/// The threads, persistence points and joins of a list.
class Timeline {
 public:
  /// The next operation of the list. One that was skipped makes nothing persistent. `keeps`: as a
  /// point, it makes what was done before it persistent; a rest that is shorter than what is
  /// promised of age does not.
  void add(const workload::Operation& operation, bool skipped, bool keeps = true);
  std::size_t operations() const { return thread_of_.size(); }

  /// The timeline must outlive it.
  Horizon at(std::optional<std::size_t> persisted) const;
  /// The first `done` operations are known to have been done, and no other has. At least one. As
  /// at().
  Horizon after(std::size_t done) const;

  /// The operations from `first` up to `end`, which lies behind the join that ends them, or the
  /// list.
  struct Section {
    std::size_t first = 0, end = 0;
  };
  std::vector<Section> sections() const;
  /// Of a thread's transaction, after the first `done` operations of the list, some have been done
  /// and some not.
  bool splits_transaction(std::size_t done, std::size_t thread) const;

 private:
  std::vector<std::uint8_t> thread_of_;
  /// A thread's operations behind `begin` and before `commit`; the last one may have no end.
  struct Transaction {
    std::uint8_t thread = 0;
    std::size_t begin = 0, commit = std::numeric_limits<std::size_t>::max();
  };
  std::vector<std::size_t> points_, joins_;
  std::vector<std::size_t> kept_points_;  ///< those of points_ that keep something
  std::vector<Transaction> transactions_;
  std::size_t threads_ = 1;
};

}  // namespace headcrash::oracle
