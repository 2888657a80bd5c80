// The driver (disk_queue.h): numbering, dispatch, concatenation, completion.
//
//   issue() -> DiskOrder -> schedules of a device -> [runs at the device] -> DiskOrder -> done()
//                                                        |
//                                                        +-> with flush_for_order: unflushed,
//                                                            until a later flush completes
//
// Concatenated requests are gathered into the driver's memory and scattered from it. Nothing is
// dispatched while completions are delivered, so the requests that completion handlers issue
// compete with all others. A ready request never waits for a pending one; any number of ready
// requests may therefore be outstanding.
#include "fs-adapters/substrate/os/disk_queue.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "plugin/base/invariant.h"

namespace headcrash::os {

struct DiskQueue::State {
  struct Pending {
    BlockRequest request;
    DiskDone* done = nullptr;
    DiskTrace trace;
    /// True if the request failed as part of a concatenated run, so that it must be retried alone.
    bool alone = false;
    bool queued = false;
    bool complete = false;
  };
  struct Spindle;
  /// Concatenated requests, sorted by sector, that have been sent to a device as one.
  struct Run final : BlockDone {
    Run(State& queue, Spindle& device) : state(queue), spindle(device) {}
    void done(model::Status status) override { state.run_done(*this, status); }
    State& state;
    Spindle& spindle;
    std::vector<RequestId> ids;
    TimeNs dispatched_at = 0;
    std::vector<std::byte> gathered;
  };
  /// The state of one device.
  struct Spindle final : BlockDone {
    Spindle(State& queue, BlockDevice& disk)
        : state(queue),
          device(disk),
          schedule(queue.options.schedule, queue.options.seed),
          reads(queue.options.schedule, queue.options.seed) {}
    /// Completes a flush that the queue itself has sent.
    void done(model::Status status) override { state.flush_done(*this, status); }
    bool idle() const { return runs.size() == spare.size(); }
    std::size_t running() const { return runs.size() - spare.size(); }

    State& state;
    BlockDevice& device;
    DiskSchedule schedule;
    DiskSchedule reads;  ///< used if reads_first is set; otherwise, reads are in `schedule`
    std::uint32_t reads_in_row = 0;
    /// All Run objects of this device, for reuse. Their number is the largest number of runs that
    /// were outstanding at the same time.
    std::vector<std::unique_ptr<Run>> runs;
    std::vector<Run*> spare;
    std::vector<RequestId> unflushed;
    std::vector<RequestId> in_flush;  ///< requests that complete with the current flush
    bool flushing = false;
    int dispatches_unflushed = 0;
  };
  static constexpr int kDispatchesPerFlush = 32;

  State(Executor& fibers, Cpu& processor, std::span<BlockDevice* const> disks,
        const DiskQueueOptions& how)
      : executor(fibers),
        cpu(processor),
        options(how),
        order(how.flag, how.reads_bypass),
        room(fibers) {
    invariant(!disks.empty() && options.outstanding > 0 && options.requests_max > 0,
              "a driver needs a device, and must allow at least one outstanding request");
    for (BlockDevice* disk : disks) spindles.push_back(std::make_unique<Spindle>(*this, *disk));
  }

  RequestId issue(const BlockRequest& request, const Ordering& ordering, DiskDone& done);
  Spindle& spindle_of(const BlockRequest& request) { return *spindles[device_of(request.lba)]; }
  DiskSchedule& schedule_of(Spindle& spindle, model::Op op) const {
    return options.reads_first && op == model::Op::read ? spindle.reads : spindle.schedule;
  }
  void enqueue(RequestId id);
  void take_ready();
  void dispatch();
  void dispatch(Spindle& spindle);
  bool flush_is_due(const Spindle& spindle) const;
  RequestId choose(Spindle& spindle);
  void gather(Run& run, RequestId leader);
  void start(Run& run);
  void run_done(Run& run, model::Status status);
  void flush_done(Spindle& spindle, model::Status status);
  void went(Run& run, model::Status status);
  void complete(const std::vector<RequestId>& ids, model::Status status);
  void tell(RequestId id, model::Status status);
  bool try_again_alone(Run& run, model::Status status);
  void scatter(const Run& run);

