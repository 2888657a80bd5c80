#pragma once
// The driver's queue. It keeps one request at the disk (or a few) and schedules the others within
// their ordering constraints.
//
// Source: Ganger and Patt 1994, sections 2 (scheduling and concatenation in the driver, no command
// queueing), 3.1 (ordering flag), 3.2 (scheduler chains). Requests are numbered in issue order.
// Request j may be dispatched when, of the requests before it,
//
//   full    all flagged ones are complete; if j is flagged, all are, reads included
//   back    all up to and including the last flagged one are complete
//   part    all flagged ones are complete
//   ignore  (the flag has no effect)
//   chains  all that j names are complete, whatever the flag means
//
// and when no earlier request for any of its sectors is pending, unless both are reads. With `-NR`,
// a read is held back only by writes that it overlaps. A flush is dispatched once all requests
// before it are complete. Dispatchable requests to consecutive sectors are concatenated into one,
// as in the paper. The schedule chooses among dispatchable requests.
//
// A driver may have several devices, for example one for a file system and one for its log. Request
// numbers, flags and chains apply across all devices. Each device has its own schedule and
// outstanding requests. An address selects the device (device_address()); addresses of the first
// device are plain sectors.
//
// When a flagged write fails, the writes that it held back fail too. Requests that name the failed
// write fail, too, and so do later writes of the sectors of such failed requests, because they
// contain the same bytes. Nothing that depends on the failed write thus reaches the disk. The
// writes that fail in this way are not sent. They complete with an error, after the earlier writes
// of their sectors. Requests issued after the failure are not affected, because their issuers have
// been notified of it. When a run of concatenated requests fails, its requests are retried one by
// one.

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
  std::uint64_t seed = 0;  ///< for Schedule::shuffled
  FlagMeaning flag = FlagMeaning::ignore;
  bool reads_bypass = false;  ///< -NR
  /// Maximum size of a request that is made by concatenation. The default is 64 KiB.
  std::uint32_t concatenated_sectors = 128;
  /// If true, a write to a disk with a volatile cache counts as complete only after a flush. The
  /// queue sends these flushes itself: when nothing else can be dispatched or, at the latest, 32
  /// requests after the first write that needs the flush. If false, a write counts as durable once
  /// the disk has completed it.
  bool flush_for_order = false;
  /// Maximum number of requests outstanding at each device, after concatenation.
  std::uint32_t outstanding = 1;
  /// If true, reads are dispatched before other requests. After `reads_in_row_max` reads in a row,
  /// one other request is dispatched.
  bool reads_first = false;
  std::uint32_t reads_in_row_max = 16;
  /// Maximum number of pending requests; it also bounds the memory for them. At this number,
  /// transfer() waits, and issue() must not be called; the cache limits the writes that it issues.
  /// Once `requests_max` later requests have overtaken a request, that request is dispatched next,
  /// regardless of the schedule.
  std::uint64_t requests_max = std::uint64_t{1} << 22;
};

class DiskDone {
 public:
  virtual ~DiskDone() = default;
  /// Called on the executor's thread, between fibers. Must not wait.
  virtual void done(RequestId id, model::Status status) = 0;
};

/// The history of one request.
struct DiskTrace {
  RequestId id = 0;
  model::Op op = model::Op::read;
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  bool flagged = false;
  std::uint32_t named = 0;  ///< number of requests named in its chain (Ordering::after)
  /// The first request of the concatenation in which this request was dispatched (its own id if it
  /// was dispatched alone); 0 if it was never dispatched.
  RequestId went_with = 0;
  model::Status status = model::Status::ok;
  TimeNs issued_at = 0, dispatched_at = 0, completed_at = 0;
};

class DiskTracer {
 public:
  virtual ~DiskTracer() = default;
  /// Called with the number assigned to the request. Spans are valid only during the call.
  virtual void issued(RequestId id, const BlockRequest& request, const Ordering& ordering) {
    (void)id, (void)request, (void)ordering;
  }
  virtual void completed(const DiskTrace& request) = 0;
};

/// Totals since creation or clear_counters(); times in nanoseconds.
struct DiskQueueCounters {
  std::uint64_t issued_reads = 0;
  std::uint64_t issued_writes = 0;   ///< writes, trims and flushes
  std::uint64_t issued_flushes = 0;  ///< issued by the file system
  std::uint64_t requests = 0;        ///< requests sent to the disk, after concatenation
  std::uint64_t sectors = 0;
  /// Time from the issue of a request to its completion, summed over the requests that the disk
  /// saw. For a concatenated request, the time begins with the issue of the first one. This is the
  /// paper's "driver response".
  TimeNs response_ns = 0;
  TimeNs access_ns = 0;  ///< time from dispatch to completion, summed over the same requests
  std::uint64_t queued_most = 0;
  std::uint64_t flushes = 0;  ///< flushes that the queue itself has sent; not counted in `requests`
  /// Maximum number of requests that were outstanding at once, over all devices.
  std::uint64_t outstanding_most = 0;
};

class DiskQueue {
 public:
  /// Call drain() before destruction, unless the simulation will not run again.
  DiskQueue(Executor& executor, Cpu& cpu, BlockDevice& device, const DiskQueueOptions& options);
  /// Drives one or more devices. The options apply to each of them.
  DiskQueue(Executor& executor, Cpu& cpu, std::span<BlockDevice* const> devices,
            const DiskQueueOptions& options);
  ~DiskQueue();

  /// Issues a request from a fiber or an event handler, without waiting. `done` is called once,
  /// later. The buffers must stay valid until then and must have the length of the request. All
  /// sectors of the request must be on one device. A calling fiber must pay
  /// CpuCosts::request_issued itself.
  RequestId issue(const BlockRequest& request, const Ordering& ordering, DiskDone& done);

  /// Issues a request and waits on the calling fiber until it completes.
  model::Status transfer(const BlockRequest& request, const Ordering& ordering = {});

  /// Makes the calling fiber wait until all requests issued so far are complete and the contents of
  /// the device's volatile cache are on the medium. Sends a flush only to a device that has such a
  /// cache, and only if `flush_for_order` has not already caused one. Returns only an error of the
  /// flush itself; earlier requests report their errors to their issuers.
  model::Status flush(std::size_t device = 0);

  bool pending(RequestId id) const;  ///< true if issued and not yet complete
  void wait_for(RequestId id);       ///< the calling fiber waits until the request is complete
  /// Waits until all requests that were issued before the call are complete.
  void drain();

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
