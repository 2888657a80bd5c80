// An orderly shutdown (park.h).
#include "plugin/profiles/park.h"

#include <algorithm>

#include "plugin/model/array.h"
#include "plugin/model/nvram.h"
#include "plugin/model/run_request.h"

namespace headcrash::profiles {
namespace {

/// False when a device did not answer: then the machine must not be run any further.
bool flush_volatile_caches(model::Machine& machine) {
  for (std::size_t index = 0; index < machine.device_count(); ++index) {
    if (!machine.device(index).characteristics().volatile_cache) continue;
    model::Request flush;
    flush.op = model::Op::flush;
    if (model::run_request(machine, index, flush)) continue;
    machine.witness().incident(0, machine.simulation().now(),
                               "the flush of " + machine.device_name(index) +
                                   " at the end was not answered: caches keep what they hold");
    return false;
  }
  return true;
}

/// What a battery-backed memory holds would end with this process. A low battery makes the cache write
/// everything back; it notices at its next request.
void write_back_caches(const Plan& plan, BuiltMachine& built) {
  static struct : model::Initiator {  // outlives what is still on its way
    void completed(const model::Completion&) override {}
  } nobody;
  model::Machine& machine = *built.machine;
  std::vector<const model::Nvram*> caches;
  std::vector<model::DeviceFaults*> batteries;
  for (model::DeviceId id = 0, count = plan.device_count(); id < count; ++id) {
    const auto* cache = dynamic_cast<const model::Nvram*>(built.all[id].device);
    if (cache == nullptr || cache->nvram_counters().dirty_sectors == 0) continue;
    machine.witness().incident(id, machine.simulation().now(), "the server ends: the cache is written back");
    const bool added = built.all[id]
                           .faults->add({.kind = model::FaultKind::battery_low, .device = plan.all[id].name})
                           .has_value();
    if (!added) continue;
    caches.push_back(cache);
    batteries.push_back(built.all[id].faults.get());
  }
  if (caches.empty()) return;
  model::Request look;
  look.sectors = 1;
  for (std::size_t index = 0; index < machine.device_count(); ++index) machine.submit(index, look, nobody);
  const auto dirty = [](const model::Nvram* cache) { return cache->nvram_counters().dirty_sectors > 0; };
  while (std::any_of(caches.begin(), caches.end(), dirty) && machine.simulation().run_next()) {
  }
  for (model::DeviceFaults* battery : batteries) battery->clear(model::FaultKind::battery_low);
}

}  // namespace

void park(const Plan& plan, BuiltMachine& built) {
  model::Machine& machine = *built.machine;
  if (machine.power() == model::PowerState::off) return;
  machine.disarm();
  if (!flush_volatile_caches(machine)) return;
  write_back_caches(plan, built);
  for (const BuiltDevice& device : built.all)
    if (auto* array = dynamic_cast<model::Array*>(device.device)) array->stop();
}

}  // namespace headcrash::profiles
