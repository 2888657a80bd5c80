#pragma once
// The emulated machine of a trial: one disk or, if the file system has its log on a second device,
// two. Both share one power supply and one recording.
//
//   hd0    /dev/vda  {device}
//   mark   /dev/vdb  marks (plugin/servers/nbd/CONTROL.md)
//   log    /dev/vdc  {log}, of the size that the adapter requests

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
  /// A single device with a size, without a machine file.
  device::ServedDeviceSpec disk;
  std::string log_profile;  ///< profile of the log device; empty to use the disk's profile
};

/// Starts the machine. `scratch` is an existing directory that only this trial uses. Fails if the
/// machine file cannot be written or if ServedDevice::start() fails.
Result<std::unique_ptr<device::ServedDevice>> start_trial_machine(
    const TrialMachineSpec& spec, const adapters::LinuxAdapter& filesystem,
    const std::filesystem::path& scratch);

struct TrialGuestSpec {
  vm::GuestImage image;
  vm::Accelerator accelerator = vm::Accelerator::tcg;
  std::int64_t memory_mib = 384;
  std::uint64_t disk_bytes = 0;
  std::int64_t step_timeout_s = 600;
  std::string seed;  ///< seed for GuestSession::set_clock, as hexadecimal digits
  const std::atomic<bool>* interrupted = nullptr;  ///< may be null
  std::filesystem::path cache, scratch;
};
struct TrialGuest {
  std::unique_ptr<vm::Guest> guest;
  std::unique_ptr<run::GuestSession> session;
  /// Success if the guest is ready: its clock is set, it sees the disks of this machine, and its
  /// page cache has no stale pages. Otherwise, the error.
  Result<void> met;
};
/// Restores a guest and connects it to the machine's disks. Fails if no guest can be started.
Result<TrialGuest> start_trial_guest(const TrialGuestSpec& spec, device::ServedDevice& device,
                                     const adapters::LinuxAdapter& filesystem);

}  // namespace headcrash::run
