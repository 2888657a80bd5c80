#pragma once
// A machine: named devices that share a clock, a recording and a power cord.
//
// All host requests go through the machine. It numbers requests, passes them to devices, fires an
// armed cut, and cuts the power of all devices at once. A device's index is its position among the
// named devices; its DeviceId differs, because members also have DeviceIds. Like the devices, a
// machine has no threads and reads no wall clock.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/model/core/device.h"

namespace headcrash::model {

/// A trigger of a power cut. Its text form, also used by the plugin's `cut=` and the control
/// socket:
///   after-requests:N   when the N-th request from now on, of any kind, is answered to the host
///   after-writes:N     when the N-th write from now on is acknowledged (with success) to the host
///   at-flush:N         when the N-th flush from now on arrives, before any of its work is done
///   at-lba:[DEVICE/]N  when half of sector N is next written to the medium of DEVICE, a drive
///   after-ms:X         X model milliseconds from now (a decimal number)
///   after-mark:TEXT+X  X model milliseconds after the mark whose text is TEXT arrives
///
/// Requests, writes and flushes count if the host sends them to any device of the machine; those
/// that an array or a cache sends to the devices below do not count. For at-lba, every media write
/// counts: the host's, a destage, parity, a rebuild. DEVICE defaults to the machine's first device;
/// the drives of an array are named as in the recording's device list ("hd0.3").
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
  std::uint64_t count = 0;  ///< used by after_requests, after_writes and at_flush; at least 1
  TimeNs delay_ns = 0;      ///< after_time, after_mark
  std::string mark;         ///< after_mark
  std::string device;       ///< used by at_lba; empty for the first device
  std::uint64_t lba = 0;    ///< at_lba
};
Result<CutTrigger> parse_cut_trigger(std::string_view text);

enum class PowerState : std::uint8_t { on, off };

/// An observer that also receives the events of the machine. The rules for Observer apply.
class MachineObserver : public Observer {
 public:
  virtual void marked(TimeNs at, std::string_view text) = 0;
  virtual void power_changed(TimeNs at, PowerState state) = 0;
};

/// The machine owns its simulation and its devices. The caller owns the observer, which must
/// outlive the machine. Not thread-safe: all calls must come from one thread at a time, which also
/// runs the simulation's events.
class Machine : public EventTarget {
 public:
  explicit Machine(MachineObserver& observer);
  ~Machine() override;

  Simulation& simulation();
  MachineObserver& observer();

  /// Adds a device. The first device is the default export. REQUIRES: no request has been
  /// submitted.
  void add_device(std::string name, std::unique_ptr<Device> device);
  /// Registers a part of an added device under a name ("hd0.3"), so that a cut trigger can refer to
  /// the part. The added device owns `part`.
  void name_part(std::string name, Device& part);
  std::size_t device_count() const;
  const std::string& device_name(std::size_t index) const;
  Device& device(std::size_t index);

  /// Submits a request to a device and returns the request's new id. `initiator` is called exactly
  /// once. If the power is off, the next event completes the request with power_lost.
  RequestId submit(std::size_t device_index, Request request, Initiator& initiator);

  void mark(std::string_view text);

  PowerState power() const;
  std::uint64_t power_cuts() const;  ///< number of cuts so far
  std::optional<TimeNs> last_cut_at() const;
  /// Arms a trigger and disarms the previous one. Fails, and leaves no trigger armed, if at_lba
  /// names an unknown device, a device without a head, or a sector beyond the device's end.
  Result<void> arm(CutTrigger trigger);
  void disarm();
  const std::optional<CutTrigger>& armed() const;
  void power_cut();  ///< has no effect if the power is off
  void power_on();   ///< has no effect if the power is on

  void on_event(std::uint64_t tag) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headcrash::model
