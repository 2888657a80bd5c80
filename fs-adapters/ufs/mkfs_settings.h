#pragma once
// The options of mkfs by name, as users and the lab write them.

#include <span>

#include "fs-adapters/system_under_test.h"
#include "fs-adapters/ufs/mkfs.h"

namespace headcrash::ufs {

std::span<const adapters::MkfsOption> mkfs_options();
/// Errors: a name that is unknown, a value that is no number or no UUID. What the numbers have to be, mkfs
/// says.
Result<MkfsOptions> mkfs_options_of(const adapters::Settings& settings);

}  // namespace headcrash::ufs
