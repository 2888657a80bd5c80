#pragma once
// The log-structured file system as a system under test (fs-adapters/system_under_test.h).
//
//   roll-forward      the default: checksums, and roll-forward of the log after the checkpoint
//   checkpoint-only   a mount uses the newest checkpoint only (Rosenblum 1992, section 4.5.2.2):
//                     sync persists, fsync promises nothing
//   eager-cleaner     roll-forward with a cleaner that starts early
//   small-transfers   roll-forward with a driver that splits regions into requests in any order
//
// There is a control for each rule of the log (store.h, Rule). Another control, `sprite92`, uses
// the paper's format, in which the last sector of a region must be written last, and small
// transfers, which do not preserve this order.
//
// Checking: an image must be sound at its newest checkpoint, and again after roll-forward of its
// log. The roll-forward is done on a copy unless a repair was requested. Damage is reported, not
// repaired.

#include "fs-adapters/lfs/check.h"
#include "fs-adapters/lfs/store.h"
#include "fs-adapters/system_under_test.h"

namespace headcrash::lfs {

/// Returns the type. The first call creates the object.
const adapters::FileSystemType& file_system_type();

/// Creates a system that file_system_type() does not list. The system flushes the device's cache
/// only if both `mount.flushes` and MountSettings::flushes are true.
std::unique_ptr<const adapters::SystemUnderTest> system_of(std::string name,
                                                           const MountOptions& mount);

}  // namespace headcrash::lfs
