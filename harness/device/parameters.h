#pragma once
// The parameters of a served device, in the form accepted by the plugin and all other servers
// (plugin/servers/emulation/settings.h).

#include <string>
#include <vector>

#include "harness/device/served_device.h"

namespace headcrash::device {

/// Returns KEY=VALUE words, without the sockets.
std::vector<std::string> parameters_of(const ServedDeviceSpec& spec);

}  // namespace headcrash::device
