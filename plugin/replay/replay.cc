// Executes a replay (replay.h).
//
// Each request in flight has a Slot, which is the initiator that the machine calls. Slots are
// pooled and never move. If there is an observer, the slots are also in a window, in arrival order.
// A request is reported once all earlier arrivals have been reported.
#include "plugin/replay/replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <optional>

#include "plugin/base/invariant.h"

namespace headcrash::replay {
namespace {

constexpr std::size_t kUnderWayMax = 1U << 20;
constexpr std::uint64_t kAskEvery = 4096;
constexpr TimeNs kEndOfTimeNs = model::kNever / 4;

class Replay final : model::EventTarget {
 public:
  Replay(model::Machine& machine, RequestSource& source, const ReplayOptions& options)
      : machine_(machine), source_(source), options_(options), closed_loop_(source.closed_loop()) {
    for (std::size_t i = 0; i < machine.device_count(); ++i) {
      hosts_.emplace_back(machine.device(i).characteristics().sectors);
    }
  }

  Result<ReplayTotals> run() {
    start_ns_ = machine_.simulation().now();
    const std::uint32_t loops = closed_loop_ ? source_.loops() : 1;
    for (std::uint32_t i = 0; i < loops; ++i) expect_arrival(0);
    while (!ended_ && arrivals_expected_ + under_way_ > 0) {
      invariant(machine_.simulation().run_next(), "every request must be completed");
    }
    if (error_) return tl::unexpected<Error>(*error_);
    return std::move(totals_);
  }

 private:
  struct Slot final : model::Initiator {
    explicit Slot(Replay& replay) : owner(replay) {}
    void completed(const model::Completion& completion) override {
      owner.completed(*this, completion);
    }
    Replay& owner;
    bool done = false;
    ReplayedRequest result;
  };
  /// The host's queue of requests for one device.
  struct Host {
    explicit Host(std::uint64_t size) : sectors(size) {}
    std::deque<Slot*> waiting;
    std::uint64_t sectors;
    std::uint32_t at_device = 0;
  };

  // ---- arrivals

  /// Returns the source's next request without removing it; null at the end and after an error.
  const TraceRequest* peek() {
    if (at_ == chunk_.size() && !source_ended_) {
      auto next = source_.next();
      if (!next) give_up(next.error());
      chunk_ = next ? *next : std::span<const TraceRequest>();
      at_ = 0;
      source_ended_ = chunk_.empty();
    }
    return at_ == chunk_.size() ? nullptr : &chunk_[at_];
  }

  /// Schedules the next arrival of a loop: after a think time in a closed loop, otherwise at the
  /// next request's arrival time. Each loop has at most one scheduled arrival.
  void expect_arrival(TimeNs think_ns) {
    TimeNs at = machine_.simulation().now() + think_ns;
    if (!closed_loop_) {
      const TraceRequest* const next = peek();
      if (next == nullptr) return;
      at = std::max(at, start_ns_ + next->wait_ns);
    }
    if (at > kEndOfTimeNs) {
      give_up({"replay", "has reached the end of model time, 73 years", "shorten the think times"});
      return;
    }
    ++arrivals_expected_;
    machine_.simulation().schedule(at, *this, 0);
  }

  void on_event(std::uint64_t) override {
    --arrivals_expected_;
    arrive();
    if (!closed_loop_ && !ended_) expect_arrival(0);
  }

  void arrive() {
    const TraceRequest* const next = peek();
    if (next == nullptr) return;
    if (next->device >= hosts_.size() || next->lbn >= hosts_[next->device].sectors ||
        next->blocks > hosts_[next->device].sectors - next->lbn) {
      refuse(*next);
      return;
    }
    ++at_;
    Slot& slot = take_slot();
    slot.result.index = arrived_++;
    slot.result.request = *next;
    slot.result.arrive_ns = machine_.simulation().now();
    slot.done = false;
    ++under_way_;
    if (options_.observer != nullptr) window_.push_back(&slot);
    if (std::max(under_way_, window_.size()) > kUnderWayMax) {
      give_up(
          {source_.subject(*next), fmt::format("more than {} requests are waiting", kUnderWayMax),
           "the device cannot keep up with this trace; use a faster one, or stretch the trace"});
      return;
    }
    Host& host = hosts_[next->device];
    if (options_.device_depth == 0 || host.at_device < options_.device_depth) {
      send(host, slot);
    } else {
      host.waiting.push_back(&slot);
    }
  }

