#pragma once
// The meta-data snapshotting file system as a system under test (fs-adapters/system_under_test.h).

#include "fs-adapters/system_under_test.h"

namespace headcrash::snapfs {

const adapters::FileSystemType& file_system_type();

}  // namespace headcrash::snapfs
