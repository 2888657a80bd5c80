#pragma once
// A machine: the named devices that share one clock, one recording and one power cord.
//
// The machine is what the outside talks to. It numbers requests, passes them to the device, watches for the
// instant of an armed cut, and pulls the plug of everything at once. It is as pure as the devices: no
// threads, no wall clock.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugin/model/device.h"

namespace headcrash::model {

/// When the power goes. Text form, also of the plugin's `cut=` and of the control socket:
///   after-writes:N    the instant the N-th write from now on is acknowledged to the host
///   at-flush:N        the instant the N-th flush from now on arrives, before any of its work
///   after-ms:X        X model milliseconds from now (a decimal number)
///   after-mark:TEXT+X X model milliseconds after the mark whose text is TEXT arrives
struct CutTrigger {
  enum class Kind : std::uint8_t { after_writes, at_flush, after_time, after_mark };
  Kind kind = Kind::after_time;
  std::uint64_t count = 0;  ///< after_writes, at_flush: at least 1
  TimeNs delay_ns = 0;      ///< after_time, after_mark
  std::string mark;         ///< after_mark
};
Result<CutTrigger> parse_cut_trigger(std::string_view text);

enum class PowerState : std::uint8_t { on, off };

/// What the machine tells beyond what its devices tell.
class MachineWitness : public Witness {
 public:
  virtual void marked(TimeNs at, std::string_view text) = 0;
  virtual void power_changed(TimeNs at, PowerState state) = 0;
};

class Machine : public EventTarget {
 public:
  explicit Machine(MachineWitness& witness);
  ~Machine() override;

  Simulation& simulation();
  MachineWitness& witness();

  /// Devices are added once, before the first request; the first one is the default export.
  void add_device(std::string name, std::unique_ptr<Device> device);
  std::size_t device_count() const;
  const std::string& device_name(std::size_t index) const;
  Device& device(std::size_t index);

  /// Submits to a device and calls `initiator` once; fills in the id, which it returns. When the power is off
  /// the request completes with power_lost in the next event.
  RequestId submit(std::size_t device_index, Request request, Initiator& initiator);

  void mark(std::string_view text);

  PowerState power() const;
  std::uint64_t power_cuts() const;  ///< how often the power has gone so far
  std::optional<TimeNs> last_cut_at() const;
  void arm(CutTrigger trigger);  ///< replaces an armed trigger
  void disarm();
  const std::optional<CutTrigger>& armed() const;
  void power_cut();  ///< no effect when already off
  void power_on();   ///< no effect when already on

  void on_event(std::uint64_t tag) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::model
