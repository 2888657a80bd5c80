#pragma once
// Writes directly to a stack's device, without a file system, and records the requests of the
// stack's disks. The writer knows when the stack has completed a write or a flush. The recording can
// therefore be checked for requests that were incomplete at that time (stack_rules.h).
//
//   formatted disks --assemble--> write, mark "stack answered 0", ... flush, mark "stack flushed 2"
//
// Some of the writes are zeroings, which the guest reads back. A program cannot send a write with a
// preflush. A small ext4 file system sends such writes: its journal writes each commit record with
// a preflush.

#include "harness/explorer/guests/record_workload.h"

namespace headcrash::explorer {

/// File name of a probe's recording.
inline constexpr const char* kProbeName = "stack-probe.hcrec";

/// Records the probe. Replaces an existing recording. `filesystem` must have a stack.
Result<void> record_stack_probe(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                const FormattedDisk& disk, const std::filesystem::path& recording);

}  // namespace headcrash::explorer
