#pragma once
// Creates an empty file system.

#include "fs-adapters/examples/shadow/format.h"
#include "fs-adapters/system_under_test.h"

namespace headcrash::shadow {

std::span<const adapters::MkfsOption> mkfs_options();
/// Fills the store. Errors: an option that is unknown, or too large or small for the store.
Result<Header> mkfs(model::SectorStore& store, const adapters::Settings& settings);

}  // namespace headcrash::shadow
