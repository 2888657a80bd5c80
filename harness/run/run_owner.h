#pragma once
// Names the process that executes a run, without locking it.

#include <cstdint>
#include <filesystem>
#include <string>

namespace headcrash::run {

/// Returns "process 123 on HOST since 2026-11-26T10:00:00Z"; empty if no process does, or if its
/// lock cannot be read.
std::string run_owner(const std::filesystem::path& database, std::int64_t run);

}  // namespace headcrash::run
