#pragma once
// Parses the options of mkfs.headcrash-lfs.

#include "fs-adapters/lfs/mkfs.h"
#include "fs-adapters/system_under_test.h"

namespace headcrash::lfs {

std::span<const adapters::MkfsOption> mkfs_options();
/// Fails on an unknown name or an invalid value.
Result<MkfsOptions> mkfs_options_of(const adapters::Settings& settings);

}  // namespace headcrash::lfs
