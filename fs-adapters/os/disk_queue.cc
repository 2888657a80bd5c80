// The driver (disk_queue.h): numbering, dispatch, concatenation, completion.
//
//   issue() -> DiskOrder -> ready -> DiskSchedule -> [one run at the device] -> DiskOrder -> done()
//                                                        |
//                                                        +-> with flush_for_order: unflushed, until a flush
//
// Requests that go as one are gathered into the driver's own memory and scattered from it. While completions
// are told nothing is dispatched: what they issue is chosen among, with everything else.
#include "fs-adapters/os/disk_queue.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "plugin/base/invariant.h"

namespace headcrash::os {

struct DiskQueue::State final : BlockDone {
  struct Pending {
    BlockRequest request;
    DiskDone* done = nullptr;
    DiskTrace trace;
    bool alone = false;  ///< it failed together with others
    bool complete = false;
  };
  static constexpr int kDispatchesPerFlush = 32;

  State(Executor& fibers, Cpu& processor, BlockDevice& disk, const DiskQueueOptions& how)
      : executor(fibers),
        cpu(processor),
        device(disk),
        options(how),
        order(how.flag, how.reads_bypass),
        schedule(how.schedule, how.seed) {}

  RequestId issue(const BlockRequest& request, const Ordering& ordering, DiskDone& done);
  void take_ready();
  void dispatch();
  bool flush_is_due() const;
  void gather(RequestId leader);
  void start();
  void done(model::Status status) override;
  void went(model::Status status);
  void complete(const std::vector<RequestId>& ids, model::Status status);
  void tell(RequestId id, model::Status status);
  bool try_again_alone(model::Status status);
  void scatter();

