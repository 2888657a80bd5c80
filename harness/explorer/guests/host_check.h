#pragma once
// Replay and read-only check of a crash state on the host, for the file systems whose tools can
// work on a private copy.
//
//   StateImage ----------------what is not zeroes--> anonymous file in memory --> replay --> check -n
//   stage, after the kernel's replay (stage_copy.h)--> anonymous file in memory -------------> check -n
//
// e2fsck takes some 90 ms inside an emulated guest and 2.5 ms here. The tools see untrusted bytes:
// they run as nobody (or as the plain user that headcrash is), without an environment, with limits
// on time, memory and what they write, and never on the state itself. Nothing is mounted on the
// host.

#include <chrono>

#include "fs-adapters/linux/adapter.h"
#include "harness/explorer/guests/sparse_file.h"
#include "plugin/base/descriptor.h"
#include "plugin/states/state_image.h"

namespace headcrash::explorer {

struct HostCheck {
  bool replayed = false;      ///< the log was not empty
  bool found_damage = false;  ///< after the replay
  std::string log;            ///< commands, their output, their exit codes
  double replay_ms = 0, check_ms = 0;
};

/// The adapter says that replay and check may run there (`host = true`), they need nothing but the
/// device and its log's, and the host has the programs. Of two disks what the kernel has replayed
/// is checked in the guest.
bool host_can_check(const adapters::LinuxAdapter& filesystem);

/// A sparse file in memory that nobody else sees.
Result<base::Descriptor> private_copy(const states::StateImage& image,
                                      Unwritten unwritten = Unwritten::zeroes);

/// Works on `copy` and changes it; on that of its log's disk, too, where it has one. Errors: a
/// program that could not be run, was killed or took too long: then the check has to be done in a
/// guest.
Result<HostCheck> host_check(const adapters::LinuxAdapter& filesystem, const base::Descriptor& copy,
                             std::chrono::milliseconds limit = std::chrono::seconds(30),
                             const base::Descriptor* log = nullptr);

}  // namespace headcrash::explorer
