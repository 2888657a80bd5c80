// Machine (machine.h): numbering, range check, power, and the instant of a cut.
//
//   host --submit--> Machine --(PendingRequest as the initiator)--> Device
//   host <-completed-- PendingRequest: counts answers and acknowledged writes, cuts after the N-th
//
// A PendingRequest is the initiator of one request that a device sees. Pending requests are pooled
// and never move, so a request needs no allocation once the pool holds the maximum number in
// flight.
//
// A request beyond the end of its device is rejected here: neither device nor observer sees it.
//
// At a cut, the devices first freeze and report the sectors that the head has passed. Then the
// observer is notified of the power change. Any cut, manual or triggered, disarms the trigger.
#include "plugin/model/core/machine.h"

#include <fmt/core.h>

#include <deque>
#include <utility>

#include "plugin/base/invariant.h"

namespace headcrash::model {

struct Machine::State {
  /// The initiator that the device sees for one request. It passes the completion on to the host.
  struct PendingRequest final : Initiator {
    explicit PendingRequest(State& owner) : state(owner) {}
    void completed(const Completion& completion) override { state.completed(*this, completion); }
    State& state;
    Initiator* host = nullptr;
    bool is_write = false;
  };
  struct Refusal {
    Initiator* host;
    Completion completion;
  };
  struct Entry {
    std::string name;
    std::unique_ptr<Device> device;
    std::uint64_t sectors;
  };

  /// Event tags. Tag 0 delivers the oldest rejected request. Any other tag is the `arming` number
  /// of a timed cut or a watch.
  static constexpr std::uint64_t kDeliverRefusal = 0;

  State(Machine& owner, MachineObserver& w) : machine(owner), observer(w) {}

  PendingRequest& take_pending(Initiator& host, Op op) {
    if (free_pending.empty()) {
      all_pending.emplace_back(*this);
      free_pending.push_back(&all_pending.back());
    }
    PendingRequest& pending = *free_pending.back();
    free_pending.pop_back();
    pending.host = &host;
    pending.is_write = op == Op::write || op == Op::write_zeroes;
    return pending;
  }

  void completed(PendingRequest& pending, const Completion& completion) {
    Initiator& host = *pending.host;
    const bool is_write = pending.is_write && completion.status == Status::ok;
    const bool is_answer = completion.status != Status::power_lost;
    free_pending.push_back(&pending);
    // Counts the request before the callback. If the callback arms a new trigger, the new trigger
    // must not count this request.
    const bool fires = (is_write && count_down(CutTrigger::Kind::after_writes)) ||
                       (is_answer && count_down(CutTrigger::Kind::after_requests));
    const std::uint64_t armed_then = arming;
    host.completed(completion);
    if (fires && armed_then == arming) machine.power_cut();
  }

  /// Counts an event of this kind. Returns true if the event is the one at which the armed trigger
  /// fires.
  bool count_down(CutTrigger::Kind kind) {
    if (!trigger || trigger->kind != kind || remaining == 0) return false;
    return --remaining == 0;
  }

  void schedule_cut(TimeNs delay_ns) {
    simulation.schedule(simulation.now() + delay_ns, machine, arming);
  }

  void refuse(const Request& request, Initiator& host, Status status) {
    Completion completion;
    completion.id = request.id;
    completion.status = status;
    completion.submitted_at = completion.completed_at = simulation.now();
    refusals.push_back({&host, completion});
    simulation.schedule(simulation.now(), machine, kDeliverRefusal);
  }

  Result<void> watch_lba(const CutTrigger& wanted) {
    const std::string subject = fmt::format("power cut at-lba:{}", wanted.lba);
    Device* device =
        wanted.device.empty() && !devices.empty() ? devices.front().device.get() : nullptr;
    std::string known;
    const auto consider = [&](const std::string& name, Device* candidate) {
      if (device == nullptr && name == wanted.device) device = candidate;
      known += (known.empty() ? "" : ", ") + name;
    };
    for (const Entry& entry : devices) consider(entry.name, entry.device.get());
    for (const auto& [name, part] : parts) consider(name, part);
    const std::string hint =
        "use at-lba:DEVICE/N, where DEVICE is a drive of this machine: " + known;
    if (device == nullptr)
      return fail(subject, fmt::format("unknown device '{}'", wanted.device), hint);
    const std::uint64_t sectors = device->characteristics().sectors;
    if (wanted.lba >= sectors)
      return fail(subject, fmt::format("the device has only {} sectors", sectors),
                  "sectors are numbered from 0");
    if (!device->watch_media(wanted.lba, machine, arming))
      return fail(subject, "the device has no head", hint);
    return {};
  }

  void set_trigger(std::optional<CutTrigger> next) {
    trigger = std::move(next);
    remaining = trigger ? trigger->count : 0;
    ++arming;
  }