  Executor& executor;
  Cpu& cpu;
  BlockDevice& device;
  DiskQueueOptions options;
  DiskQueueCounters counters;
  DiskTracer* tracer = nullptr;
  DiskOrder order;
  DiskSchedule schedule;
  DiskOrder::Changes changes;
  IdWindow<Pending> requests;
  std::size_t pending_count = 0;
  std::unordered_map<RequestId, std::unique_ptr<WaitQueue>> waiters;
  std::vector<RequestId> at_device;  ///< in order of their sectors; empty: idle, or a flush of our own
  bool busy = false;
  bool flushing = false;
  bool telling = false;
  TimeNs dispatched_at = 0;
  std::vector<std::byte> gathered;
  std::vector<RequestId> unflushed;
  int dispatches_unflushed = 0;
};

RequestId DiskQueue::State::issue(const BlockRequest& request, const Ordering& ordering, DiskDone& done) {
  const std::size_t bytes = std::size_t{request.sectors} * model::kSectorBytes;
  const bool reads = request.op == model::Op::read;
  invariant(!reads || request.into.size() == bytes, "a read is not as long as its buffer");
  invariant(request.op != model::Op::write || request.data.size() == bytes,
            "a write is not as long as its data");
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
  counters.queued_most = std::max<std::uint64_t>(counters.queued_most, ++pending_count);
  take_ready();
  dispatch();
  return id;
}

void DiskQueue::State::take_ready() {
  for (const RequestId id : changes.ready) schedule.insert(id, requests[id].request.lba);
  changes.ready.clear();
}

bool DiskQueue::State::flush_is_due() const {
  return !unflushed.empty() && (schedule.empty() || dispatches_unflushed >= kDispatchesPerFlush);
}

void DiskQueue::State::dispatch() {
  if (busy || telling) return;
  if (flush_is_due()) {
    busy = true;
    flushing = true;
    ++counters.flushes;
    device.start(BlockRequest{model::Op::flush}, *this);
    return;
  }
  if (schedule.empty()) return;
  gather(schedule.choose());
  start();
}

/// The leader, and those that follow it on the disk and may go now.
void DiskQueue::State::gather(RequestId leader) {
  const BlockRequest& first = requests[leader].request;
  std::uint64_t end = first.lba + first.sectors;
  const auto take = [&](RequestId id) {
    at_device.push_back(id);
    schedule.erase(id, requests[id].request.lba);
  };
  take(leader);
  const bool joins = (first.op == model::Op::read || first.op == model::Op::write) && !requests[leader].alone;
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
  if (first.op != model::Op::flush) schedule.moved_to(end);
}

void DiskQueue::State::start() {
  busy = true;
  dispatched_at = executor.now();
  const RequestId leader = at_device.front();
  BlockRequest whole = requests[leader].request;
  std::size_t bytes = 0;
  for (const RequestId id : at_device) {
    requests[id].trace.dispatched_at = dispatched_at;
    requests[id].trace.went_with = leader;
    bytes += std::size_t{requests[id].request.sectors} * model::kSectorBytes;
  }
  if (at_device.size() > 1) {
    gathered.resize(bytes);
    whole.sectors = static_cast<std::uint32_t>(bytes / model::kSectorBytes);
    std::size_t at = 0;
    if (whole.op == model::Op::write) {
      for (const RequestId id : at_device) {
        const auto data = requests[id].request.data;
        std::memcpy(gathered.data() + at, data.data(), data.size());
        at += data.size();
      }
      whole.data = gathered;
    } else {
      whole.into = gathered;
    }
  }
  device.start(whole, *this);
}

void DiskQueue::State::scatter() {
  if (at_device.size() < 2 || requests[at_device.front()].request.op != model::Op::read) return;
  std::size_t at = 0;
  for (const RequestId id : at_device) {
    const auto into = requests[id].request.into;
    std::memcpy(into.data(), gathered.data() + at, into.size());
    at += into.size();
  }
}

void DiskQueue::State::done(model::Status status) {
  cpu.interrupt(cpu.costs().interrupt);
  busy = false;
  telling = true;
  if (std::exchange(flushing, false)) {
    dispatches_unflushed = 0;
    complete(std::exchange(unflushed, {}), status);
  } else {
    went(status);
  }
  telling = false;
  dispatch();
}

/// What was at the device has been there.
void DiskQueue::State::went(model::Status status) {
  const TimeNs now = executor.now();
  const Pending& leader = requests[at_device.front()];
  const bool writes = leader.request.op != model::Op::read && leader.request.op != model::Op::flush;
  ++counters.requests;
  counters.response_ns += now - leader.trace.issued_at;
  counters.access_ns += now - dispatched_at;
  for (const RequestId id : at_device) counters.sectors += requests[id].request.sectors;
  if (try_again_alone(status)) return;
  if (status == model::Status::ok) scatter();
  const std::vector<RequestId> ids = std::exchange(at_device, {});
  ++dispatches_unflushed;
  if (writes && options.flush_for_order && status == model::Status::ok) {
    if (unflushed.empty()) dispatches_unflushed = 0;
    unflushed.insert(unflushed.end(), ids.begin(), ids.end());
  } else {
    complete(ids, status);
  }
}

/// A bad sector fails the one request that it belongs to.
bool DiskQueue::State::try_again_alone(model::Status status) {
  if (status != model::Status::medium_error || at_device.size() < 2) return false;
  for (const RequestId id : std::exchange(at_device, {})) {
    requests[id].alone = true;
    schedule.insert(id, requests[id].request.lba);
  }
  return true;
}

void DiskQueue::State::complete(const std::vector<RequestId>& ids, model::Status status) {
  const auto outcome = status == model::Status::ok ? DiskOrder::Outcome::done : DiskOrder::Outcome::failed;
  for (const RequestId id : ids) order.complete(id, outcome, changes);
  const std::vector<RequestId> failed = std::exchange(changes.failed, {});
  take_ready();
  for (const RequestId id : ids) tell(id, status);
  for (const RequestId id : failed) tell(id, status);
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
}

DiskQueue::DiskQueue(Executor& executor, Cpu& cpu, BlockDevice& device, const DiskQueueOptions& options)
    : state_(std::make_unique<State>(executor, cpu, device, options)) {}

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
  state_->cpu.use(state_->cpu.costs().request_issued);
  state_->issue(request, ordering, waiter);
  const TimeNs before = state_->executor.now();
  while (!waiter.complete) waiter.queue.wait();
  state_->executor.account().disk_wait_ns += state_->executor.now() - before;
  return waiter.status;
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
  s.waiters.erase(id);  // the first of those who waited; they wait no more
  s.executor.account().disk_wait_ns += s.executor.now() - before;
}

void DiskQueue::drain() {
  const RequestId last = state_->order.newest();
  while (state_->requests.oldest() <= last) wait_for(state_->requests.oldest());
}

std::uint64_t DiskQueue::sectors() const {
  return state_->device.sectors();
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
