#pragma once
// A machine: the named devices that share one clock, one recording and one power cord.
//
// The machine is what the outside talks to. It numbers requests, passes them to the device, watches
// for the instant of an armed cut, and pulls the plug of everything at once. A device's index is
// its place among the machine's named ones; it is not its DeviceId, which counts members too. The
// machine is as pure as the
// devices: no threads, no wall clock.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/core/device.h"

namespace headcrash::model {

/// When the power goes. Text form, also of the plugin's `cut=` and of the control socket:
///   after-requests:N   the instant the N-th request from now on, of any kind, is answered to the host
///   after-writes:N     the instant the N-th write from now on is acknowledged (with success) to the host
///   at-flush:N         the instant the N-th flush from now on arrives, before any of its work
///   at-lba:[DEVICE/]N the next instant at which sector N of the medium of DEVICE, a drive, is half
///   written
///   after-ms:X         X model milliseconds from now (a decimal number)
///   after-mark:TEXT+X  X model milliseconds after the mark whose text is TEXT arrives
///
/// Requests, writes and flushes are those of the host to all devices of the machine together; what
/// an array or a cache asks of the devices below it does not count. For at-lba every media write
/// counts: the host's, a destage, parity, a rebuild. DEVICE is the machine's first device unless it
/// is named; the drives of an array are named as in the recording's list ("hd0.3").
struct CutTrigger {
  enum class Kind : std::uint8_t {
    after_requests,
    after_writes,
    at_flush,
    at_lba,
    after_time,
    after_mark
  };
  Kind kind = Kind::after_time;
  std::uint64_t count = 0;  ///< after_requests, after_writes, at_flush: at least 1
  TimeNs delay_ns = 0;      ///< after_time, after_mark
  std::string mark;         ///< after_mark
  std::string device;       ///< at_lba; empty: the first
  std::uint64_t lba = 0;    ///< at_lba
};
Result<CutTrigger> parse_cut_trigger(std::string_view text);

enum class PowerState : std::uint8_t { on, off };

/// What the machine reports in addition to its devices. The rules of Observer hold.
class MachineObserver : public Observer {
 public:
  virtual void marked(TimeNs at, std::string_view text) = 0;
  virtual void power_changed(TimeNs at, PowerState state) = 0;
};

/// Owns its simulation and devices; the observer is the caller's and outlives it. Not thread-safe:
/// calls come from one thread at a time, which also runs the simulation's events.
class Machine : public EventTarget {
 public:
  explicit Machine(MachineObserver& observer);
  ~Machine() override;

  Simulation& simulation();
  MachineObserver& observer();

  /// Devices are added once, before the first request; the first one is the default export.
  void add_device(std::string name, std::unique_ptr<Device> device);
  /// A device below one of those, that a cut may name ("hd0.3"); it belongs to the one above it.
  void name_part(std::string name, Device& part);
  std::size_t device_count() const;
  const std::string& device_name(std::size_t index) const;
  Device& device(std::size_t index);

  /// Submits to a device and calls `initiator` once; fills in the id, which it returns. When the
  /// power is off the request completes with power_lost in the next event.
  RequestId submit(std::size_t device_index, Request request, Initiator& initiator);

  void mark(std::string_view text);

  PowerState power() const;
  std::uint64_t power_cuts() const;  ///< how often the power has gone so far
  std::optional<TimeNs> last_cut_at() const;
  /// Replaces an armed trigger. Errors, which leave nothing armed: at_lba names a device that does
  /// not exist, has no such sector, or cannot say what is under its head.
  Result<void> arm(CutTrigger trigger);
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
