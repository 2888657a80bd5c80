#pragma once
// From stacks to a running machine, in two steps: plan() says which devices there will be, so that
// stores and recording can be opened for them; build() makes them.
//
// Ids count depth first, a device before its members: hd0 = 0, hd0.0 = 1 (first member), hd0.1 = 2,
// ... The device below a cache is called hd0.below. Only leaves (drives, flash) have a store.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/model/array/array.h"
#include "plugin/model/core/machine.h"
#include "plugin/model/nvram/nvram.h"
#include "plugin/profiles/stack.h"

namespace headcrash::profiles {

struct PlannedDevice {
  std::string name;
  std::string profile;
  std::uint64_t sectors = 0;
  std::uint32_t physical_sector_sectors = 1;
  std::optional<model::DeviceId> parent;  ///< none: a device of the machine
  bool leaf = false;
};

struct Plan {
  std::vector<MachineDevice> devices;
  std::vector<PlannedDevice> all;  ///< index is the DeviceId
  model::DeviceId device_count() const { return static_cast<model::DeviceId>(all.size()); }
};

/// The size of an array is rounded up to whole stripes. Errors name the device and the key: a size
/// that does not fit, a write cache that the drive lacks or that an array keeps off, two equal
/// names.
Result<Plan> plan(std::vector<MachineDevice> devices);

/// The device that a fault names. Errors suggest the nearest name.
Result<model::DeviceId> device_of(const Plan& plan, const model::FaultSpec& fault);

struct BuildOptions {
  std::uint64_t seed = 1;
  /// Where a leaf's bytes lie; null: no bytes anywhere, only times.
  std::function<model::SectorStore*(model::DeviceId)> store;
  std::vector<model::FaultSpec> faults;  ///< there before the first power-on, which an array sees
  /// Called for each leaf before anything above it starts: makes the sectors unreadable that a
  /// power cut left so. May be empty.
  std::function<void(model::DeviceId, model::DeviceFaults&)> mark_unreadable;
};

/// A device of the plan as it was built, for statistics, faults and operators' commands. Owned by
/// the machine.
struct BuiltDevice {
  model::Device* device = nullptr;
  model::Array* array = nullptr;                ///< the same device, where it is an array
  model::Nvram* nvram = nullptr;                ///< ... a battery-backed cache
  std::unique_ptr<model::DeviceFaults> faults;  ///< leaves and caches
};

struct BuiltMachine {
  std::vector<BuiltDevice> all;  ///< index is the DeviceId; outlives the machine
  std::unique_ptr<model::Machine> machine;

  /// Adds a fault to the device that it names. Errors: no such device, not a kind that it can have.
  Result<void> add_fault(const Plan& plan, const model::FaultSpec& fault);
};

/// Drives about whose write cache nothing is said have it as they are delivered, but off below
/// NVRAM and below arrays that keep it off. Members of an array whose spindles are not synchronised
/// start at angles that follow from the seed, all other drives at angle 0. Errors: a member that
/// belongs to another array; a fault, as add_fault.
Result<BuiltMachine> build(const Plan& plan, model::MachineObserver& observer,
                           const BuildOptions& options);

}  // namespace headcrash::profiles
