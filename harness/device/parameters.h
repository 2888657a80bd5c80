#pragma once
// What a served device is, in the words that the plugin and every other face take
// (plugin/servers/emulation/settings.h).

#include <string>
#include <vector>

#include "harness/device/served_device.h"

namespace headcrash::device {

/// KEY=VALUE each, without the sockets.
std::vector<std::string> parameters_of(const ServedDeviceSpec& spec);

}  // namespace headcrash::device
