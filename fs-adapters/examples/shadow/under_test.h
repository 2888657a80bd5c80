#pragma once
// Registers the file system `shadow` in fs-adapters/registry.cc.

#include "fs-adapters/system_under_test.h"

namespace headcrash::shadow {

const adapters::FileSystemType& file_system_type();

}  // namespace headcrash::shadow
