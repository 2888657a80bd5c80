#pragma once
// Clean shutdown of a machine: volatile caches are flushed, battery-backed caches are written back,
// and arrays are marked clean. The machine can continue afterwards.

#include "plugin/profiles/build.h"

namespace headcrash::profiles {

/// Shuts the machine down. Runs the simulation until the shutdown is complete. Has no effect if the
/// power is off.
void shut_down(BuiltMachine& built);

}  // namespace headcrash::profiles
