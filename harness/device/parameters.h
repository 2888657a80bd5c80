#pragma once
// Formats a served device's parameters in the form that the plugin and all other servers accept
// (plugin/servers/emulation/settings.h).

#include <string>
#include <vector>

#include "harness/device/served_device.h"

namespace headcrash::device {

/// Returns the parameters as KEY=VALUE words. Sockets are not included.
std::vector<std::string> parameters_of(const ServedDeviceSpec& spec);

}  // namespace headcrash::device
