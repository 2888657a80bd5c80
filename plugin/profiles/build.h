#pragma once
// Builds a running machine from stacks in two steps. plan() lists the devices, so that stores and a
// recording can be opened for them; build() creates the devices.
//
// Ids are assigned depth first, and a device precedes its members: hd0 = 0, hd0.0 = 1 (first
// member), hd0.1 = 2, ... The device below a cache is called hd0.below. Only leaves (drives, flash)
// have a store.

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
  std::optional<model::DeviceId> parent;  ///< nullopt for a top-level device of the machine
  bool leaf = false;
};

struct Plan {
  std::vector<MachineDevice> devices;
  std::vector<PlannedDevice> all;  ///< indexed by DeviceId
  model::DeviceId device_count() const { return static_cast<model::DeviceId>(all.size()); }
};

/// Plans the devices. Rounds an array's size up to whole stripes. Errors name the device and the
/// key. Fails if a size is invalid, if two devices have the same name, or if a write cache is
/// requested but the drive has none or an array disables it.
Result<Plan> plan(std::vector<MachineDevice> devices);

/// Returns the device that a fault names. If the name is unknown, the error suggests the nearest
/// one.
Result<model::DeviceId> device_of(const Plan& plan, const model::FaultSpec& fault);

struct BuildOptions {
  std::uint64_t seed = 1;
  /// Returns the store of a leaf. If this function is empty, no bytes are stored; only times are
  /// modelled.
  std::function<model::SectorStore*(model::DeviceId)> store;
  /// These faults are added before the first power-on, so that they already affect an array when it
  /// assembles its members.
  std::vector<model::FaultSpec> faults;
  /// Called for each leaf before the devices above it start. The function marks the sectors that a
  /// power cut has made unreadable. May be empty.
  std::function<void(model::DeviceId, model::DeviceFaults&)> mark_unreadable;
};

/// A built device, for statistics, faults and operator commands. The machine owns it.
struct BuiltDevice {
  model::Device* device = nullptr;
  /// Equal to `device` if the device is an array; otherwise null.
  model::Array* array = nullptr;
  /// Equal to `device` if the device is a battery-backed cache; otherwise null.
  model::Nvram* nvram = nullptr;
  std::unique_ptr<model::DeviceFaults> faults;  ///< faults of a leaf or a cache; null for an array
};

struct BuiltMachine {
  std::vector<BuiltDevice> all;  ///< indexed by DeviceId; destroyed after the machine
  std::unique_ptr<model::Machine> machine;

  /// Adds a fault to the device that the fault names. Fails if the device does not exist or does
  /// not support this kind of fault.
  Result<void> add_fault(const Plan& plan, const model::FaultSpec& fault);
};

/// Builds the machine. By default, a drive's write cache has its factory setting, but is off below
/// NVRAM and below arrays that disable it. If an array's spindles are not synchronised, its members
/// start at angles derived from the seed; all other drives start at angle 0. Fails if a member
/// belongs to another array, or if add_fault() fails for a fault in `options`.
Result<BuiltMachine> build(const Plan& plan, model::MachineObserver& observer,
                           const BuildOptions& options);

}  // namespace headcrash::profiles
