#pragma once
// An orderly shutdown of a machine's hardware: what volatile caches hold reaches the medium,
// battery-backed caches are written back, arrays are marked clean. The machine can continue
// afterwards.

#include "plugin/profiles/build.h"

namespace headcrash::profiles {

/// Does nothing when the power is off. Runs the simulation.
void shut_down(BuiltMachine& built);

}  // namespace headcrash::profiles
