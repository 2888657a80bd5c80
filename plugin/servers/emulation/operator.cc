// Operator commands: inject faults, manage arrays (emulation.h). The recording shows when a fault
// is added or cleared. The effects of faults and the events of arrays are recorded by the devices.
#include <fmt/core.h>

#include <algorithm>

#include "plugin/servers/emulation/emulation.h"

namespace headcrash::emulation {

using model::FaultKind;

Result<model::TimeNs> Emulation::add_fault_now(const model::FaultSpec& fault) {
  TRY(built_.add_fault(plan_, fault));
  model::Machine& machine = *built_.machine;
  const model::TimeNs now = machine.simulation().now();
  const auto device =
      std::find_if(plan_.all.begin(), plan_.all.end(),
                   [&](const profiles::PlannedDevice& d) { return d.name == fault.device; });
  machine.observer().incident(static_cast<model::DeviceId>(device - plan_.all.begin()), now,
                              "fault added: " + model::to_text(fault));
  faults_.push_back({fault, now});
  if (faults_.size() > model::DeviceFaults::kFaultsMax) faults_.erase(faults_.begin());
  // Misdirected writes and corrupted writes of zeroes can leave nonzero bytes in ranges that were
  // never written. All ranges are therefore marked as written.
  if (fault.kind == FaultKind::misdirected_write || fault.kind == FaultKind::corrupted_write)
    for (const auto& written : written_)
      if (written) written->mark(0, model::kNever);
  return now;
}

Result<model::TimeNs> Emulation::add_fault(const model::FaultSpec& fault) {
  return pacer_->with_machine([&](model::Machine&) { return add_fault_now(fault); });
}

Result<std::size_t> Emulation::clear_faults(const std::optional<std::string>& device,
                                            std::optional<FaultKind> kind) {
  return pacer_->with_machine([&](model::Machine& machine) -> Result<std::size_t> {
    bool found = !device;
    for (model::DeviceId id = 0, count = plan_.device_count(); id < count; ++id) {
      if (device && plan_.all[id].name != *device) continue;
      found = true;
      if (built_.all[id].faults == nullptr) continue;
      built_.all[id].faults->clear(kind);
      machine.observer().incident(
          id, machine.simulation().now(),
          fmt::format("faults cleared: {}", kind ? model::fault_kind_name(*kind) : "all"));
    }
    if (!found)
      return fail("device", fmt::format("no device '{}'", device->substr(0, 64)),
                  "list the devices with {\"stats\":\"read\"}");
    const std::size_t before = faults_.size();
    std::erase_if(faults_, [&](const AddedFault& fault) {
      return (!device || fault.spec.device == *device) && (!kind || fault.spec.kind == *kind);
    });
    return before - faults_.size();
  });
}

std::vector<AddedFault> Emulation::faults() {
  return pacer_->with_machine([&](model::Machine&) { return faults_; });
}

// ---- arrays

Result<model::DeviceId> Emulation::find_array(const std::optional<std::string>& device) const {
  std::optional<model::DeviceId> found;
  std::size_t arrays = 0;
  for (model::DeviceId id = 0, count = plan_.device_count(); id < count; ++id) {
    if (built_.all[id].array == nullptr) continue;
    ++arrays;
    if (!device || plan_.all[id].name == *device) found = id;
  }
  if (arrays == 0)
    return fail("array", "the machine has no array", "serve a profile of kind array");
  if (!found)
    return fail("device", fmt::format("'{}' is not an array", device->substr(0, 64)),
                "list the devices with {\"stats\":\"read\"}");
  if (!device && arrays > 1)
    return fail("device", "is missing, but there are several arrays", "name an array");
  return *found;
}

namespace {

Result<void> obey(model::Array& array, const ArrayOrder& order) {
  switch (order.verb) {
    case ArrayOrder::Verb::status:
      return {};
    case ArrayOrder::Verb::fail:
      return array.fail_member(order.member);
    case ArrayOrder::Verb::rebuild:
      return array.rebuild(order.member);
    case ArrayOrder::Verb::scrub:
      return array.scrub(false);
    case ArrayOrder::Verb::repair:
      return array.scrub(true);
    case ArrayOrder::Verb::accept:
      return array.accept_dirty_degraded();
    case ArrayOrder::Verb::rate:
      array.set_rebuild_rate(order.bytes_per_second);
      return {};
  }
  return {};
}

}  // namespace

Result<Emulation::ArrayAnswer> Emulation::order(const ArrayOrder& order) {
  return pacer_->with_machine([&](model::Machine& machine) -> Result<ArrayAnswer> {
    TRY(auto id, find_array(order.device));
    model::Array& array = *built_.all[id].array;
    if (order.verb != ArrayOrder::Verb::status && machine.power() == model::PowerState::off)
      return fail("array", "the power is off", "power the machine on first");
    TRY(obey(array, order));
    return ArrayAnswer{plan_.all[id].name, array.status()};
  });
}

}  // namespace headcrash::emulation
