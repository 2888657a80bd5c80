#pragma once
// The hardware selected by a server's parameters: one device hd0 of any profile, or the devices of
// a machine file.

#include <string>
#include <vector>

#include "plugin/profiles/build.h"
#include "plugin/servers/emulation/settings.h"

namespace headcrash::emulation {

struct Hardware {
  profiles::Plan plan;
  /// faults of the machine file, followed by the faults of the parameters
  std::vector<model::FaultSpec> faults;
};

/// Loads profiles and plans devices. Errors name the parameter.
Result<Hardware> load_hardware(const Settings& settings);

}  // namespace headcrash::emulation
