#pragma once
// An observer that ignores all events.

#include "plugin/model/core/machine.h"

namespace headcrash::model {

class NullObserver : public MachineObserver {
 public:
  void submitted(DeviceId, TimeNs, const Request&) override {}
  void acknowledged(DeviceId, const Completion&) override {}
  void incident(DeviceId, TimeNs, std::string_view) override {}
  void media_written(DeviceId, TimeNs, const MediaWrite&) override {}
  void marked(TimeNs, std::string_view) override {}
  void power_changed(TimeNs, PowerState) override {}
};

}  // namespace headcrash::model