  void send(Host& host, Slot& slot) {
    ++host.at_device;
    const TraceRequest& wanted = slot.result.request;
    model::Request request;
    request.op = wanted.read ? model::Op::read : model::Op::write;
    request.lba = wanted.lbn;
    request.sectors = wanted.blocks;
    machine_.submit(wanted.device, request, slot);
  }

  // ---- completions

  void completed(Slot& slot, const model::Completion& completion) {
    slot.done = true;
    slot.result.complete_ns = completion.completed_at;
    slot.result.status = completion.status;
    slot.result.breakdown = completion.breakdown;
    --under_way_;
    count(slot.result);
    const TraceRequest& request = slot.result.request;
    const TimeNs think_ns = request.wait_ns;
    Host& host = hosts_[request.device];
    --host.at_device;
    if (options_.observer == nullptr) {
      free_.push_back(&slot);
    } else {
      hand_over();
    }
    if (options_.go_on && totals_.requests % kAskEvery == 0 && !options_.go_on(totals_.requests))
      ended_ = true;
    if (ended_) return;
    if (!host.waiting.empty()) {
      Slot& next = *host.waiting.front();
      host.waiting.pop_front();
      send(host, next);
    }
    if (!closed_loop_) return;
    if (think_ns == 0) {
      arrive();
    } else {
      expect_arrival(think_ns);
    }
  }

  void count(const ReplayedRequest& r) {
    ++totals_.requests;
    ++(r.request.read ? totals_.reads : totals_.writes);
    totals_.end_ns = r.complete_ns;
    if (r.status != model::Status::ok) {
      ++totals_.failed;
      return;
    }
    if (r.breakdown.cache_hit) ++totals_.hits;
    totals_.responses.add(r.response_ns());
    if (r.request.measured_ns == 0) return;
    Comparison& c = totals_.comparison;
    const TimeNs error_ns = r.response_ns() - r.request.measured_ns;
    c.measured.add(r.request.measured_ns);
    c.modelled.add(r.response_ns());
    c.error_sum_ns += static_cast<double>(error_ns);
    if (std::abs(error_ns) <= model::kMillisecondNs) ++c.within_1ms;
  }

  void hand_over() {
    while (!window_.empty() && window_.front()->done) {
      Slot* const first = window_.front();
      window_.pop_front();
      options_.observer->replayed(first->result);
      free_.push_back(first);
    }
  }

  Slot& take_slot() {
    if (free_.empty()) {
      slots_.emplace_back(*this);
      return slots_.back();
    }
    Slot& slot = *free_.back();
    free_.pop_back();
    return slot;
  }

  void give_up(Error error) {
    if (!error_) error_ = std::move(error);
    ended_ = true;
  }

  void refuse(const TraceRequest& request) {
    if (request.device >= hosts_.size()) {
      give_up({source_.subject(request), fmt::format("no device {}", request.device),
               fmt::format(
                   "the machine has {} devices, numbered from 0; use a machine with more devices",
                   hosts_.size())});
      return;
    }
    give_up({source_.subject(request),
             fmt::format("blocks {}+{} exceed the device's {} blocks", request.lbn, request.blocks,
                         hosts_[request.device].sectors),
             "use a larger device"});
  }

  model::Machine& machine_;
  RequestSource& source_;
  const ReplayOptions& options_;
  const bool closed_loop_;
  TimeNs start_ns_ = 0;

  std::span<const TraceRequest> chunk_;
  std::size_t at_ = 0;  ///< index of the next request in `chunk_`
  bool source_ended_ = false;
  std::uint64_t arrived_ = 0;
  std::uint64_t arrivals_expected_ = 0;

  std::vector<Host> hosts_;
  std::deque<Slot> slots_;
  std::vector<Slot*> free_;
  std::deque<Slot*> window_;  ///< used only with an observer
  std::size_t under_way_ = 0;

  ReplayTotals totals_;
  std::optional<Error> error_;
  bool ended_ = false;
};

}  // namespace

double Comparison::demerit() const {
  const double mean_ns = measured.mean_ns();
  return mean_ns == 0 ? 0 : ResponseTimes::horizontal_distance_ns(measured, modelled) / mean_ns;
}

Result<ReplayTotals> replay(model::Machine& machine, RequestSource& source,
                            const ReplayOptions& options) {
  return Replay(machine, source, options).run();
}

}  // namespace headcrash::replay
