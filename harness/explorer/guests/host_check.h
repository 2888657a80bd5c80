#pragma once
// Replays and checks a crash state on the host, for file systems whose tools can work on a private
// copy.
//
//   StateImage --nonzero parts--> anonymous file in memory --> replay --> check -n
//   stage, after the kernel's replay (stage_copy.h) --> anonymous file in memory --> check -n
//
// e2fsck takes about 90 ms in an emulated guest and 2.5 ms on the host. The tools process untrusted
// bytes. If headcrash is root, they therefore run with the user id 65534. They always have an empty
// environment, limits on time, memory and output, and only a copy of the state. The host mounts
// nothing.

#include <chrono>

#include "fs-adapters/linux/adapter.h"
#include "harness/explorer/guests/sparse_file.h"
#include "plugin/base/descriptor.h"
#include "plugin/states/state_image.h"

namespace headcrash::explorer {

struct HostCheck {
  bool replayed = false;      ///< the log was not empty and has been replayed
  bool found_damage = false;  ///< damage was found after the replay
  std::string log;            ///< the commands, with their output and exit codes
  double replay_ms = 0, check_ms = 0;
};

/// Returns true if the host can replay and check this file system: the adapter permits this (`host
/// = true`), the commands use only the device and its log device, and the programs are installed.
/// However, a state on two disks that the kernel has replayed is checked in the guest.
bool host_can_check(const adapters::LinuxAdapter& filesystem);

/// Copies the state to a sparse file in memory. No other process can open this file.
Result<base::Descriptor> private_copy(const states::StateImage& image,
                                      Unwritten unwritten = Unwritten::zeroes);

/// Replays and checks `copy`. If the log is on a separate disk, `log` is the copy of that disk. The
/// programs may change the two copies. Fails if a program cannot be started, is killed or times
/// out. In these cases, the caller must check the state in a guest.
Result<HostCheck> host_check(const adapters::LinuxAdapter& filesystem, const base::Descriptor& copy,
                             std::chrono::milliseconds limit = std::chrono::seconds(30),
                             const base::Descriptor* log = nullptr);

}  // namespace headcrash::explorer
