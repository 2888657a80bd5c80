#pragma once
// How requests of the host enter a device and leave it, which is the same for all devices.
//
//   submit -> enter() -> the device's own command ... -> answer() -> initiator
//               \                                  power cut: lose() -> an event -> initiator, power_lost
//                `-> power off: lose()
//
// The observer hears of each request when it enters and when it is answered. A request that is lost
// is answered by an event at the same instant, in the order of the calls: nothing completes inside
// submit() or power_cut().

#include <cstdint>
#include <deque>

#include "plugin/base/invariant.h"
#include "plugin/model/core/device.h"

namespace headcrash::model {

/// A request inside a device; the device's own commands derive from it.
struct HostCommand {
  Request request{};
  Initiator* initiator = nullptr;
  TimeNs submitted_at = 0;
  Breakdown breakdown;
};

class RequestIntake final : private EventTarget {
 public:
  /// Both must outlive it.
  RequestIntake(Simulation& simulation, Observer& observer, DeviceId device)
      : simulation_(simulation), observer_(observer), device_(device) {}

  /// A request comes in. That it lies within the device's `sectors` is an invariant. False: the
  /// power is off, and the request is lost.
  bool enter(const Request& request, Initiator& initiator, std::uint64_t sectors);
  /// One that came in at this instant, as the device keeps it.
  HostCommand command(const Request& request, Initiator& initiator) const {
    return {request, &initiator, simulation_.now(), {}};
  }
  void lose(const HostCommand& command);
  /// Counts it and answers it. The host may submit, or cut the power, from within its callback: the
  /// device then has another generation().
  void answer(const HostCommand& command, Status status);
  /// Requests that were answered and not lost are counted here; the device adds what else it knows.
  DeviceCounters& counters() { return counters_; }
  const DeviceCounters& counters() const { return counters_; }

  bool powered() const { return powered_; }
  /// Rises with each power cut: events and answers of an earlier one are void.
  std::uint64_t generation() const { return generation_; }
  void power_cut();  ///< the device loses what is inside afterwards
  void power_on() { powered_ = true; }

 private:
  void on_event(std::uint64_t tag) override;

  Simulation& simulation_;
  Observer& observer_;
  const DeviceId device_;
  DeviceCounters counters_;
  bool powered_ = true;
  std::uint64_t generation_ = 0;
  std::deque<HostCommand> lost_;
};

// Inline: each request of every device comes in here.

inline bool RequestIntake::enter(const Request& request, Initiator& initiator,
                                 std::uint64_t sectors) {
  invariant(request.lba <= sectors && request.sectors <= sectors - request.lba,
            "a request lies on its device");
  observer_.submitted(device_, simulation_.now(), request);
  if (powered_) return true;
  lose(command(request, initiator));
  return false;
}

}  // namespace headcrash::model