  Machine& machine;
  MachineObserver& observer;
  Simulation simulation;
  std::vector<Entry> devices;
  /// devices registered with a name for triggers, such as "hd0.3"
  std::vector<std::pair<std::string, Device*>> parts;
  std::deque<PendingRequest> all_pending;
  std::vector<PendingRequest*> free_pending;
  std::deque<Refusal> refusals;
  bool started = false;  ///< a request has been submitted
  PowerState power = PowerState::on;
  std::uint64_t cuts = 0;
  std::optional<TimeNs> last_cut_at;
  std::optional<CutTrigger> trigger;
  /// Number of requests, writes or flushes that remain until the armed trigger fires.
  std::uint64_t remaining = 0;
  /// Increases whenever a trigger is armed or disarmed, which invalidates older timed cuts.
  std::uint64_t arming = 1;
};

Machine::Machine(MachineObserver& observer) : state_(std::make_unique<State>(*this, observer)) {}
Machine::~Machine() = default;

Simulation& Machine::simulation() {
  return state_->simulation;
}
MachineObserver& Machine::observer() {
  return state_->observer;
}

void Machine::add_device(std::string name, std::unique_ptr<Device> device) {
  invariant(!state_->started, "devices must be added before the first request");
  const std::uint64_t sectors = device->characteristics().sectors;
  state_->devices.push_back({std::move(name), std::move(device), sectors});
}

void Machine::name_part(std::string name, Device& part) {
  state_->parts.emplace_back(std::move(name), &part);
}

std::size_t Machine::device_count() const {
  return state_->devices.size();
}
const std::string& Machine::device_name(std::size_t index) const {
  return state_->devices.at(index).name;
}
Device& Machine::device(std::size_t index) {
  return *state_->devices.at(index).device;
}

RequestId Machine::submit(std::size_t device_index, Request request, Initiator& initiator) {
  State& s = *state_;
  State::Entry& entry = s.devices.at(device_index);
  request.id = s.simulation.new_request_id();
  s.started = true;
  if (request.lba > entry.sectors || request.sectors > entry.sectors - request.lba) {
    s.refuse(request, initiator, Status::out_of_range);
    return request.id;
  }
  if (request.op == Op::flush && s.power == PowerState::on &&
      s.count_down(CutTrigger::Kind::at_flush)) {
    power_cut();
  }
  entry.device->submit(request, s.take_pending(initiator, request.op));
  return request.id;
}

void Machine::mark(std::string_view text) {
  State& s = *state_;
  s.observer.marked(s.simulation.now(), text);
  if (!s.trigger || s.trigger->kind != CutTrigger::Kind::after_mark || s.trigger->mark != text)
    return;
  if (s.remaining++ == 0)
    s.schedule_cut(s.trigger->delay_ns);  // only the first matching mark starts the delay
}

PowerState Machine::power() const {
  return state_->power;
}
std::uint64_t Machine::power_cuts() const {
  return state_->cuts;
}
std::optional<TimeNs> Machine::last_cut_at() const {
  return state_->last_cut_at;
}

Result<void> Machine::arm(CutTrigger trigger) {
  State& s = *state_;
  s.set_trigger(std::move(trigger));
  if (s.trigger->kind == CutTrigger::Kind::after_time) s.schedule_cut(s.trigger->delay_ns);
  if (s.trigger->kind == CutTrigger::Kind::at_lba) {
    if (auto watched = s.watch_lba(*s.trigger); !watched) {
      s.set_trigger(std::nullopt);
      return watched;
    }
  }
  return {};
}

void Machine::disarm() {
  state_->set_trigger(std::nullopt);
}
const std::optional<CutTrigger>& Machine::armed() const {
  return state_->trigger;
}

void Machine::power_cut() {
  State& s = *state_;
  if (s.power == PowerState::off) return;
  s.power = PowerState::off;
  s.set_trigger(std::nullopt);
  for (auto& entry : s.devices) entry.device->power_cut();
  ++s.cuts;
  s.last_cut_at = s.simulation.now();
  s.observer.power_changed(s.simulation.now(), PowerState::off);
}

void Machine::power_on() {
  State& s = *state_;
  if (s.power == PowerState::on) return;
  s.power = PowerState::on;
  s.observer.power_changed(s.simulation.now(), PowerState::on);
  for (auto& entry : s.devices) entry.device->power_on();
}

void Machine::on_event(std::uint64_t tag) {
  State& s = *state_;
  if (tag == State::kDeliverRefusal) {
    const State::Refusal refusal = s.refusals.front();
    s.refusals.pop_front();
    refusal.host->completed(refusal.completion);
  } else if (tag == s.arming && s.trigger) {
    power_cut();
  }
}

}  // namespace headcrash::model
