#pragma once
// Presents an emulated machine as the hardware of a guest.

#include <functional>
#include <string>

#include "plugin/servers/emulation/emulation.h"
#include "plugin/servers/timetravel/hardware.h"

namespace headcrash::timetravel {

class EmulatedHardware final : public Hardware {
 public:
  /// `emulation` must be in virtual time and outlive this object. `log` receives lines about failed
  /// requests.
  EmulatedHardware(emulation::Emulation& emulation, std::function<void(const std::string&)> log)
      : emulation_(emulation), log_(std::move(log)) {}

  std::size_t disk_count() const override { return emulation_.device_count(); }
  GuestDisk::Connect disk(std::size_t index) override;
  GuestDisk::Connect marks() override;

  model::TimeNs now() const override { return emulation_.now(); }
  std::optional<model::TimeNs> next_event() const override { return emulation_.next_event(); }
  bool step(model::TimeNs until) override { return emulation_.step(until); }
  bool has_power() const override { return emulation_.has_power(); }
  std::uint64_t power_cuts() const override { return emulation_.power_cuts(); }

 private:
  emulation::Emulation& emulation_;
  std::function<void(const std::string&)> log_;
  emulation::FailureLog failures_;
};

}  // namespace headcrash::timetravel