  Executor& executor;
  Cpu& cpu;
  DiskQueueOptions options;
  DiskQueueCounters counters;
  DiskTracer* tracer = nullptr;
  DiskOrder order;
  DiskOrder::Changes changes;
  IdWindow<Pending> requests;
  std::size_t pending_count = 0;
  std::unordered_map<RequestId, std::unique_ptr<WaitQueue>> waiters;
  WaitQueue room;
  std::vector<std::unique_ptr<Spindle>> spindles;
  std::size_t outstanding = 0;
  bool telling = false;
};

RequestId DiskQueue::State::issue(const BlockRequest& request, const Ordering& ordering,
                                  DiskDone& done) {
  const std::size_t bytes = std::size_t{request.sectors} * model::kSectorBytes;
  const bool reads = request.op == model::Op::read;
  invariant(!reads || request.into.size() == bytes, "a read differs in length from its buffer");
  invariant(request.op != model::Op::write || request.data.size() == bytes,
            "a write differs in length from its data");
  invariant(device_of(request.lba) < spindles.size(), "a request is for an unknown device");
  invariant(pending_count < options.requests_max, "more than requests_max requests are pending");
  DiskOrder::Kind kind = DiskOrder::Kind::write;
  if (reads) kind = DiskOrder::Kind::read;
  if (request.op == model::Op::flush) kind = DiskOrder::Kind::flush;
  const RequestId id = order.add(kind, request.lba, request.sectors, ordering, changes);
  Pending pending{request, &done};
  pending.trace.id = id;
  pending.trace.op = request.op;
  pending.trace.lba = request.lba;
  pending.trace.sectors = request.sectors;
  pending.trace.flagged = ordering.flagged || ordering.barrier;
  pending.trace.named = static_cast<std::uint32_t>(ordering.after.size());
  pending.trace.issued_at = executor.now();
  requests.push(pending);
  if (tracer != nullptr) tracer->issued(id, request, ordering);
  ++(reads ? counters.issued_reads : counters.issued_writes);
  if (kind == DiskOrder::Kind::flush) ++counters.issued_flushes;
  counters.queued_most = std::max<std::uint64_t>(counters.queued_most, ++pending_count);
  take_ready();
  dispatch(spindle_of(request));
  return id;
}

void DiskQueue::State::enqueue(RequestId id) {
  Pending& pending = requests[id];
  pending.queued = true;
  schedule_of(spindle_of(pending.request), pending.request.op).insert(id, pending.request.lba);
}

void DiskQueue::State::take_ready() {
  for (const RequestId id : changes.ready) enqueue(id);
  changes.ready.clear();
}

/// Returns true if a flush must be sent now. Usually, a flush waits until nothing else can be sent
/// and no request is outstanding. A flush is due earlier if kDispatchesPerFlush requests have been
/// dispatched while it waited.
bool DiskQueue::State::flush_is_due(const Spindle& spindle) const {
  if (spindle.unflushed.empty() || spindle.flushing) return false;
  const bool nothing_else = spindle.schedule.empty() && spindle.reads.empty() && spindle.idle();
  return nothing_else || spindle.dispatches_unflushed >= kDispatchesPerFlush;
}

void DiskQueue::State::dispatch() {
  for (const auto& spindle : spindles) dispatch(*spindle);
}

void DiskQueue::State::dispatch(Spindle& spindle) {
  if (telling) return;
  while (spindle.running() + (spindle.flushing ? 1 : 0) < options.outstanding) {
    if (flush_is_due(spindle)) {
      spindle.flushing = true;
      spindle.in_flush = std::exchange(spindle.unflushed, {});
      spindle.dispatches_unflushed = 0;
      ++counters.flushes;
      spindle.device.start(BlockRequest{model::Op::flush}, spindle);
      continue;
    }
    if (spindle.schedule.empty() && spindle.reads.empty()) return;
    if (spindle.spare.empty()) {
      spindle.runs.push_back(std::make_unique<Run>(*this, spindle));
      spindle.spare.push_back(spindle.runs.back().get());
    }
    Run& run = *spindle.spare.back();
    spindle.spare.pop_back();
    gather(run, choose(spindle));
    start(run);
  }
}

RequestId DiskQueue::State::choose(Spindle& spindle) {
  // The oldest pending request waits for no other request. If too many later requests have
  // overtaken this request, the queue dispatches it regardless of the schedule.
  const RequestId oldest = requests.oldest();
  if (requests.beyond() - oldest > options.requests_max && requests.front().queued &&
      &spindle_of(requests.front().request) == &spindle)
    return oldest;
  const bool others = !spindle.schedule.empty();
  const bool reads =
      !spindle.reads.empty() && (!others || spindle.reads_in_row < options.reads_in_row_max);
  spindle.reads_in_row = reads && others ? spindle.reads_in_row + 1 : 0;
  return (reads ? spindle.reads : spindle.schedule).choose();
}

/// Adds the leader to the run. Then repeatedly adds a ready request that begins at the first sector
/// after the run.
void DiskQueue::State::gather(Run& run, RequestId leader) {
  const BlockRequest& first = requests[leader].request;
  DiskSchedule& schedule = schedule_of(run.spindle, first.op);
  std::uint64_t end = first.lba + first.sectors;
  const auto take = [&](RequestId id) {
    run.ids.push_back(id);
    requests[id].queued = false;
    schedule.erase(id, requests[id].request.lba);
  };
  take(leader);
  const bool joins =
      (first.op == model::Op::read || first.op == model::Op::write) && !requests[leader].alone;
  while (joins) {
    const auto next = schedule.at(end, [&](RequestId id) {
      const Pending& candidate = requests[id];
      return candidate.request.op == first.op && !candidate.alone &&
             end + candidate.request.sectors - first.lba <= options.concatenated_sectors;
    });
    if (!next) break;
    end += requests[*next].request.sectors;
    take(*next);
  }
  if (first.op == model::Op::flush) return;
  run.spindle.schedule.moved_to(end);
  run.spindle.reads.moved_to(end);
}

void DiskQueue::State::start(Run& run) {
  counters.outstanding_most = std::max<std::uint64_t>(counters.outstanding_most, ++outstanding);
  run.dispatched_at = executor.now();
  const RequestId leader = run.ids.front();
  BlockRequest whole = requests[leader].request;
  std::size_t bytes = 0;
  for (const RequestId id : run.ids) {
    requests[id].trace.dispatched_at = run.dispatched_at;
    requests[id].trace.went_with = leader;
    bytes += std::size_t{requests[id].request.sectors} * model::kSectorBytes;
  }
  if (run.ids.size() > 1) {
    run.gathered.resize(bytes);
    whole.sectors = static_cast<std::uint32_t>(bytes / model::kSectorBytes);
    std::size_t at = 0;
    if (whole.op == model::Op::write) {
      for (const RequestId id : run.ids) {
        const auto data = requests[id].request.data;
        std::memcpy(run.gathered.data() + at, data.data(), data.size());
        at += data.size();
      }
      whole.data = run.gathered;
    } else {
      whole.into = run.gathered;
    }
  }
  whole.lba &= kSectorMask;
  run.spindle.device.start(whole, run);
}

void DiskQueue::State::scatter(const Run& run) {
  if (run.ids.size() < 2 || requests[run.ids.front()].request.op != model::Op::read) return;
  std::size_t at = 0;
  for (const RequestId id : run.ids) {
    const auto into = requests[id].request.into;
    std::memcpy(into.data(), run.gathered.data() + at, into.size());
    at += into.size();
  }
}

void DiskQueue::State::flush_done(Spindle& spindle, model::Status status) {
  cpu.interrupt(Cost::interrupt);
  telling = true;
  spindle.flushing = false;
  complete(std::exchange(spindle.in_flush, {}), status);
  telling = false;
  dispatch();
}

void DiskQueue::State::run_done(Run& run, model::Status status) {
  cpu.interrupt(Cost::interrupt);
  telling = true;
  --outstanding;
  went(run, status);
  telling = false;
  dispatch();
}

/// Handles a run that the device has finished. Updates the counters, and completes the run's
/// requests unless they must be retried or must wait for a flush.
void DiskQueue::State::went(Run& run, model::Status status) {
  const TimeNs now = executor.now();
  Spindle& spindle = run.spindle;
  const Pending& leader = requests[run.ids.front()];
  const bool writes = leader.request.op != model::Op::read && leader.request.op != model::Op::flush;
  ++counters.requests;
  counters.response_ns += now - leader.trace.issued_at;
  counters.access_ns += now - run.dispatched_at;
  for (const RequestId id : run.ids) counters.sectors += requests[id].request.sectors;
  spindle.spare.push_back(&run);
  if (try_again_alone(run, status)) return;
  if (status == model::Status::ok) scatter(run);
  const std::vector<RequestId> ids = std::exchange(run.ids, {});
  ++spindle.dispatches_unflushed;
  if (writes && options.flush_for_order && status == model::Status::ok) {
    if (spindle.unflushed.empty()) spindle.dispatches_unflushed = 0;
    spindle.unflushed.insert(spindle.unflushed.end(), ids.begin(), ids.end());
  } else {
    complete(ids, status);
  }
}

/// If a bad sector has made a run fail, queues its requests again, to be sent one by one. Only the
/// request for the bad sector will then fail.
bool DiskQueue::State::try_again_alone(Run& run, model::Status status) {
  if (status != model::Status::medium_error || run.ids.size() < 2) return false;
  for (const RequestId id : std::exchange(run.ids, {})) {
    requests[id].alone = true;
    enqueue(id);
  }
  return true;
}

void DiskQueue::State::complete(const std::vector<RequestId>& ids, model::Status status) {
  const auto outcome =
      status == model::Status::ok ? DiskOrder::Outcome::done : DiskOrder::Outcome::failed;
  for (const RequestId id : ids) order.complete(id, outcome, changes);
  const std::vector<RequestId> failed = std::exchange(changes.failed, {});
  take_ready();
  for (const RequestId id : ids) tell(id, status);
  // These requests were not sent, because each had to follow a write that failed. They fail even if
  // the earlier writes of their sectors, for which they have waited, succeeded.
  const auto unsent = status == model::Status::ok ? model::Status::medium_error : status;
  for (const RequestId id : failed) tell(id, unsent);
}

void DiskQueue::State::tell(RequestId id, model::Status status) {
  Pending& pending = requests[id];
  pending.trace.completed_at = executor.now();
  pending.trace.status = status;
  pending.complete = true;
  --pending_count;
  const DiskTrace trace = pending.trace;
  DiskDone& listener = *pending.done;
  while (!requests.empty() && requests.front().complete) requests.pop_front();
  if (tracer != nullptr) tracer->completed(trace);
  listener.done(id, status);
  if (const auto it = waiters.find(id); it != waiters.end()) it->second->wake_all();
  if (!room.empty()) room.wake_one();
}

DiskQueue::DiskQueue(Executor& executor, Cpu& cpu, BlockDevice& device,
                     const DiskQueueOptions& options)
    : DiskQueue(executor, cpu, std::vector{&device}, options) {}

DiskQueue::DiskQueue(Executor& executor, Cpu& cpu, std::span<BlockDevice* const> devices,
                     const DiskQueueOptions& options)
    : state_(std::make_unique<State>(executor, cpu, devices, options)) {}

DiskQueue::~DiskQueue() = default;

RequestId DiskQueue::issue(const BlockRequest& request, const Ordering& ordering, DiskDone& done) {
  return state_->issue(request, ordering, done);
}

model::Status DiskQueue::transfer(const BlockRequest& request, const Ordering& ordering) {
  struct Waiter final : DiskDone {
    explicit Waiter(Executor& executor) : queue(executor) {}
    void done(RequestId, model::Status how) override {
      status = how;
      complete = true;
      queue.wake_all();
    }
    WaitQueue queue;
    model::Status status = model::Status::ok;
    bool complete = false;
  } waiter(state_->executor);
  State& s = *state_;
  s.cpu.charge(Cost::request_issued);
  const TimeNs before = s.executor.now();
  while (s.pending_count >= s.options.requests_max) s.room.wait();
  s.issue(request, ordering, waiter);
  while (!waiter.complete) waiter.queue.wait();
  s.executor.account().disk_wait_ns += s.executor.now() - before;
  return waiter.status;
}

model::Status DiskQueue::flush(std::size_t device) {
  if (state_->spindles.at(device)->device.volatile_cache() && !state_->options.flush_for_order)
    return transfer({model::Op::flush, device_address(device, 0)});
  drain();
  return model::Status::ok;
}

bool DiskQueue::pending(RequestId id) const {
  return state_->requests.contains(id) && !state_->requests[id].complete;
}

void DiskQueue::wait_for(RequestId id) {
  State& s = *state_;
  if (!pending(id)) return;
  const TimeNs before = s.executor.now();
  auto& queue = s.waiters[id];
  if (!queue) queue = std::make_unique<WaitQueue>(s.executor);
  while (pending(id)) queue->wait();
  s.waiters.erase(id);  // all fibers that waited for this request have been woken
  s.executor.account().disk_wait_ns += s.executor.now() - before;
}

void DiskQueue::drain() {
  const RequestId last = state_->order.newest();
  while (state_->requests.oldest() <= last) wait_for(state_->requests.oldest());
}

std::uint64_t DiskQueue::sectors(std::size_t device) const {
  return state_->spindles.at(device)->device.sectors();
}

std::size_t DiskQueue::devices() const {
  return state_->spindles.size();
}

const DiskQueueCounters& DiskQueue::counters() const {
  return state_->counters;
}

void DiskQueue::clear_counters() {
  state_->counters = {};
}

void DiskQueue::trace(DiskTracer* tracer) {
  state_->tracer = tracer;
}

}  // namespace headcrash::os
