#pragma once
// The driver's queue: one request at the disk, the others ordered by a scheduler that knows what must not
// overtake what.
//
// Source: Ganger and Patt 1994, sections 2 (scheduling and concatenation in the driver, no command queueing),
// 3.1 (ordering flag), 3.2 (scheduler chains). Requests are numbered as they are issued; j may be dispatched
// when, of those before it,
//
//   full    all flagged ones are complete, and if j is flagged all are, reads too
//   back    all up to and including the last flagged one are complete
//   part    all flagged ones are complete
//   ignore  (nothing: the flag has no meaning)
//   chains  all that j names are complete, whatever the flag's meaning
//
// and when no earlier request for any of its sectors is still there, unless both are reads. With `-NR` a read
// is held back by nothing but the writes it overlaps. Requests that follow each other on the disk, and that
// may go now, go as one: as the driver of the paper, which concatenates. Among those that may go the schedule
// chooses.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fs-adapters/os/block_device.h"
#include "fs-adapters/os/cpu.h"
#include "fs-adapters/os/executor.h"

namespace headcrash::os {

using RequestId = std::uint64_t;  ///< rising in order of issue, from 1

enum class Schedule : std::uint8_t { fcfs, sstf, look, c_look };
enum class FlagMeaning : std::uint8_t { full, back, part, ignore };

struct DiskQueueOptions {
  Schedule schedule = Schedule::c_look;
  FlagMeaning flag = FlagMeaning::ignore;
  bool reads_bypass = false;                 ///< -NR
  std::uint32_t concatenated_sectors = 128;  ///< the longest request that concatenation makes: 64 KiB
  /// A disk with a volatile cache: a write that others wait for counts as complete only when a flush after it
  /// is. Off: completion means durable, or nobody cares.
  bool flush_for_order = false;
};

/// How a request must be ordered.
struct Ordering {
  bool flagged = false;
  std::span<const RequestId> after = {};  ///< chains: requests issued earlier; those complete are ignored
  bool barrier = false;  ///< a Part-NR barrier whatever the queue's own meaning: chains' de-allocation (3.2)
};

class DiskDone {
 public:
  virtual ~DiskDone() = default;
  /// On the executor's thread, between fibers: it must not wait.
  virtual void done(RequestId id, model::Status status) = 0;
};

/// What became of one request. A request that was concatenated has its leader's times.
struct DiskTrace {
  RequestId id = 0;
  model::Op op = model::Op::read;
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  bool flagged = false;
  std::uint32_t named = 0;  ///< how many requests it had to come after
  RequestId went_with = 0;  ///< the first of the requests that went to the disk as one
  TimeNs issued_at = 0, dispatched_at = 0, completed_at = 0;
};

class DiskTracer {
 public:
  virtual ~DiskTracer() = default;
  virtual void completed(const DiskTrace& request) = 0;
};

/// Sums since the queue was made, or last cleared; times in nanoseconds.
struct DiskQueueCounters {
  std::uint64_t issued_reads = 0, issued_writes = 0;
  std::uint64_t requests = 0;  ///< as the disk saw them: after concatenation
  std::uint64_t sectors = 0;
  TimeNs response_ns = 0;  ///< issue to completion, sum over what the disk saw: "driver response"
  TimeNs access_ns = 0;    ///< dispatch to completion, likewise
  std::uint64_t queued_most = 0;
};

class DiskQueue {
 public:
  DiskQueue(Executor& executor, Cpu& cpu, BlockDevice& device, const DiskQueueOptions& options);
  ~DiskQueue();

  /// May be called by a fiber or by a handler; does not wait. `done` is called once, later. Buffers stay
  /// valid until then.
  RequestId issue(const BlockRequest& request, const Ordering& ordering, DiskDone& done);

  /// The calling fiber waits for its request.
  model::Status transfer(const BlockRequest& request, const Ordering& ordering = {});

  bool pending(RequestId id) const;  ///< issued and not yet complete
  void wait_for(RequestId id);       ///< the calling fiber waits until it is complete
  void drain();                      ///< ... until nothing is pending, that was when it began to wait

  std::uint64_t sectors() const;
  const DiskQueueCounters& counters() const;
  void clear_counters();
  void trace(DiskTracer* tracer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::os
