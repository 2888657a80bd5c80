#pragma once
// The meta-data snapshotting file system as a system under test (fs-adapters/system_under_test.h).

#include "fs-adapters/snapfs/store.h"
#include "fs-adapters/system_under_test.h"

namespace headcrash::snapfs {

const adapters::FileSystemType& file_system_type();

/// Creates a system that file_system_type() does not list. The system flushes the device's cache
/// only if both `mount.flushes` and MountSettings::flushes are true.
std::unique_ptr<const adapters::SystemUnderTest> system_of(std::string name,
                                                           const MountOptions& mount);

}  // namespace headcrash::snapfs
