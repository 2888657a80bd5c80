#include "plugin/profiles/shutdown.h"

#include "plugin/model/core/run_request.h"

namespace headcrash::profiles {
namespace {

/// Returns false if a device did not complete its flush. The machine must not be run any further in
/// that case.
bool flush_volatile_caches(model::Machine& machine) {
  for (std::size_t index = 0; index < machine.device_count(); ++index) {
    if (!machine.device(index).characteristics().volatile_cache) continue;
    model::Request flush;
    flush.op = model::Op::flush;
    if (model::run_request(machine, index, flush)) continue;
    machine.observer().incident(0, machine.simulation().now(),
                                "no answer to the final flush of " + machine.device_name(index) +
                                    ": caches keep their contents");
    return false;
  }
  return true;
}

}  // namespace

void shut_down(BuiltMachine& built) {
  model::Machine& machine = *built.machine;
  if (machine.power() == model::PowerState::off) return;
  machine.disarm();
  if (!flush_volatile_caches(machine)) return;
  for (std::size_t index = 0; index < machine.device_count(); ++index)
    machine.device(index).shut_down();
}

}  // namespace headcrash::profiles
