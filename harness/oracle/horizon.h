#pragma once
// The known progress of a workload at the time of the power cut.
//
// Persistence points are reported in list order (operation.h). Let P be the last point that was
// reported. All points up to P have succeeded. Each thread may have reached its next point after P,
// but cannot have passed it, because it waits there for the report. No thread has passed a join
// that follows an unreported point.
//
//   operation   0  1  2  3  4  5  6  7  8  9
//   thread 0    w     F        w  F     |  w      F persistence point, | join, P = 2
//   thread 1       w     w  F        w  |         thread 0 may have reached 6, thread 1 may have
//                                                 reached 4
//
// With a single thread, the operations that may have run after P are those in the interval (P, next
// point].

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "harness/workload/operation.h"

namespace headcrash::oracle {

/// The operations that must have been executed when the power was cut, and those that may have been
/// executed.
class Horizon {
 public:
  bool knows(std::size_t operation) const { return persisted_ && operation <= *persisted_; }
  bool may_have_run(std::size_t operation) const {
    return operation <= reached_[thread_of_[operation]];
  }

  std::size_t threads() const { return reached_.size(); }
  std::uint8_t thread_of(std::size_t operation) const { return thread_of_[operation]; }
  /// Bounds on the thread's progress, as positions in the list. All of the thread's operations
  /// before done_at_least(), including its last known persistence point, must have been executed.
  /// None of its operations at or after done_at_most() can have been executed.
  std::size_t done_at_least(std::size_t thread) const { return passed_[thread]; }
  std::size_t done_at_most(std::size_t thread) const {
    return thread_of_.empty() ? 0 : reached_[thread] + 1;
  }

 private:
  friend class Timeline;
  // The last persistence point that was reported; nullopt if no point was reported.
  std::optional<std::size_t> persisted_;
  std::vector<std::size_t> reached_;  // for each thread, the last operation that may have run
  // For each thread, the index after the last operation that must have run.
  std::vector<std::size_t> passed_;
  std::span<const std::uint8_t> thread_of_;
};

/// The threads, persistence points and joins of a list of operations.
class Timeline {
 public:
  /// Adds the next operation. A skipped operation makes nothing persistent. `keeps` is false for a
  /// persistence point that makes no earlier operation persistent. An example is a `rest` operation
  /// that is shorter than the time within which the file system promises to write changes.
  void add(const workload::Operation& operation, bool skipped, bool keeps = true);
  std::size_t operations() const { return thread_of_.size(); }

  /// Returns the horizon after a power cut. `persisted` is the last persistence point that was
  /// reported before the cut; nullopt if the cut was earlier. The timeline must outlive the horizon.
  Horizon at(std::optional<std::size_t> persisted) const;
  /// Returns the horizon after exactly the first `done` operations. REQUIRES: done >= 1. The
  /// timeline must outlive the horizon.
  Horizon after(std::size_t done) const;

  /// The operations from `first` up to, but excluding, `end`. A section ends after a join, or at
  /// the end of the list.
  struct Section {
    std::size_t first = 0, end = 0;
  };
  std::vector<Section> sections() const;
  /// Returns true if a transaction of `thread` is incomplete after the first `done` operations.
  bool splits_transaction(std::size_t done, std::size_t thread) const;

 private:
  std::vector<std::uint8_t> thread_of_;
  /// The operations of one thread between `begin` and `commit`. The last transaction may lack its
  /// `commit`.
  struct Transaction {
    std::uint8_t thread = 0;
    std::size_t begin = 0, commit = std::numeric_limits<std::size_t>::max();
  };
  std::vector<std::size_t> points_, joins_;
  /// The elements of points_ that make earlier operations persistent.
  std::vector<std::size_t> kept_points_;
  std::vector<Transaction> transactions_;
  std::size_t threads_ = 1;
};

}  // namespace headcrash::oracle
