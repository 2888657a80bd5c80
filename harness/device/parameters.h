#pragma once
// Formats a served device's parameters as the plugin and all other servers expect them
// (plugin/servers/emulation/settings.h).

#include <string>
#include <vector>

#include "harness/device/served_device.h"

namespace headcrash::device {

/// Returns the parameters as KEY=VALUE words. Sockets are not included.
std::vector<std::string> parameters_of(const ServedDeviceSpec& spec);

}  // namespace headcrash::device
