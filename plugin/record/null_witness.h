#pragma once
// The witness of a machine that nobody records.

#include "plugin/model/machine.h"

namespace headcrash::record {

class NullWitness : public model::MachineWitness {
 public:
  void submitted(model::DeviceId, model::TimeNs, const model::Request&) override {}
  void acknowledged(model::DeviceId, const model::Completion&) override {}
  void incident(model::DeviceId, model::TimeNs, std::string_view) override {}
  void media_written(model::DeviceId, model::TimeNs, const model::MediaWrite&) override {}
  void marked(model::TimeNs, std::string_view) override {}
  void power_changed(model::TimeNs, model::PowerState) override {}
};

}  // namespace headcrash::record
