#pragma once
// Creates an empty file system.

#include "fs-adapters/examples/shadow/format.h"
#include "fs-adapters/system_under_test.h"

namespace headcrash::shadow {

std::span<const adapters::MkfsOption> mkfs_options();
/// Creates a file system that fills the store. Fails if an option is unknown or does not fit the
/// store.
Result<Header> mkfs(model::SectorStore& store, const adapters::Settings& settings);

}  // namespace headcrash::shadow
