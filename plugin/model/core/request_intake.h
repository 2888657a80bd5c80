#pragma once
// Arrival and completion of host requests, common to all devices.
//
//   submit -> enter() -> the device's own command ... -> answer() -> initiator
//               \                                  power cut: lose() -> event -> power_lost
//                `-> power off: lose()
//
// The observer is notified when a request enters and when it is answered. An event at the same
// instant answers lost requests, in the order of the lose() calls, so no request completes inside
// submit() or power_cut().

#include <cstdint>
#include <deque>

#include "plugin/base/invariant.h"
#include "plugin/model/core/device.h"

namespace headcrash::model {

/// A request that a device is processing. Devices derive their command types from HostCommand.
struct HostCommand {
  Request request{};
  Initiator* initiator = nullptr;
  TimeNs submitted_at = 0;
  Breakdown breakdown;
};

class RequestIntake final : private EventTarget {
 public:
  /// `simulation` and `observer` must outlive this object.
  RequestIntake(Simulation& simulation, Observer& observer, DeviceId device)
      : simulation_(simulation), observer_(observer), device_(device) {}

  /// Accepts a request. Its range must be within `sectors` (an invariant). If the power is off, the
  /// request is lost, and the result is false.
  bool enter(const Request& request, Initiator& initiator, std::uint64_t sectors);
  /// Returns a command for a request that arrived at this instant.
  HostCommand command(const Request& request, Initiator& initiator) const {
    return {request, &initiator, simulation_.now(), {}};
  }
  void lose(const HostCommand& command);
  /// Counts the request and answers it. The host's callback may submit requests or cut the power;
  /// if it cuts the power, generation() changes.
  void answer(const HostCommand& command, Status status);
  /// Counters of the device. This class counts only answered requests and not lost ones. The device
  /// itself updates all other counters.
  DeviceCounters& counters() { return counters_; }
  const DeviceCounters& counters() const { return counters_; }

  bool powered() const { return powered_; }
  /// Increases with each power cut. Events and answers of an earlier generation are ignored.
  std::uint64_t generation() const { return generation_; }
  void power_cut();  ///< the device must then call lose() for its requests
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

// These functions are inline because every request of every device calls enter() and answer().

inline bool RequestIntake::enter(const Request& request, Initiator& initiator,
                                 std::uint64_t sectors) {
  invariant(request.lba <= sectors && request.sectors <= sectors - request.lba,
            "a request must not extend beyond the end of its device");
  observer_.submitted(device_, simulation_.now(), request);
  if (powered_) return true;
  lose(command(request, initiator));
  return false;
}

}  // namespace headcrash::model
