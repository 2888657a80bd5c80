#pragma once
// The type of the file system `shadow`, for the table in fs-adapters/registry.cc.

#include "fs-adapters/system_under_test.h"

namespace headcrash::shadow {

const adapters::FileSystemType& file_system_type();

}  // namespace headcrash::shadow
