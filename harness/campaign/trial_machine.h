#pragma once
// The emulated machine of a trial: one disk, or a disk and the one that a file system keeps its log on,
// behind one power cord and in one recording.
//
//   hd0    /dev/vda  {device}
//   mark   /dev/vdb  marks (plugin/nbd/CONTROL.md)
//   log    /dev/vdc  {log}, of the size that the adapter asks for

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/device/served_device.h"
#include "harness/vm/guest.h"
#include "plugin/model/result.h"

namespace headcrash::campaign {

struct TrialMachineSpec {
  /// Its profile, size, cache, tear, clock, seed and recording are the disk's; no machine.
  device::ServedDeviceSpec disk;
  std::string log_profile;  ///< empty: the disk's
};

/// `scratch` is an existing folder of the trial's own. Errors: as ServedDevice::start, or the machine's file
/// could not be written.
Result<std::unique_ptr<device::ServedDevice>> start_trial_machine(const TrialMachineSpec& spec,
                                                                  const adapters::LinuxAdapter& filesystem,
                                                                  const std::filesystem::path& scratch);

/// What a guest sees of it, in the order of its devices.
std::vector<vm::GuestDisk> disks_of(const device::ServedDevice& device, std::uint64_t disk_bytes,
                                    const adapters::LinuxAdapter& filesystem);

}  // namespace headcrash::campaign
