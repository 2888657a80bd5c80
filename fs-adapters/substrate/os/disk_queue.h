#pragma once
// The driver's queue: one request at the disk, the others ordered by a scheduler that knows what
// must not overtake what.
//
// Source: Ganger and Patt 1994, sections 2 (scheduling and concatenation in the driver, no command
// queueing), 3.1 (ordering flag), 3.2 (scheduler chains). Requests are numbered as they are issued;
// j may be dispatched when, of those before it,
//
//   full    all flagged ones are complete, and if j is flagged all are, reads too
//   back    all up to and including the last flagged one are complete
//   part    all flagged ones are complete
//   ignore  (nothing: the flag has no meaning)
//   chains  all that j names are complete, whatever the flag's meaning
//
// and when no earlier request for any of its sectors is still there, unless both are reads. With
// `-NR` a read is held back by nothing but the writes it overlaps. A flush goes when all before it
// are complete. Requests that follow each other on the disk, and that may go now, go as one: as the
// driver of the paper, which concatenates. Among those that may go the schedule chooses.
//
// A driver may have several devices, a log apart from a file system, say. Numbers, flags and chains
// go over all of them; each has its own schedule and its own requests outstanding. Addresses say
// which device is meant (device_address()); the first one's are plain sectors.
//
// When a flagged write fails, the writes that it held back fail with it, and so do those that name
// it, and later writes of the same sectors as these, which hold what they held: what must not be
// seen without it is not written. Those issued when it has failed are not touched: who issues them
// knows. A run of concatenated requests that fails is tried again one by one.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fs-adapters/substrate/os/block_device.h"
#include "fs-adapters/substrate/os/cpu.h"
#include "fs-adapters/substrate/os/device_address.h"
#include "fs-adapters/substrate/os/disk_order.h"
#include "fs-adapters/substrate/os/disk_schedule.h"
#include "fs-adapters/substrate/os/executor.h"

namespace headcrash::os {

struct DiskQueueOptions {
  Schedule schedule = Schedule::c_look;
  std::uint64_t seed = 0;  ///< of Schedule::shuffled
  FlagMeaning flag = FlagMeaning::ignore;
  bool reads_bypass = false;  ///< -NR
  std::uint32_t concatenated_sectors =
      128;  ///< the longest request that concatenation makes: 64 KiB
  /// A disk with a volatile cache: a write is complete only when a flush after it is. Flushes are
  /// the queue's own, sent when nothing else may go, or when 32 requests have gone since the first
  /// write that needs one. Off: completion means durable, or nobody cares.
  bool flush_for_order = false;
  std::uint32_t outstanding = 1;  ///< requests at each device at a time, after concatenation
  /// Of what may go, reads go before all else; after `reads_in_row_max` that did so, one other
  /// goes.
  bool reads_first = false;
  std::uint32_t reads_in_row_max = 16;
  /// The bound on memory: how many may be pending; in transfer() others wait, and issue() takes it
  /// as an invariant (what the cache issues is bounded by the cache's size). A request that this
  /// number of later ones have passed goes next, whatever the schedule says.
  std::uint64_t requests_max = std::uint64_t{1} << 22;
};

class DiskDone {
 public:
  virtual ~DiskDone() = default;
  /// On the executor's thread, between fibers: it must not wait.
  virtual void done(RequestId id, model::Status status) = 0;
};

/// What became of one request.
struct DiskTrace {
  RequestId id = 0;
  model::Op op = model::Op::read;
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  bool flagged = false;
  std::uint32_t named = 0;  ///< how many requests it had to come after
  RequestId went_with =
      0;  ///< the first of the requests that went to the disk as one; 0: it never went
  model::Status status = model::Status::ok;
  TimeNs issued_at = 0, dispatched_at = 0, completed_at = 0;
};

class DiskTracer {
 public:
  virtual ~DiskTracer() = default;
  /// With the number it has got. Spans are valid during the call only.
  virtual void issued(RequestId id, const BlockRequest& request, const Ordering& ordering) {
    (void)id, (void)request, (void)ordering;
  }
  virtual void completed(const DiskTrace& request) = 0;
};

/// Sums since the queue was made, or last cleared; times in nanoseconds.
struct DiskQueueCounters {
  std::uint64_t issued_reads = 0;
  std::uint64_t issued_writes = 0;   ///< all that is not a read, flushes too
  std::uint64_t issued_flushes = 0;  ///< by the file system
  std::uint64_t requests = 0;        ///< as the disk saw them: after concatenation
  std::uint64_t sectors = 0;
  TimeNs response_ns =
      0;  ///< issue of the first to completion, sum over what the disk saw: "driver response"
  TimeNs access_ns = 0;  ///< dispatch to completion, likewise
  std::uint64_t queued_most = 0;
  std::uint64_t flushes = 0;           ///< sent by the queue itself; not among `requests`
  std::uint64_t outstanding_most = 0;  ///< requests at all devices at a time
};

class DiskQueue {
 public:
  /// drain() before it goes, unless the simulation never runs again.
  DiskQueue(Executor& executor, Cpu& cpu, BlockDevice& device, const DiskQueueOptions& options);
  /// Several devices, at least one; the options are each one's.
  DiskQueue(Executor& executor, Cpu& cpu, std::span<BlockDevice* const> devices,
            const DiskQueueOptions& options);
  ~DiskQueue();

  /// May be called by a fiber or by a handler; does not wait. `done` is called once, later. Buffers
  /// stay valid until then; they are as long as the request, which lies on one device. A fiber pays
  /// CpuCosts::request_issued itself.
  RequestId issue(const BlockRequest& request, const Ordering& ordering, DiskDone& done);

  /// The calling fiber waits for its request.
  model::Status transfer(const BlockRequest& request, const Ordering& ordering = {});

  /// The calling fiber waits until all that has been issued is complete, and what the device's
  /// volatile cache holds is on the medium. Only a device with such a cache gets a flush, and none
  /// where `flush_for_order` has sent it. An error is the flush's own; those of earlier requests
  /// were reported to their issuers.
  model::Status flush(std::size_t device = 0);

  bool pending(RequestId id) const;  ///< issued and not yet complete
  void wait_for(RequestId id);       ///< the calling fiber waits until it is complete
  void drain();  ///< ... until nothing is pending, that was when it began to wait

  std::uint64_t sectors(std::size_t device = 0) const;
  std::size_t devices() const;
  const DiskQueueCounters& counters() const;
  void clear_counters();
  void trace(DiskTracer* tracer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::os
