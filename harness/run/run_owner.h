#pragma once
// Determines which process is executing a run, without locking the run.

#include <cstdint>
#include <filesystem>
#include <string>

namespace headcrash::run {

/// Returns the owner, for example "process 123 on HOST since 2026-11-26T10:00:00Z". Returns an
/// empty string if no process is executing the run, or if the lock cannot be read.
std::string run_owner(const std::filesystem::path& database, std::int64_t run);

}  // namespace headcrash::run
