#pragma once
// The emulated machine of a trial: one disk, or a disk and the one that a file system keeps its log
// on, behind one power cord and in one recording.
//
//   hd0    /dev/vda  {device}
//   mark   /dev/vdb  marks (plugin/servers/nbd/CONTROL.md)
//   log    /dev/vdc  {log}, of the size that the adapter asks for

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/device/served_device.h"
#include "harness/run/guest_session.h"
#include "harness/vm/guest.h"
#include "plugin/base/result.h"

namespace headcrash::run {

struct TrialMachineSpec {
  /// Its profile, size, cache, tear, clock, seed and recording are the disk's; no machine.
  device::ServedDeviceSpec disk;
  std::string log_profile;  ///< empty: the disk's
};

/// `scratch` is an existing folder of the trial's own. Errors: as ServedDevice::start, or the
/// machine's file could not be written.
Result<std::unique_ptr<device::ServedDevice>> start_trial_machine(
    const TrialMachineSpec& spec, const adapters::LinuxAdapter& filesystem,
    const std::filesystem::path& scratch);

struct TrialGuestSpec {
  vm::GuestImage image;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::int64_t memory_mib = 384;
  std::uint64_t disk_bytes = 0;
  std::int64_t step_timeout_s = 600;
  std::string seed;                                ///< digits for GuestSession::set_clock
  const std::atomic<bool>* interrupted = nullptr;  ///< may be absent
  std::filesystem::path cache, scratch;
};
struct TrialGuest {
  std::unique_ptr<vm::Guest> guest;
  std::unique_ptr<run::GuestSession> session;
  run::Step<void>
      met;  ///< it has a clock, sees this machine's disks, and no cached page of other ones
};
/// Restores a guest on the machine. Errors: none could be started.
Result<TrialGuest> start_trial_guest(const TrialGuestSpec& spec, device::ServedDevice& device,
                                     const adapters::LinuxAdapter& filesystem);

}  // namespace headcrash::run
