#pragma once
// Replays and checks a crash state on the host, for file systems whose tools can work on a private
// copy.
//
//   StateImage ------------nonzero parts--------------> anonymous file in memory --> replay -->
//   check -n stage, after the kernel's replay (stage_copy.h)---> anonymous file in memory
//   -------------> check -n
//
// e2fsck takes about 90 ms in an emulated guest and 2.5 ms here. The tools process untrusted bytes.
// They run as user "nobody" (or as the current user if headcrash is unprivileged), with an empty
// environment, with limits on time, memory and output, and only on a copy of the state. The host
// mounts nothing.

#include <chrono>

#include "fs-adapters/linux/adapter.h"
#include "harness/explorer/guests/sparse_file.h"
#include "plugin/base/descriptor.h"
#include "plugin/states/state_image.h"

namespace headcrash::explorer {

struct HostCheck {
  bool replayed = false;      ///< the log was not empty
  bool found_damage = false;  ///< damage that remained after the replay
  std::string log;            ///< the commands, with their output and exit codes
  double replay_ms = 0, check_ms = 0;
};

/// Returns true if all of this holds: the adapter permits replay and check on the host (`host =
/// true`), the commands need only the device and its log device, and the host has the programs. A
/// state with two disks that the kernel replayed is checked in the guest.
bool host_can_check(const adapters::LinuxAdapter& filesystem);

/// Returns a copy of the state as a sparse file in memory, which no other process can open.
Result<base::Descriptor> private_copy(const states::StateImage& image,
                                      Unwritten unwritten = Unwritten::zeroes);

/// Replays and checks `copy`, and the copy of the log's disk if there is one. Both copies may be
/// changed. Fails if a program could not be started, was killed or timed out; the state must then
/// be checked in a guest.
Result<HostCheck> host_check(const adapters::LinuxAdapter& filesystem, const base::Descriptor& copy,
                             std::chrono::milliseconds limit = std::chrono::seconds(30),
                             const base::Descriptor* log = nullptr);

}  // namespace headcrash::explorer
