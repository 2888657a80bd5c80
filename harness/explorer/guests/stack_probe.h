#pragma once
// Writes to a stack's device without a file system, and records the requests of its disks. The
// writer knows when the stack has completed a write or a flush, so the recording can be checked for
// requests that were still missing then (stack_rules.h).
//
//   formatted disks --assemble--> write, mark "stack answered 0", ... flush, mark "stack flushed 2"

#include "harness/explorer/guests/record_workload.h"

namespace headcrash::explorer {

/// Records the probe. Replaces an existing recording. `filesystem` must be on a stack.
Result<void> record_stack_probe(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                const FormattedDisk& disk, const std::filesystem::path& recording);

}  // namespace headcrash::explorer
